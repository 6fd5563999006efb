// Whether an answer gets line breaks: as the query says, or else because a person reads it, which
// the name of the client's program tells.
import type { HttpRequest } from './request-context.ts';

const peoplesAgents = /^(?:curl|Wget|Mozilla\/5\.0)/;

export function wantsPretty({ headers, context }: HttpRequest): boolean {
  const asked = context.info.query.get('pretty');
  if (asked !== null && asked !== '') return /^(?:1|t|T|true|TRUE|True)$/.test(asked);
  return peoplesAgents.test(headers['user-agent'] ?? '');
}

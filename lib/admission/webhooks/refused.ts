// What the user is told where a webhook refuses, or cannot be asked.
import { numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { badRequest, StatusError } from '../../base/status.ts';
import type { StatusCause, StatusDetails } from '../../base/status.ts';
import type { StatusReason } from '../../base/status-reasons.ts';

/** What can be sent as the status of an answer that refuses. */
const codes = { least: 400, most: 999 };

/** The refusal of a webhook: the status, reason and details that it gave are passed on. */
export function refusedBy(name: string, status: Readonly<JsonObject> | undefined): StatusError {
  const given = numberAt(status, 'code') ?? 0;
  const code = given >= codes.least && given <= codes.most ? given : codes.least;
  const reason = textAt(status, 'reason');
  const why = textAt(status, 'message') || reason;
  const denied = `admission webhook "${name}" denied the request`;
  const message = why === '' ? `${denied} without explanation` : `${denied}: ${why}`;
  const details = detailsOf(recordAt(status, 'details'));
  // Reasons are open: clients take any text.
  return new StatusError(code, reason as StatusReason, message, details);
}

function detailsOf(given: Readonly<JsonObject> | undefined): StatusDetails | undefined {
  if (given === undefined) return undefined;
  const causes = recordsAt(given, 'causes').map((cause): StatusCause =>
    textsOf(cause, ['reason', 'message', 'field']),
  );
  const retryAfterSeconds = numberAt(given, 'retryAfterSeconds') ?? 0;
  return {
    ...textsOf(given, ['name', 'group', 'kind', 'uid']),
    ...(causes.length === 0 ? {} : { causes }),
    ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  };
}

/** Those that are not empty. */
function textsOf<Name extends string>(
  of: Readonly<JsonObject>,
  names: readonly Name[],
): { readonly [name in Name]?: string } {
  const found: { [name in Name]?: string } = {};
  for (const name of names) {
    const text = textAt(of, name);
    if (text !== '') found[name] = text;
  }
  return found;
}

/** `sideEffects` that a dry run must not have. */
export const noDryRun = (name: string): StatusError =>
  badRequest(`admission webhook "${name}" does not support dry run`);

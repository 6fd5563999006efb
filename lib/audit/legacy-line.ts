// `--audit-log-format=legacy`: an event as one line of text, a part of it alone.
import type { EventFields } from './event.ts';

const quoted = (text: string): string => JSON.stringify(text);
const listed = (texts: readonly string[] | undefined, none: string): string =>
  texts === undefined || texts.length === 0 ? none : texts.map(quoted).join(',');

/** Without a newline. */
export function legacyLine(event: EventFields): string {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs } = event;
  const name = user.username ?? '';
  const namespace = objectRef?.namespace ?? '';
  const pairs: readonly (readonly [string, string])[] = [
    ['id', event.auditID],
    ['stage', event.stage],
    ['ip', sourceIPs[0] ?? '<unknown>'],
    ['method', event.verb],
    ['user', name === '' ? '<none>' : name],
    ['groups', name === '' ? '<none>' : listed(user.groups, '<none>')],
    ['as', impersonatedUser?.username ?? '<self>'],
    ['asgroups', listed(impersonatedUser?.groups, '<lookup>')],
    ['user-agent', event.userAgent],
    ['namespace', namespace === '' ? '<none>' : namespace],
    ['uri', event.requestURI],
    ['response', responseStatus === undefined ? '<deferred>' : String(responseStatus.code ?? 0)],
  ];
  const time = new Date(event.receivedAtMs).toISOString();
  return `${time} AUDIT: ${pairs.map(([key, value]) => `${key}=${quoted(value)}`).join(' ')}`;
}

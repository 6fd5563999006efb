// Where a request comes from, as its proxies and its connection tell: for audit events, which
// anybody who sends these headers can write into, but for the last address.
import { isIP } from 'node:net';
import type { HttpRequest } from './request-context.ts';

/** Those of X-Forwarded-For, then X-Real-Ip, then the connection's; none twice in a row. */
export function sourceAddresses(request: HttpRequest): readonly string[] {
  const remote = addressIn(request.socket.remoteAddress ?? '');
  const { 'x-forwarded-for': forwarded, 'x-real-ip': real } = request.headers;
  if (forwarded === undefined && real === undefined) return remote === undefined ? [] : [remote];
  const found = first(forwarded)
    .split(',')
    .map((part) => addressIn(part.trim()))
    .filter((address) => address !== undefined);
  const named = addressIn(first(real).trim());
  if (named !== undefined && !found.includes(named)) found.push(named);
  if (remote !== undefined && found.at(-1) !== remote) found.push(remote);
  return found;
}

const first = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '');

const mapped = '::ffff:';

/** undefined: the text is no address. */
function addressIn(text: string): string | undefined {
  if (isIP(text) === 0) return undefined;
  const inner = text.toLowerCase().startsWith(mapped) ? text.slice(mapped.length) : '';
  return isIP(inner) === 4 ? inner : text;
}

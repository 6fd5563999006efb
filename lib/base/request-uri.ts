// Absolute URIs and absolute paths, as in a request line: what Go's ParseRequestURI takes.
export interface RequestUri {
  readonly scheme: string;
  /** With the port. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

const validEscapes = /%(?![0-9A-Fa-f]{2})(.{0,2})/;

/** The parts of a URI, or what is wrong with it. */
export function parseRequestUri(text: string): RequestUri | string {
  if (/[\u0000-\u001f\u007f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  const scheme = /^([A-Za-z][A-Za-z0-9+\-.]*):/.exec(text);
  if (scheme === null && text.startsWith(':')) return 'missing protocol scheme';
  const rest = scheme === null ? text : text.slice(scheme[0].length);
  const mark = rest.indexOf('?');
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  const hierarchy = mark < 0 ? rest : rest.slice(0, mark);
  const name = (scheme?.[1] ?? '').toLowerCase();
  if (!hierarchy.startsWith('/')) {
    if (name === '')
      return hierarchy === '*'
        ? { scheme: '', host: '', path: '*', query }
        : 'invalid URI for request';
    return { scheme: name, host: '', path: '', query };
  }
  let host = '';
  let path = hierarchy;
  if (name !== '' && hierarchy.startsWith('//')) {
    const slash = hierarchy.indexOf('/', 2);
    const authority = slash < 0 ? hierarchy.slice(2) : hierarchy.slice(2, slash);
    path = slash < 0 ? '' : hierarchy.slice(slash);
    const parsed = parseHost(authority);
    if (typeof parsed === 'string') return parsed;
    host = parsed.host;
  }
  const escape = validEscapes.exec(path);
  if (escape !== null) return `invalid URL escape ${JSON.stringify(`%${escape[1] ?? ''}`)}`;
  return { scheme: name, host, path, query };
}

function parseHost(authority: string): { readonly host: string } | string {
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const userInfo = authority.slice(0, Math.max(authority.lastIndexOf('@'), 0));
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userInfo)) return 'net/url: invalid userinfo';
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) return "missing ']' in host";
    const port = host.slice(end + 1);
    if (!/^(:\d*)?$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
    return { host };
  }
  const colon = host.lastIndexOf(':');
  if (colon >= 0 && !/^:\d*$/.test(host.slice(colon))) {
    return `invalid port ${JSON.stringify(host.slice(colon))} after host`;
  }
  const wrong = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.exec(host);
  if (wrong !== null) return `invalid character ${JSON.stringify(wrong[0])} in host name`;
  return { host };
}

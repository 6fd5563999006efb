import { describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { http2Code } from '../../http2/frames.ts';
import type { Fields } from '../../http2/hpack.ts';
import { requestHead, RequestHead } from './request-head.ts';

const { protocolError, enhanceYourCalm } = http2Code;

/** Names and values by turns, as `a: b` each. */
const fieldsOf = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const at = line.indexOf(': ', 1);
    return [line.slice(0, at), line.slice(at + 2)];
  });

const usual = [':method: GET', ':scheme: https', ':authority: a:443', ':path: /x?y=z'];
const usualHeaders = {
  ':method': 'GET',
  ':scheme': 'https',
  ':authority': 'a:443',
  ':path': '/x?y=z',
};

function headOf(lines: readonly string[]): RequestHead {
  const head = requestHead(fieldsOf(lines));
  if (!(head instanceof RequestHead)) throw new Error(`refused with ${String(head)}`);
  return head;
}

describe('what makes a request', () => {
  test('its method, its path, all of its fields', () => {
    const head = headOf([...usual, 'accept: a/b', 'x: 1']);
    expect(head).toMatchObject({ method: 'GET', path: '/x?y=z', contentLength: -1 });
    expect({ ...head.newHeaders() }).toEqual({ ...usualHeaders, accept: 'a/b', x: '1' });
    expect(head.newFields()).toEqual(fieldsOf([...usual, 'accept: a/b', 'x: 1']));
  });

  test.each<[string, string[], Record<string, string>]>([
    ['an empty value', ['x: '], { x: '' }],
    ['a tab and spaces within a value', ['x: a\tb  c'], { x: 'a\tb  c' }],
    ['spaces around a value, as they are', ['x:  a\t'], { x: ' a\t' }],
    ['bytes above 0x7f', ['x: \u0080\u00ff'], { x: '\u0080\u00ff' }],
    ['every character of a token', ["x!#$%&'*+-.^_`|~09: 1"], { "x!#$%&'*+-.^_`|~09": '1' }],
    ['a length of the body', ['content-length: 0012'], { 'content-length': '0012' }],
    ['te: trailers', ['te: Trailers'], { te: 'Trailers' }],
    ['host besides the authority', ['host: b'], { host: 'b' }],
    ['one cookie', ['cookie: a=b'], { cookie: 'a=b' }],
    ['cookies, joined', ['cookie: a=b', 'x: 1', 'cookie: c=d'], { cookie: 'a=b; c=d', x: '1' }],
    ['others, joined', ['x: 1', 'x: ', 'x: 3'], { x: '1, , 3' }],
    [
      'impersonated groups, joined',
      ['impersonate-group: a', 'impersonate-group: b'],
      {
        'impersonate-group': 'a, b',
      },
    ],
    [
      'names of members of objects',
      ['__proto__: a', 'constructor: b', 'tostring: c'],
      {
        ['__proto__']: 'a',
        constructor: 'b',
        tostring: 'c',
      },
    ],
    ['such names twice', ['__proto__: a', '__proto__: b'], { ['__proto__']: 'a, b' }],
  ])('%s', (_claim, lines, expected) => {
    const headers = headOf([...usual, ...lines]).newHeaders();
    expect(Object.entries(headers)).toEqual(Object.entries({ ...usualHeaders, ...expected }));
    expect(Object.entries(headers)).toHaveLength(4 + Object.keys(expected).length);
  });

  test.each([
    ...['age', 'authorization', 'content-type', 'etag', 'expires', 'from', 'if-modified-since'],
    ...['if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization'],
    ...['referer', 'retry-after', 'server', 'user-agent'],
  ])('the first %s counts', (name) => {
    const head = headOf([...usual, `${name}: first`, `${name}: second`]);
    expect(head.newHeaders()[name]).toBe('first');
    expect(head.newFields().slice(-4)).toEqual([name, 'first', name, 'second']);
  });

  test.each<[string, string[], Partial<RequestHead>]>([
    ['pseudo fields in any order', [...usual].reverse(), { method: 'GET', path: '/x?y=z' }],
    ['no authority', [':method: GET', ':scheme: https', ':path: /'], { path: '/' }],
    ['an authority of IPv6', [...usual.toSpliced(2, 1), ':authority: [::1]:443'], {}],
    ['another scheme', [':method: GET', ':scheme: HTTP+a.b-1', ':path: /'], {}],
    ['a method of its own', [':method: m-X_!', ':scheme: https', ':path: /'], { method: 'm-X_!' }],
    [
      'bytes in a path',
      [':method: GET', ':scheme: https', ':path: /\u0080"<'],
      { path: '/\u0080"<' },
    ],
    ['OPTIONS of all', [':method: OPTIONS', ':scheme: https', ':path: *'], { path: '*' }],
    ['CONNECT', [':method: CONNECT', ':authority: a:1'], { method: 'CONNECT', path: '' }],
    ['a length', [...usual, 'content-length: 0012'], { contentLength: 12 }],
    ['no body', [...usual, 'content-length: 0'], { contentLength: 0 }],
    ['a long one', [...usual, 'content-length: 999999999999999'], { contentLength: 1e15 - 1 }],
  ])('%s', (_claim, lines, expected) => {
    expect(headOf(lines)).toMatchObject(expected);
  });

  test('as many fields as may be', () => {
    const lines = Array.from({ length: limits.requestHeadersCountMax - 4 }, (_, at) => `x${at}: 1`);
    expect(Object.keys(headOf([...usual, ...lines]).newHeaders())).toHaveLength(
      limits.requestHeadersCountMax,
    );
    expect(requestHead(fieldsOf([...usual, ...lines, 'y: 1']))).toBe(enhanceYourCalm);
  });

  test('what each request is given is its own', () => {
    const head = headOf([...usual, 'x: 1']);
    const [headers, fields] = [head.newHeaders(), head.newFields()];
    headers['x'] = 'changed';
    delete headers[':path'];
    fields.length = 0;
    expect({ ...head.newHeaders() }).toEqual({ ...usualHeaders, x: '1' });
    expect(head.newFields()).toEqual(fieldsOf([...usual, 'x: 1']));
    expect(head.path).toBe('/x?y=z');
  });
});

const without = (name: string): string[] => usual.filter((line) => !line.startsWith(`:${name}`));
const other = (line: string): string[] => [...without(/\w+/.exec(line)?.[0] ?? ''), line];

describe('what makes none', () => {
  test.each<[string, string[]]>([
    ['nothing', []],
    ['no method', without('method')],
    ['no scheme', without('scheme')],
    ['no path', without('path')],
    ['a pseudo field after another one', [...without('path'), 'x: 1', ':path: /']],
    ['an unknown pseudo field', [...usual, ':protocol: websocket']],
    ['the one of answers', [...usual, ':status: 200']],
    ['a pseudo field without a name', [...usual, ':: 1']],
    ['a pseudo field in upper case', [...without('path'), ':Path: /']],
    ...usual.map((line): [string, string[]] => [`${line} twice`, [...usual, line]]),
    ['an empty method', other(':method: ')],
    ['a method with a space', other(':method: G T')],
    ['a method with a line feed', other(':method: GET\n')],
    ['an empty scheme', other(':scheme: ')],
    ['a scheme that begins with a digit', other(':scheme: 1http')],
    ['a scheme with a colon', other(':scheme: https:')],
    ['a path with a space', other(':path: /a b')],
    ['a path with a tab', other(':path: /a\tb')],
    ['a path with NUL', other(':path: /\u0000')],
    ['a path with DEL', other(':path: /\u007f')],
    ['a path with a line feed at its end', other(':path: /\n')],
    ['an empty path', other(':path: ')],
    ['a path without its slash', other(':path: a')],
    ['a whole URL', other(':path: https://a/')],
    ['an asterisk of GET', other(':path: *')],
    ['more than an asterisk of OPTIONS', [':method: OPTIONS', ':scheme: https', ':path: **']],
    ['an authority with a space', other(':authority: a b')],
    ['an authority with a slash', other(':authority: a/b')],
    ['an authority with a question mark', other(':authority: a?b')],
    ['an authority with a line feed', other(':authority: a\n')],
    ['an authority with bytes above 0x7f', other(':authority: \u0080')],
    ['CONNECT without an authority', [':method: CONNECT']],
    ['CONNECT with a path', [':method: CONNECT', ':authority: a', ':path: /']],
    ['CONNECT with a scheme', [':method: CONNECT', ':authority: a', ':scheme: https']],
  ])('%s', (_claim, lines) => {
    expect(requestHead(fieldsOf(lines))).toBe(protocolError);
  });

  test.each<[string, string[]]>([
    ['an upper case name', ['Accept: a/b']],
    ['an upper case letter within a name', ['acCept: a/b']],
    ['a name with a space', ['a b: 1']],
    ['a name with a colon', ['a:b: 1']],
    ['a name with NUL', ['a\u0000: 1']],
    ['a name with a line feed', ['a\n: 1']],
    ['a name with DEL', ['a\u007f: 1']],
    ['a name with bytes above 0x7f', ['\u00e4: 1']],
    ['a value with NUL', ['x: a\u0000']],
    ['a value with a line feed', ['x: a\nb']],
    ['a value with a carriage return', ['x: a\rb']],
    ['a value that ends with a line feed', ['x: a\n']],
    ['a value with ESC', ['x: \u001b']],
    ['a value with DEL', ['x: \u007f']],
    ['such a value of a field that came before', ['x: a', 'x: \n']],
    ['such a value of a single one that came before', ['etag: a', 'etag: \n']],
    ['connection', ['connection: close']],
    ['connection: te', ['connection: te']],
    ['keep-alive', ['keep-alive: timeout=1']],
    ['proxy-connection', ['proxy-connection: close']],
    ['transfer-encoding', ['transfer-encoding: chunked']],
    ['upgrade', ['upgrade: websocket']],
    ['te that is more than trailers', ['te: trailers, deflate']],
    ['te that is none of it', ['te: gzip']],
    ['an empty te', ['te: ']],
    ['te that comes again as another', ['te: trailers', 'te: gzip']],
    ['a content-length twice', ['content-length: 1', 'content-length: 1']],
    ['two content-lengths', ['content-length: 1', 'content-length: 2']],
    ['an empty content-length', ['content-length: ']],
    ['a content-length below 0', ['content-length: -1']],
    ['a content-length with a sign', ['content-length: +1']],
    ['a content-length with a space', ['content-length:  1']],
    ['a content-length in hexadecimal', ['content-length: 0x1']],
    ['a list of content-lengths', ['content-length: 1, 1']],
    ['a content-length with a fraction', ['content-length: 1.0']],
    ['a content-length that no number is', ['content-length: 10000000000000000']],
    ['host twice', ['host: a', 'host: a']],
  ])('%s', (_claim, lines) => {
    expect(requestHead(fieldsOf([...usual, ...lines]))).toBe(protocolError);
  });

  test('a name that is empty', () => {
    expect(requestHead([...fieldsOf(usual), '', 'x'])).toBe(protocolError);
  });

  test.each<[string, Fields]>([
    ['a list that was too long', undefined],
    ['too many fields', Array<string>(2 * limits.requestHeadersCountMax + 2).fill('x')],
  ])('%s', (_claim, fields) => {
    expect(requestHead(fields)).toBe(enhanceYourCalm);
  });
});

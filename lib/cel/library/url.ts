// url() and isURL(): absolute URLs and absolute paths, parsed by the rules of the reference (Go's
// ParseRequestURI).
import { parseRequestUri } from '../../base/request-uri.ts';
import type { RequestUri } from '../../base/request-uri.ts';
import { boolType, listType, mapType, structType, stringType } from '../model/cel-type.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { CelType } from '../model/cel-type.ts';
import type { FunctionDeclaration, Implementation, Library } from '../model/declarations.ts';
import { scaleRange, stringTraversalFactor } from '../model/range.ts';
import { HashMap } from '../model/map-value.ts';
import { ArrayList, CelError } from '../model/value.ts';
import type { OpaqueValue, Value } from '../model/value.ts';
import { arg, declare, global, member, traversalOf, unit } from './declare.ts';

class UrlValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName: string;
  readonly text: string;
  readonly parts: RequestUri;
  constructor(typeName: string, text: string, parts: RequestUri) {
    this.typeName = typeName;
    this.text = text;
    this.parts = parts;
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && this.toText() === other.toText();
  }
  toText(): string {
    return this.text;
  }
}

const urlOf =
  (typeName: string): Implementation =>
  (args) => {
    const text = arg(args, 0) as string;
    const parts = parseRequestUri(text);
    // What follows # is checked as part of the URL, but belongs to none of its parts.
    const bare = typeof parts === 'string' ? parts : parseRequestUri(text.replace(/#.*$/s, ''));
    if (typeof bare !== 'string') return new UrlValue(typeName, text, bare);
    if (typeof parts !== 'string')
      return new CelError(
        `URL parse error during conversion from string: ${urlProblem(text, bare)}`,
      );
    return new CelError(
      `URL parse error during conversion from string: ${urlProblem(text, parts)}`,
    );
  };

/** The reference's text for a URL that does not parse. */
export function urlProblem(text: string, problem: string): string {
  return `parse ${JSON.stringify(text)}: ${problem}`;
}

const part =
  (read: (parts: RequestUri) => Value): Implementation =>
  (args) =>
    read((arg(args, 0) as UrlValue).parts);

function hostName(host: string): string {
  const bare = host.replace(/:\d*$/, '');
  return bare.startsWith('[') ? bare.slice(1, bare.lastIndexOf(']')) : bare;
}

const hostPort = (host: string): string => /:(\d*)$/.exec(host)?.[1] ?? '';

/** Characters that a path may hold as they are; others are shown escaped. */
function escapedPath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%[\]]/gu, (c) => encodeURIComponent(c));
}

function queryMap(query: string): Value {
  const lists = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const [key = '', ...rest] = pair.split('=');
    const name = unescapeQuery(key);
    const value = unescapeQuery(rest.join('='));
    if (name === undefined || value === undefined) continue;
    lists.set(name, [...(lists.get(name) ?? []), value]);
  }
  const map = new HashMap();
  for (const [name, values] of lists) map.set(name, new ArrayList(values));
  return map;
}

function unescapeQuery(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export function urlLibrary(naming: NamingProfile): Library {
  const urlType: CelType = { ...structType(naming.resolve('{kubernetes}.URL')), equality: 'url' };
  const accessor = (
    name: string,
    id: string,
    result: CelType,
    read: (parts: RequestUri) => Value,
  ): FunctionDeclaration => declare(name, [member(id, [[urlType], result], part(read))], unit);
  const isUrl: Implementation = (args) =>
    typeof parseRequestUri(arg(args, 0) as string) !== 'string';
  const textLists = mapType(stringType, listType(stringType));
  return {
    name: '{kubernetes}.urls',
    since: 0,
    types: [urlType],
    functions: [
      declare('url', [
        global('string_to_url', [[stringType], urlType], urlOf(urlType.name), {
          runtimeCost: traversalOf(0),
          estimate: (_, [text]) =>
            text === undefined
              ? undefined
              : { cost: scaleRange(text.size, stringTraversalFactor), resultSize: text.size },
        }),
      ]),
      declare('isURL', [global('is_url_string', [[stringType], boolType], isUrl)]),
      accessor('getScheme', 'url_get_scheme', stringType, (parts) => parts.scheme),
      accessor('getHost', 'url_get_host', stringType, (parts) => parts.host),
      accessor('getHostname', 'url_get_hostname', stringType, (parts) => hostName(parts.host)),
      accessor('getPort', 'url_get_port', stringType, (parts) => hostPort(parts.host)),
      accessor('getEscapedPath', 'url_get_escaped_path', stringType, (parts) =>
        escapedPath(parts.path),
      ),
      accessor('getQuery', 'url_get_query', textLists, (parts) => queryMap(parts.query)),
    ],
  };
}

// Where a webhook is called, and the versions of the review that it understands: rules that
// admission and conversion share.
import { portNumberProblems } from '../api/formats.ts';
import { isSet, numberAt, recordAt, textAt } from '../api/json-access.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../api/name-rules.ts';
import type { JsonObject } from '../api/type-info.ts';
import { parseRequestUri } from '../base/request-uri.ts';
import type { FieldErrors } from '../api/field-errors.ts';

/**
 * By a URL, or as a service of the cluster. `swapsNames`: an empty name of a service is told of at
 * its namespace and the reverse, as clients of admission have always known it.
 */
export function validateClient(
  config: JsonObject,
  path: string,
  errors: FieldErrors,
  { swapsNames = false } = {},
): void {
  const service = recordAt(config, 'service');
  const hasUrl = isSet(config, 'url');
  if (hasUrl === (service !== undefined)) {
    errors.required(path, 'exactly one of url or service is required');
  } else if (service === undefined) validateUrl(textAt(config, 'url'), `${path}.url`, errors);
  else {
    const other = { name: 'namespace', namespace: 'name' } as const;
    for (const at of ['name', 'namespace'] as const) {
      const empty = swapsNames ? other[at] : at;
      if (textAt(service, empty) === '') errors.required(`${path}.service.${at}`);
    }
    validateService(service, `${path}.service`, errors);
  }
}

const uriParts = new RegExp(
  String.raw`^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^/?#]*)@)?([^/?#]*))?` +
    String.raw`([^?#]*)(?:\?([^#]*))?(?:#(.*))?$`,
  's',
);

function validateUrl(text: string, path: string, errors: FieldErrors): void {
  const form = '; desired format: https://host[/path]';
  const [, scheme = '', user, host = '', rest = '', query = '', fragment = ''] =
    uriParts.exec(text) ?? [];
  const problem = uriProblem(text.replace(/#.*$/s, ''), { scheme, host, path: rest });
  if (problem !== undefined) {
    const detail = `url must be a valid URL: parse ${JSON.stringify(text)}: ${problem}${form}`;
    errors.required(path, detail);
    return;
  }
  if (scheme.toLowerCase() !== 'https') {
    errors.invalid(path, scheme, `'https' is the only allowed URL scheme${form}`);
  }
  if (host === '') errors.invalid(path, host, `host must be specified${form}`);
  if (user !== undefined) {
    errors.invalid(path, user, 'user information is not permitted in the URL');
  }
  if (fragment !== '') errors.invalid(path, fragment, 'fragments are not permitted in the URL');
  if (query !== '') errors.invalid(path, query, 'query parameters are not permitted in the URL');
}

interface UriStart {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
}

/** What is wrong with a URL, which may be relative. */
function uriProblem(text: string, { scheme, host, path }: UriStart): string | undefined {
  const isAbsolute = scheme !== '';
  // A relative one is read as the path that it would be below some host.
  const parsed = parseRequestUri(isAbsolute ? text : text.startsWith(':') ? text : `/${text}`);
  if (typeof parsed === 'string') return parsed;
  const isColoned = !isAbsolute && host === '' && /^[^/]*:/.test(path);
  return isColoned ? 'first path segment in URL cannot contain colon' : undefined;
}

function validateService(service: JsonObject, path: string, errors: FieldErrors): void {
  const port = numberAt(service, 'port') ?? 0;
  const problems = portNumberProblems(port).map((problem) => `port is not valid: ${problem}`);
  errors.problems(`${path}.port`, port, problems);
  const urlPath = textAt(service, 'path');
  errors.problems(`${path}.path`, urlPath, urlPathProblems(urlPath));
}

/** Absolute, and no segment empty. */
function urlPathProblems(text: string): readonly string[] {
  if (text === '' || text === '/') return [];
  const problems = text.startsWith('/') ? [] : ["must start with a '/'"];
  for (const [at, step] of text.slice(1).replace(/\/$/, '').split('/').entries()) {
    const segment = `segment[${String(at)}]`;
    if (step === '') problems.push(`${segment} may not be empty`);
    else problems.push(...dns1123SubdomainProblems(step).map((one) => `${segment}: ${one}`));
  }
  return problems;
}

/** Versions of reviews that this server speaks. */
export const knownReviewVersions: readonly string[] = ['v1', 'v1beta1'];

const knownVersions = knownReviewVersions.join(', ');

/** What admission asks for. */
export const allKnown = { mayBeUnknown: false, required: `must specify one of ${knownVersions}` };

/** `mayBeUnknown`: a stored one names none that is known. `required`: what is told without any. */
export function validateReviewVersions(
  versions: readonly string[],
  path: string,
  errors: FieldErrors,
  {
    mayBeUnknown,
    required,
  }: { readonly mayBeUnknown: boolean; readonly required: string } = allKnown,
): void {
  if (versions.length === 0) errors.required(path, required);
  const seen = new Set<string>();
  for (const [at, version] of versions.entries()) {
    const where = `${path}[${String(at)}]`;
    if (seen.has(version)) errors.invalid(where, version, 'duplicate version');
    else errors.problems(where, version, dns1035LabelProblems(version));
    seen.add(version);
  }
  const isKnown = versions.some((one) => knownReviewVersions.includes(one));
  if (versions.length > 0 && !isKnown && !mayBeUnknown) {
    errors.invalid(path, versions, `must include at least one of ${knownVersions}`);
  }
}

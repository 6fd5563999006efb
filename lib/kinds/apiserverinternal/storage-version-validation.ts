// Storage versions: what each server writes and reads, and what all of them write.
import type { FieldErrors } from '../../api/field-errors.ts';
import { recordAt, recordsAt, textAt, textsAt, valueAt } from '../../api/json-access.ts';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Validator } from '../validator.ts';

export const validateStorageVersion: Validator = ({ object, errors }) => {
  const status = recordAt(object, 'status') ?? {};
  const servers = recordsAt(status, 'storageVersions');
  for (const [at, server] of servers.entries()) {
    validateServer(server, `status.storageVersions[${String(at)}]`, errors);
  }
  const encodings = new Set(servers.map((server) => textAt(server, 'encodingVersion')));
  validateCommon(valueAt(status, 'commonEncodingVersion'), encodings, errors);
  const seen = new Map<string, number>();
  for (const [at, condition] of recordsAt(status, 'conditions').entries()) {
    // Clients know the conditions as elements of the status.
    validateCondition(condition, `status[${String(at)}]`, seen, errors);
    seen.set(textAt(condition, 'type'), at);
  }
};

function validateServer(server: JsonObject, path: string, errors: FieldErrors): void {
  const id = textAt(server, 'apiServerID');
  errors.problems(`${path}.apiServerID`, id, dns1123SubdomainProblems(id));
  const encoding = textAt(server, 'encodingVersion');
  errors.problems(`${path}.encodingVersion`, encoding, apiVersionProblems(encoding));
  const decodable = textsAt(server, 'decodableVersions');
  for (const [at, version] of decodable.entries()) {
    const where = `${path}.decodableVersions[${String(at)}]`;
    errors.problems(where, version, apiVersionProblems(version));
  }
  if (!decodable.includes(encoding)) {
    const detail = `decodableVersions must include encodingVersion ${encoding}`;
    errors.invalid(`${path}.decodableVersions`, decodable, detail);
  }
  const isDecodable = new Set(decodable);
  for (const [at, version] of textsAt(server, 'servedVersions').entries()) {
    const where = `${path}.servedVersions[${String(at)}]`;
    errors.problems(where, version, apiVersionProblems(version));
    if (isDecodable.has(version)) continue;
    const known = `decodableVersions : [${decodable.join(' ')}]`;
    const detail = `individual served version : ${version} must be included in ${known}`;
    errors.invalid(where, version, detail);
  }
}

/** What all servers write is said when they agree, and only then. */
function validateCommon(
  common: unknown,
  encodings: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  const [agreed] = encodings.size === 1 ? encodings : [];
  const path = 'status.commonEncodingVersion';
  if (agreed === undefined) {
    if (common === undefined) return;
    const detail =
      'should be nil if servers do not agree on the same encoding version, or if there is no ' +
      'server reporting the supported versions yet';
    errors.invalid(path, common, detail);
  } else if (common === undefined) {
    errors.invalid(path, null, `the common encoding version is ${agreed}`);
  } else if (common !== agreed) {
    errors.invalid(path, common, `the actual common encoding version is ${agreed}`);
  }
}

function validateCondition(
  condition: JsonObject,
  path: string,
  seen: ReadonlyMap<string, number>,
  errors: FieldErrors,
): void {
  const type = textAt(condition, 'type');
  const first = seen.get(type);
  if (first !== undefined) {
    const place = `conditions[${String(first)}]`;
    const detail = `the type of the condition is not unique, it also appears in ${place}`;
    errors.invalid(`${path}.type`, type, detail);
  }
  errors.problems(`${path}.type`, type, qualifiedNameProblems(type));
  const status = textAt(condition, 'status');
  errors.problems(`${path}.status`, type, qualifiedNameProblems(status));
  for (const name of ['reason', 'message']) {
    if (textAt(condition, name) === '') {
      errors.required(`${path}.${name}`, `${name} cannot be empty`);
    }
  }
}

const emptyText = 'must be non-empty';

/** `version` or `group/version`; all that is wrong in one text. */
function apiVersionProblems(text: string): readonly string[] {
  const parts = text.split('/');
  const version = parts.at(-1) ?? '';
  const prefixed = (part: string, problems: readonly string[]): readonly string[] =>
    problems.map((problem) => `${part} part: ${problem}`);
  if (parts.length > 2) {
    const [problem = ''] = dns1035LabelProblems('');
    const optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";
    return [`an apiVersion is ${problem.replace('label must', 'label, which must')} ${optional}`];
  }
  const problems = [
    ...(parts.length === 2 && parts[0] === '' ? prefixed('group', [emptyText]) : []),
    ...(parts.length === 2 && parts[0] !== ''
      ? prefixed('group', dns1123SubdomainProblems(parts[0] ?? ''))
      : []),
    ...prefixed('version', version === '' ? [emptyText] : dns1035LabelProblems(version)),
  ];
  return problems.length === 0 ? [] : [problems.join(',')];
}

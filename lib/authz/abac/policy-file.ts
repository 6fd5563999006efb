// The file of --authorization-policy-file: one policy a line, in JSON. Lines that are empty or
// begin with `#` say nothing; lines without kind and version are of the first form there was.
import { asRecord, flagAt, recordAt, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { authenticatedGroup } from '../../base/user.ts';
import { checkDocumentKind } from '../../codec/strict-fields.ts';

/** Who may do what. An empty text asks for an empty value; `*` stands for any. */
export interface Policy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  /** May end in `*`. */
  readonly nonResourcePath: string;
}

export interface PolicyFile {
  readonly policies: readonly Policy[];
  /** Lines of the first form: somebody should rewrite them. */
  readonly unversionedCount: number;
}

const subjects = ['user', 'group'];
const texts = [...subjects, 'apiGroup', 'resource', 'namespace', 'nonResourcePath'];

/** @throws Error that names the line and what is wrong with it, without the name of the file */
export function parsePolicyFile(text: string, naming: NamingProfile): PolicyFile {
  const policies: Policy[] = [];
  let unversionedCount = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    try {
      const object = asRecord(JSON.parse(trimmed) as JsonValue);
      if (object === undefined) throw new Error('must be one JSON object');
      const isVersioned = valueAt(object, 'kind') !== undefined;
      const hasVersion = valueAt(object, 'apiVersion') !== undefined;
      if (!isVersioned && !hasVersion) unversionedCount++;
      policies.push(isVersioned || hasVersion ? versioned(object, naming) : unversioned(object));
    } catch (error) {
      throw new Error(`line ${String(index + 1)}: ${(error as Error).message}`, { cause: error });
    }
  }
  return { policies, unversionedCount };
}

function versioned(object: JsonObject, naming: NamingProfile): Policy {
  const wanted = naming.resolve('abac.authorization.{kubernetes}.io/v1beta1');
  checkDocumentKind(object, { kind: 'Policy', apiVersions: [wanted] });
  const spec = recordAt(object, 'spec') ?? {};
  onlyTyped(object, { kind: 'string', apiVersion: 'string', spec: 'object' }, '');
  onlyTyped(spec, { ...allOf(texts, 'string'), readonly: 'boolean' }, 'spec.');
  return {
    ...subjectOf(spec),
    readonly: flagAt(spec, 'readonly'),
    apiGroup: textAt(spec, 'apiGroup'),
    resource: textAt(spec, 'resource'),
    namespace: textAt(spec, 'namespace'),
    nonResourcePath: textAt(spec, 'nonResourcePath'),
  };
}

/** What is left out stands for all there is: authenticated users, resources, namespaces. */
function unversioned(object: JsonObject): Policy {
  const known = [...subjects, 'resource', 'namespace'];
  onlyTyped(object, { ...allOf(known, 'string'), readonly: 'boolean' }, '');
  const { user, group } = subjectOf(object);
  const [resource, namespace] = [textAt(object, 'resource'), textAt(object, 'namespace')];
  return {
    user,
    group: user === '' && group === '' ? authenticatedGroup : group,
    readonly: flagAt(object, 'readonly'),
    apiGroup: '*',
    resource: resource === '' ? '*' : resource,
    namespace: namespace === '' ? '*' : namespace,
    nonResourcePath: resource === '' && namespace === '' ? '*' : '',
  };
}

/** `*` as user or group stands for all who are known, never for anonymous requests. */
function subjectOf(of: JsonObject): Pick<Policy, 'user' | 'group'> {
  const [user, group] = [textAt(of, 'user'), textAt(of, 'group')];
  if (user === '*' || group === '*') return { user: '', group: authenticatedGroup };
  return { user, group };
}

type MemberType = 'string' | 'boolean' | 'object';

const allOf = (names: readonly string[], type: MemberType): Record<string, MemberType> =>
  Object.fromEntries(names.map((name) => [name, type]));

/** A member that is misspelt would not limit what it should: unknown ones are refused. */
function onlyTyped(
  object: JsonObject,
  types: Readonly<Record<string, MemberType>>,
  prefix: string,
): void {
  for (const [name, value] of Object.entries(object)) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type === undefined) throw new Error(`unknown field "${prefix}${name}"`);
    if (value === null || value === undefined) continue;
    if (typeof value === type && !Array.isArray(value)) continue;
    throw new Error(`${prefix}${name}: must be ${type === 'string' ? 'a text' : words[type]}`);
  }
}

const words = { boolean: 'true or false', object: 'an object' } as const;

// Flow schemas: subjects, rules of requests, and the two built-in ones.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, numberAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

export const nameOf = ({ object }: ValidatedWrite): string =>
  textAt(recordAt(object, 'metadata'), 'name');

const everything = (subjects: readonly JsonValue[]): JsonValue => [
  {
    subjects: [...subjects],
    resourceRules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  },
];
const group = (name: string): JsonValue => ({ kind: 'Group', group: { name } });

/** The two schemas that every request falls to at last, which nobody may change. */
const fixedSchemas: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: everything([group('system:masters')]),
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: everything([group('system:unauthenticated'), group('system:authenticated')]),
    },
  ],
]);

const precedenceMax = 10_000;
const distinguishers = ['ByNamespace', 'ByUser'];

export const validateFlowSchema: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validatePrecedence(spec, write);
  const distinguisher = recordAt(spec, 'distinguisherMethod');
  const method = textAt(distinguisher, 'type');
  if (distinguisher !== undefined && !distinguishers.includes(method)) {
    errors.notSupported('spec.distinguisherMethod.type', { Type: method }, distinguishers);
  }
  const level = textAt(recordAt(spec, 'priorityLevelConfiguration'), 'name');
  const levelPath = 'spec.priorityLevelConfiguration.name';
  if (level === '') errors.required(levelPath, 'must reference a priority level');
  else errors.problems(levelPath, level, dns1123SubdomainProblems(level));
  for (const [at, rule] of recordsAt(spec, 'rules').entries()) {
    validateFlowRule(rule, `spec.rules[${String(at)}]`, write);
  }
  const name = nameOf(write);
  const fixed = fixedSchemas.get(name);
  if (fixed !== undefined && !sameJson(sortedSubjects(spec), sortedSubjects(fixed))) {
    errors.invalid('spec', spec, `spec of '${name}' must equal the fixed value`);
  }
  validateConditionTypes(write);
};

function validatePrecedence(spec: JsonObject, write: ValidatedWrite): void {
  const precedence = numberAt(spec, 'matchingPrecedence') ?? 0;
  const invalid = (detail: string): void => {
    write.errors.invalid('spec.matchingPrecedence', precedence, detail);
  };
  if (precedence <= 0) invalid('must be a positive value');
  if (precedence > precedenceMax) invalid(`must not be greater than ${String(precedenceMax)}`);
  if (precedence === 1 && nameOf(write) !== 'exempt') {
    invalid("only the schema named 'exempt' may have matchingPrecedence 1");
  }
}

function validateFlowRule(rule: JsonObject, path: string, write: ValidatedWrite): void {
  const subjects = recordsAt(rule, 'subjects');
  if (subjects.length === 0) {
    write.errors.required(`${path}.subjects`, 'subjects must contain at least one value');
  }
  for (const [at, subject] of subjects.entries()) {
    validateSubject(subject, `${path}.subjects[${String(at)}]`, write);
  }
  const resourceRules = recordsAt(rule, 'resourceRules');
  const pathRules = recordsAt(rule, 'nonResourceRules');
  if (resourceRules.length === 0 && pathRules.length === 0) {
    const detail = 'at least one of resourceRules and nonResourceRules has to be non-empty';
    write.errors.required(path, detail);
  }
  for (const [at, one] of resourceRules.entries()) {
    validateResourceRule(one, `${path}.resourceRules[${String(at)}]`, write);
  }
  for (const [at, one] of pathRules.entries()) {
    validatePathRule(one, `${path}.nonResourceRules[${String(at)}]`, write);
  }
}

/** Conditions of the status: each has a type, and each type one. */
export function validateConditionTypes({ object, errors }: ValidatedWrite): void {
  const seen = new Set<string>();
  for (const [at, one] of recordsAt(recordAt(object, 'status'), 'conditions').entries()) {
    const path = `status.conditions[${String(at)}].type`;
    const type = textAt(one, 'type');
    if (seen.has(type)) errors.duplicate(path, type);
    seen.add(type);
    if (type === '') errors.required(path, 'must not be empty');
  }
}

/** Groups of the last schema may be named in either order. */
function sortedSubjects(spec: JsonObject): JsonObject {
  const rules = recordsAt(spec, 'rules').map((rule) => ({
    ...rule,
    subjects: [...recordsAt(rule, 'subjects')].sort((one, other) =>
      textAt(recordAt(one, 'group'), 'name') < textAt(recordAt(other, 'group'), 'name') ? -1 : 1,
    ),
  }));
  return { ...spec, rules };
}

const subjectParts: ReadonlyMap<string, string> = new Map([
  ['User', 'user'],
  ['Group', 'group'],
  ['ServiceAccount', 'serviceAccount'],
]);

function validateSubject(subject: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const kind = textAt(subject, 'kind');
  const own = subjectParts.get(kind);
  if (own === undefined) {
    errors.notSupported(`${path}.kind`, kind, [...subjectParts.keys()]);
    return;
  }
  const where = `${path}.${own}`;
  const part = recordAt(subject, own);
  if (part === undefined)
    errors.required(where, `${own} is required when subject kind is '${kind}'`);
  else if (own === 'serviceAccount') validateServiceAccount(part, where, errors);
  else if (textAt(part, 'name') === '') errors.required(`${where}.name`);
  for (const [other, name] of subjectParts) {
    if (name === own || !isSet(subject, name)) continue;
    const detail = `${name} is forbidden when subject kind is not '${other}'`;
    errors.forbidden(`${path}.${name}`, detail);
  }
}

function validateServiceAccount(part: JsonObject, path: string, errors: FieldErrors): void {
  const name = textAt(part, 'name');
  if (name === '') errors.required(`${path}.name`);
  else if (name !== '*') errors.problems(`${path}.name`, name, dns1123SubdomainProblems(name));
  const namespace = textAt(part, 'namespace');
  if (namespace === '') {
    errors.required(`${path}.namespace`, 'must specify namespace for service account');
  } else errors.problems(`${path}.namespace`, namespace, dns1123LabelProblems(namespace));
}

/** A list with a star alone in it, if at all. @returns whether its elements are to be checked */
function validateStarred(
  values: readonly string[],
  path: string,
  { missing, noun }: { readonly missing: string; readonly noun: string },
  errors: FieldErrors,
): boolean {
  if (values.length === 0) errors.required(path, missing);
  if (!values.includes('*')) return values.length > 0;
  if (values.length > 1) {
    errors.invalid(path, values, `if '*' is present, must not specify other ${noun}`);
  }
  return false;
}

const knownVerbs: ReadonlySet<string> = new Set([
  ...['get', 'list', 'create', 'update', 'delete', 'deletecollection', 'patch', 'watch', 'proxy'],
]);

function validateVerbs(rule: JsonObject, path: string, errors: FieldErrors): void {
  const verbs = textsAt(rule, 'verbs');
  const texts = { missing: 'verbs must contain at least one value', noun: 'verbs' };
  if (!validateStarred(verbs, `${path}.verbs`, texts, errors)) return;
  if (verbs.every((verb) => knownVerbs.has(verb))) return;
  errors.notSupported(`${path}.verbs`, verbs, [...knownVerbs]);
}

const resourceLists = [
  ['apiGroups', 'api group', 'api groups'],
  ['resources', 'resource', 'resources'],
] as const;

function validateResourceRule(rule: JsonObject, path: string, { errors }: ValidatedWrite): void {
  validateVerbs(rule, path, errors);
  for (const [name, one, noun] of resourceLists) {
    const texts = { missing: `resource rules must supply at least one ${one}`, noun };
    validateStarred(textsAt(rule, name), `${path}.${name}`, texts, errors);
  }
  const namespaces = textsAt(rule, 'namespaces');
  const where = `${path}.namespaces`;
  if (namespaces.length === 0 && rule['clusterScope'] === true) return;
  const texts = {
    missing: 'resource rules that are not cluster scoped must supply at least one namespace',
    noun: 'namespaces',
  };
  if (!validateStarred(namespaces, where, texts, errors)) return;
  for (const [at, namespace] of namespaces.entries()) {
    const problems = dns1123LabelProblems(namespace).map(
      (problem) => `each member of this list must be '*' or a DNS-1123 label; ${problem}`,
    );
    errors.problems(`${where}[${String(at)}]`, namespace, problems);
  }
}

function validatePathRule(rule: JsonObject, path: string, { errors }: ValidatedWrite): void {
  validateVerbs(rule, path, errors);
  const urls = textsAt(rule, 'nonResourceURLs');
  const where = `${path}.nonResourceURLs`;
  const texts = {
    missing: 'nonResourceURLs must contain at least one value',
    noun: 'non-resource URLs',
  };
  if (!validateStarred(urls, where, texts, errors)) return;
  for (const [at, url] of urls.entries()) {
    const problem = urlProblem(url);
    if (problem !== undefined) errors.invalid(`${where}[${String(at)}]`, url, problem);
  }
}

function urlProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const isSuffix =
    !url.includes('*') || (url.indexOf('*') === url.length - 1 && url.endsWith('/*'));
  return isSuffix ? undefined : 'wildcard can only do suffix matching';
}

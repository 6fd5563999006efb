// Flow schemas and priority levels: subjects, rules of requests, queues, and the built-in objects.
import {
  isSet,
  listAt,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

const nameOf = ({ object }: ValidatedWrite): string => textAt(recordAt(object, 'metadata'), 'name');

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

export const validateFlowSchema: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const name = nameOf(write);
  const precedence = numberAt(spec, 'matchingPrecedence') ?? 0;
  if (precedence === 1 && name !== 'exempt') {
    errors.invalid(
      'spec.matchingPrecedence',
      precedence,
      "only the schema named 'exempt' may have matchingPrecedence 1",
    );
  }
  const fixed = fixedSchemas.get(name);
  if (fixed !== undefined && !sameJson(sortedSubjects(spec), sortedSubjects(fixed))) {
    errors.invalid('spec', spec, `spec of '${name}' must equal the fixed value`);
  }
  for (const [at, rule] of recordsAt(spec, 'rules').entries()) {
    const path = `spec.rules[${String(at)}]`;
    for (const [index, subject] of recordsAt(rule, 'subjects').entries()) {
      validateSubject(subject, `${path}.subjects[${String(index)}]`, write);
    }
    const hasRules =
      listAt(rule, 'resourceRules').length > 0 || listAt(rule, 'nonResourceRules').length > 0;
    if (!hasRules) {
      errors.required(
        path,
        'at least one of resourceRules and nonResourceRules has to be non-empty',
      );
    }
    for (const [index, one] of recordsAt(rule, 'resourceRules').entries()) {
      validateResourceRule(one, `${path}.resourceRules[${String(index)}]`, write);
    }
    for (const [index, one] of recordsAt(rule, 'nonResourceRules').entries()) {
      validatePathRule(one, `${path}.nonResourceRules[${String(index)}]`, write);
    }
  }
};

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
  if (own === undefined) return; // the field's own rule reports it
  for (const part of subjectParts.values()) {
    const at = `${path}.${part}`;
    if (part !== own && isSet(subject, part)) {
      errors.forbidden(at, `${part} is forbidden when subject kind is '${kind}'`);
    } else if (part === own && !isSet(subject, part)) {
      errors.required(at, `${part} is required when subject kind is '${kind}'`);
    }
  }
  const part = recordAt(subject, own);
  if (part === undefined) return;
  const name = textAt(part, 'name');
  if (name === '') errors.required(`${path}.${own}.name`);
  if (own !== 'serviceAccount') return;
  if (name !== '' && name !== '*') {
    errors.problems(`${path}.${own}.name`, name, dns1123SubdomainProblems(name));
  }
  const namespace = textAt(part, 'namespace');
  if (namespace === '')
    errors.required(`${path}.${own}.namespace`, 'must specify namespace for service account');
  else errors.problems(`${path}.${own}.namespace`, namespace, dns1123LabelProblems(namespace));
}

function validateStars(
  rule: JsonObject,
  names: readonly string[],
  path: string,
  { errors }: ValidatedWrite,
): void {
  for (const name of names) {
    const values = textsAt(rule, name);
    if (!values.includes('*') || values.length === 1) continue;
    errors.invalid(`${path}.${name}`, values, `if '*' is present, must not specify other ${name}`);
  }
}

function validateResourceRule(rule: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors } = write;
  validateStars(rule, ['verbs', 'apiGroups', 'resources', 'namespaces'], path, write);
  const namespaces = textsAt(rule, 'namespaces');
  if (namespaces.length === 0 && rule['clusterScope'] !== true) {
    errors.required(
      `${path}.namespaces`,
      'resource rules that are not cluster scoped must supply at least one namespace',
    );
  }
  for (const [at, namespace] of namespaces.entries()) {
    if (namespace === '*') continue;
    errors.problems(
      `${path}.namespaces[${String(at)}]`,
      namespace,
      dns1123LabelProblems(namespace),
    );
  }
}

function validatePathRule(rule: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors } = write;
  validateStars(rule, ['verbs', 'nonResourceURLs'], path, write);
  for (const [at, url] of textsAt(rule, 'nonResourceURLs').entries()) {
    const where = `${path}.nonResourceURLs[${String(at)}]`;
    if (url === '*') continue;
    const invalid = (detail: string): void => {
      errors.invalid(where, url, detail);
    };
    if (url === '') invalid('nonResourceURL must not be empty');
    else if (!url.startsWith('/')) invalid("nonResourceURL must start with '/'");
    else if (url.includes(' ')) invalid('nonResourceURL must not contain white-space');
    else if (url.includes('//')) invalid('nonResourceURL must not contain double slash');
    else if (url.slice(0, -1).includes('*') || (url.endsWith('*') && !url.endsWith('/*'))) {
      invalid("nonResourceURL may only have '*' as its last segment");
    }
  }
}

const fixedCatchAll: JsonObject = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
};

export const validatePriorityLevel: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const name = nameOf(write);
  const type = textAt(spec, 'type');
  if ((type === 'Exempt') !== (name === 'exempt') && type !== '') {
    const detail = `type must be 'Exempt' if and only if name is 'exempt'`;
    errors.invalid('spec.type', type, detail);
  }
  const isFixed =
    name === 'exempt' ? sameJson(without(spec, 'exempt'), { type: 'Exempt' }) : isCatchAll(spec);
  if ((name === 'exempt' || name === 'catch-all') && !isFixed) {
    errors.invalid('spec', spec, `spec of '${name}' must equal the fixed value`);
  }
  const limited = recordAt(spec, 'limited');
  const response = recordAt(limited, 'limitResponse');
  const queuing = recordAt(response, 'queuing');
  if (queuing === undefined) return;
  validateQueues(queuing, 'spec.limited.limitResponse.queuing', write);
};

function isCatchAll(spec: JsonObject): boolean {
  const limited = recordAt(spec, 'limited');
  const shares = numberAt(limited, 'nominalConcurrencyShares');
  const fixed = recordAt(fixedCatchAll, 'limited');
  const given = { ...limited, nominalConcurrencyShares: shares ?? 0 };
  return textAt(spec, 'type') === 'Limited' && sameJson(given, fixed);
}

const bitsMax = 60;

function validateQueues(queuing: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const queues = numberAt(queuing, 'queues') ?? 0;
  const hand = numberAt(queuing, 'handSize') ?? 0;
  if (queues < 1 || hand < 1) return; // rules of the fields report it
  if (hand > queues) {
    const detail = `should not be greater than queues (${String(queues)})`;
    errors.invalid(`${path}.handSize`, hand, detail);
  }
  const bits = Math.ceil(Math.log2(queues)) * hand;
  if (bits <= bitsMax) return;
  const detail =
    `required entropy bits of deckSize ${String(queues)} and handSize ` +
    `${String(hand)} should not be greater than ${String(bitsMax)}`;
  errors.invalid(`${path}.handSize`, hand, detail);
}

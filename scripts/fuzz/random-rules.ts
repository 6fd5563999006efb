// Random rules: policies from a grammar of expressions, and patches as webhooks answer them. Many
// are right, some do not compile, apply or decode.
import type { PolicyText } from '../../lib/admission/testing/policies.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';
import type { Random } from './random.ts';

const half = (random: Random): boolean => random.below(2) === 0;
const some = <T>(random: Random, most: number, one: () => T): T[] =>
  Array.from({ length: 1 + random.below(most) }, one);

const container = { name: 'c', image: 'i' };
const objects: Readonly<Record<string, object>> = {
  configmaps: { data: { k: 'v' }, binaryData: { b: 'AAAA' } },
  deployments: {
    spec: {
      replicas: 2,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } },
    },
  },
  services: { spec: { ports: [{ port: 80 }], selector: { a: 'b' } } },
  pods: { spec: { containers: [container], tolerations: [{ key: 'k', operator: 'Exists' }] } },
};
const groups: Readonly<Record<string, string>> = { deployments: 'apps' };

/** A valid object of a kind whose lists merge in one way or another. */
export function writtenOf(random: Random): {
  readonly resource: string;
  readonly group: string;
  readonly object: ApiObject;
} {
  const resource = random.of(Object.keys(objects));
  const metadata = { name: 'x', namespace: 'a', labels: { a: 'b' } };
  return {
    resource,
    group: groups[resource] ?? '',
    object: { metadata, ...objects[resource] },
  };
}

const texts = ['"x"', '"b"', '""', '"__proto__"', 'object.metadata.name', 'request.operation'];
const values = [
  ...texts,
  '1',
  '-1',
  '1.5',
  '9223372036854775807',
  'true',
  'null',
  '{}',
  '[]',
  '{"a": "x"}',
  '{"__proto__": "x"}',
  '["x", "x"]',
  'object',
  'oldObject',
  'object.metadata.labels',
  'object.?spec.?replicas.orValue(3)',
  'optional.none()',
  'b"x"',
  'duration("1s")',
  'no.such',
];
const pointers = [
  '',
  '/',
  '/kind',
  '/apiVersion',
  '/metadata',
  '/metadata/name',
  '/metadata/namespace',
  '/metadata/uid',
  '/metadata/managedFields',
  '/metadata/labels',
  '/metadata/labels/a',
  '/metadata/labels/n',
  '/metadata/annotations',
  '/metadata/finalizers',
  '/metadata/ownerReferences/0',
  '/data',
  '/data/k',
  '/data/n',
  '/data/__proto__',
  '/__proto__/polluted',
  '/constructor/prototype/polluted',
  '/spec',
  '/spec/replicas',
  '/spec/ports/0/port',
  '/spec/ports/-',
  '/spec/containers/0/image',
  '/spec/containers/-',
  '/spec/tolerations',
  '/spec/template/spec/containers/0',
  '/spec/template/metadata/labels/a',
  '/spec/template/spec/containers/99999999999',
  '/status',
  '/status/phase',
  '/a~1b/~2',
];
const operations = ['add', 'add', 'add', 'replace', 'remove', 'test', 'move', 'copy', 'merge'];

/** Mostly one that the kind has. */
function pointerOf(random: Random, resource: string): string {
  const own = resource === 'configmaps' ? /^.(metadata|data)/ : /^.(metadata|spec)/;
  const known = pointers.filter((pointer) => own.test(pointer));
  return random.of(random.below(4) === 0 ? pointers : known);
}

function patchExpression(random: Random, resource: string): string {
  const one = (): string => {
    const members = [`op: "${random.of(operations)}"`, `path: "${pointerOf(random, resource)}"`];
    if (random.below(5) > 0) members.push(`value: ${random.of(half(random) ? texts : values)}`);
    if (random.below(4) === 0) members.push(`from: "${random.of(pointers)}"`);
    return `JSONPatch{${members.join(', ')}}`;
  };
  return `[${some(random, 3, one).join(', ')}]`;
}

function applyExpression(random: Random, resource: string): string {
  const value = (): string => random.of(random.below(4) > 0 ? texts : values);
  const list = (type: string, named: string): string =>
    `[${some(random, 2, () => `${type}{name: ${value()}, ${named}: ${value()}}`).join(', ')}]`;
  const path = 'Object.spec.template';
  const template = (inner: string): string =>
    `spec: Object.spec{template: ${path}{spec: ${path}.spec{containers: ${inner}}}}`;
  const always = [
    () => `metadata: Object.metadata{labels: {${value()}: ${value()}}}`,
    () => `metadata: Object.metadata{annotations: {"n": ${value()}}, name: ${value()}}`,
    () => `metadata: Object.metadata{finalizers: [${value()}, ${value()}]}`,
  ];
  const own: Readonly<Record<string, readonly (() => string)[]>> = {
    configmaps: [
      () => `data: {${value()}: ${value()}}`,
      () => `binaryData: {"b": ${value()}}`,
      () => `immutable: ${random.of(values)}`,
    ],
    deployments: [
      () => `spec: Object.spec{replicas: ${random.of(values)}}`,
      () => template(list(`${path}.spec.containers`, 'image')),
      () => `spec: Object.spec{?paused: ${value()}}`,
    ],
    services: [
      () =>
        `spec: Object.spec{ports: [Object.spec.ports{port: ${random.of(['80', ...values])}, ` +
        `name: ${value()}}]}`,
      () => `spec: Object.spec{selector: {${value()}: ${value()}}, type: ${value()}}`,
    ],
    pods: [
      () => `spec: Object.spec{containers: ${list('Object.spec.containers', 'image')}}`,
      () => `spec: Object.spec{tolerations: [Object.spec.tolerations{key: ${value()}}]}`,
      () => `spec: Object.spec{nodeSelector: {${value()}: ${value()}}}`,
    ],
  };
  const parts = [...always, ...(own[random.below(8) === 0 ? 'pods' : resource] ?? [])];
  return `Object{${random.of(parts)()}}`;
}

export const mutatingOf = (random: Random, resource: string): PolicyText[] =>
  some(random, 3, () => random.below(1_000)).map((index, at) => ({
    name: `p${String(at)}-${String(index)}`,
    mutations: some(random, 2, () =>
      half(random) ? patchExpression(random, resource) : applyExpression(random, resource),
    ),
    spec: {
      failurePolicy: random.below(3) === 0 ? 'Fail' : 'Ignore',
      reinvocationPolicy: half(random) ? 'Never' : 'IfNeeded',
      variables: [{ name: 'v', expression: random.of(values) }],
    },
  }));

/** Expressions of validations: of every type, some that compile to none. */
export const validationsOf = (random: Random): object[] =>
  some(random, 3, () => ({
    expression: random.of([
      `${random.of(values)} == ${random.of(values)}`,
      `object.metadata.labels.all(k, k != ${random.of(texts)})`,
      `has(object.spec) && object.spec.size() > 100`,
      random.of(values),
    ]),
    messageExpression: random.of(['"no"', ...values]),
  }));

/** The patch of an answer: operations, or any text. */
export function patchTextOf(random: Random, resource: string): string {
  if (random.below(8) === 0) return random.of(['', '[', '{}', '[7]', '[[]]', 'null', '"x"']);
  const value = (): unknown =>
    random.of([1, -1, 'x', '', null, true, {}, [], { a: 'x' }, ['x'], { port: 1 }, container]);
  const one = (): object => ({
    op: random.of(operations),
    path: pointerOf(random, resource),
    ...(random.below(5) === 0 ? {} : { value: value() }),
    ...(random.below(3) === 0 ? { from: random.of(pointers) } : {}),
  });
  return JSON.stringify(some(random, 4, one));
}

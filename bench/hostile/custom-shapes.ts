// Definitions near the largest request and objects of 1.4 MB of custom kinds, of shapes that cost
// most somewhere: each is a body that a server takes or refuses.
import type { JsonObject, JsonValue } from '../../lib/api/type-info.ts';

/** What a definition of the group's `name` is made of. */
export interface DefinitionShape {
  readonly name: string;
  readonly body: () => string;
}

export interface ObjectShape {
  readonly name: string;
  readonly schema: JsonObject;
  /** Of two values of `spec`: what is stored, and what it is changed to. */
  readonly specs: () => readonly [JsonValue, JsonValue];
}

export const group = 'hostile.example.com';
const own = (word: string): string => `x-kubernetes-${word}`;
const text = { type: 'string' };
const integer = { type: 'integer' };
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const list = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_item, at) => make(at));
const entries = (count: number, make: (at: number) => JsonValue): JsonObject =>
  Object.fromEntries(list(count, (at) => [`k${String(at)}`, make(at)] as const));

export function definitionOf(plural: string, versions: JsonValue, more: JsonObject = {}): string {
  const kind = plural[0]?.toUpperCase() + plural.slice(1);
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions,
      ...more,
    },
  });
}

export const version = (schema: JsonObject, name = 'v1'): JsonObject => ({
  ...{ name, served: true, storage: true, schema: { openAPIV3Schema: schema } },
});
const withSpec = (plural: string, spec: JsonObject): string =>
  definitionOf(plural, [version(object({ spec }))]);

/** As text: the objects themselves would nest too deeply for JSON.stringify. */
function deep(plural: string, levels: number): string {
  const mark = '"@"';
  const nested =
    '{"type":"object","properties":{"a":'.repeat(levels) +
    '{"type":"string"}' +
    '}}'.repeat(levels);
  return withSpec(plural, '@' as unknown as JsonObject).replace(mark, () => nested);
}

const special = (key: string): JsonObject =>
  JSON.parse(
    `{"type":"object","properties":{${JSON.stringify(key)}:{"type":"string"}}}`,
  ) as JsonObject;

export const definitionShapes: readonly DefinitionShape[] = [
  { name: '5,000 deep', body: () => deep('shapes', 5_000) },
  { name: '40 deep', body: () => deep('shapes', 40) },
  {
    name: '45,000 properties',
    body: () => withSpec('shapes', object(entries(45_000, () => text))),
  },
  {
    name: '100,000 properties without types',
    body: () => withSpec('shapes', object(entries(100_000, () => ({})))),
  },
  {
    name: '50,000 enum values',
    body: () =>
      withSpec('shapes', { type: 'string', enum: list(50_000, (at) => `value ${String(at)}`) }),
  },
  {
    name: '10,000 junctors',
    body: () =>
      withSpec('shapes', { type: 'string', anyOf: list(10_000, (at) => ({ minLength: at })) }),
  },
  {
    name: '10,000 junctors of properties',
    body: () =>
      definitionOf('shapes', [
        version(
          object(
            { spec: object({ a: text }) },
            { allOf: list(10_000, () => ({ properties: { spec: { properties: { a: {} } } } })) },
          ),
        ),
      ]),
  },
  {
    name: '10,000 rules of one value',
    body: () =>
      withSpec('shapes', {
        ...{ type: 'string', maxLength: 10 },
        [own('validations')]: list(10_000, (at) => ({ rule: `self != "${String(at)}"` })),
      }),
  },
  {
    name: '10,000 values with a rule',
    body: () =>
      withSpec(
        'shapes',
        object(
          entries(10_000, (at) => ({
            ...{ type: 'string', maxLength: 10 },
            [own('validations')]: [{ rule: `self != "${String(at)}"` }],
          })),
        ),
      ),
  },
  {
    name: '10,000 rules that do not compile',
    body: () =>
      withSpec('shapes', {
        type: 'string',
        [own('validations')]: list(10_000, (at) => ({ rule: `self.a${String(at)} +` })),
      }),
  },
  {
    name: '10,000 rules without a bound',
    body: () =>
      withSpec('shapes', {
        ...{ type: 'array', items: text },
        [own('validations')]: list(10_000, (at) => ({
          rule: `self.all(x, self.all(y, x != y || x == "${String(at)}"))`,
        })),
      }),
  },
  {
    name: 'a rule of 1.2 MB',
    body: () =>
      withSpec('shapes', {
        type: 'string',
        [own('validations')]: [
          { rule: list(60_000, (at) => `self != "${String(at)}"`).join(' && ') },
        ],
      }),
  },
  {
    name: 'a huge repetition in a pattern',
    body: () => withSpec('shapes', { type: 'string', pattern: '((a{1000}){1000}){1000}' }),
  },
  {
    name: '10,000 patterns',
    body: () =>
      withSpec(
        'shapes',
        object(
          entries(10_000, (at) => ({ type: 'string', pattern: `^(a|b${String(at)}){1,900}$` })),
        ),
      ),
  },
  {
    name: 'a pattern of 1.2 MB',
    body: () => withSpec('shapes', { type: 'string', pattern: '(a|b)*c?'.repeat(150_000) }),
  },
  {
    name: 'a default of 100,000 members',
    body: () =>
      withSpec('shapes', {
        ...{ type: 'object', additionalProperties: integer },
        default: entries(100_000, (at) => at),
      }),
  },
  {
    name: '10,000 defaults',
    body: () => withSpec('shapes', object(entries(10_000, () => ({ ...text, default: 'x' })))),
  },
  {
    name: 'a description of 1.4 MB',
    body: () => withSpec('shapes', { type: 'string', description: 'd'.repeat(1_400_000) }),
  },
  {
    name: '5,000 versions',
    body: () =>
      definitionOf(
        'shapes',
        list(5_000, (at) => ({
          ...version({ type: 'object' }, `v${String(at + 1)}`),
          storage: at === 0,
        })),
      ),
  },
  {
    name: '10,000 columns',
    body: () =>
      definitionOf('shapes', [
        {
          ...version(object({ spec: text })),
          additionalPrinterColumns: list(10_000, (at) => ({
            ...{ name: `c${String(at)}`, type: 'string', jsonPath: '.spec' },
          })),
        },
      ]),
  },
  {
    name: '20,000 short names',
    body: () =>
      definitionOf('shapes', [version(object({ spec: text }))], {
        names: {
          ...{ plural: 'shapes', singular: 'shape', kind: 'Shapes', listKind: 'ShapesList' },
          shortNames: list(20_000, (at) => `s${String(at)}`),
        },
      }),
  },
  {
    name: 'names of 100,000 characters',
    body: () =>
      withSpec('shapes', object({ ['n'.repeat(100_000)]: text, ['m'.repeat(1_000_000)]: {} })),
  },
  ...['__proto__', 'constructor'].flatMap((key): DefinitionShape[] => [
    { name: `${key} as a property`, body: () => withSpec('shapes', special(key)) },
    {
      name: `${key} as a version`,
      body: () => definitionOf('shapes', [version(object({ spec: text }), key)]),
    },
    {
      name: `${key} as a key of lists`,
      body: () =>
        withSpec('shapes', {
          ...{ type: 'array', [own('list-type')]: 'map', [own('list-map-keys')]: [key] },
          items: { ...special(key), required: [key] },
        }),
    },
  ]),
];

const keyed = {
  type: 'array',
  items: { type: 'object', required: ['k'], properties: { k: text, n: integer } },
  [own('list-type')]: 'map',
  [own('list-map-keys')]: ['k'],
};

/** Lists in lists, as deep as bodies may be. */
function nestedLists(levels: number, width: number): JsonValue {
  let value: JsonValue = 1;
  for (let at = 0; at < levels; at += 1) value = [value];
  return list(width, () => value);
}

export const objectShapes: readonly ObjectShape[] = [
  {
    name: '10,000 map entries with a rule each',
    schema: {
      type: 'object',
      additionalProperties: {
        ...object({ a: { ...text, maxLength: 100 }, n: integer }),
        [own('validations')]: [{ rule: 'size(self.a) < 101' }],
      },
    },
    specs: () => [
      entries(10_000, (at) => ({ a: 'x'.repeat(75), n: at })),
      entries(10_000, (at) => ({ a: 'x'.repeat(75), n: at + 1 })),
    ],
  },
  {
    name: '10,000 entries that fail but are stored',
    schema: {
      type: 'object',
      additionalProperties: object({ a: text, n: integer }),
    },
    specs: () => [
      entries(10_000, () => ({ a: 'y'.repeat(100) })),
      entries(10_000, (at) => ({ a: 'y'.repeat(100), n: at })),
    ],
  },
  {
    name: 'a set of 100,000',
    schema: { type: 'array', items: text, [own('list-type')]: 'set' },
    specs: () => [
      list(100_000, (at) => `i${String(at)}`),
      list(100_000, (at) => `i${String(at)}`).reverse(),
    ],
  },
  {
    name: '30,000 items with keys',
    schema: keyed,
    specs: () => [
      list(30_000, (at) => ({ k: `k${String(at)}`, n: at })),
      list(30_000, (at) => ({ k: `k${String(at)}`, n: at + 1 })),
    ],
  },
  {
    name: 'nesting at the limit',
    schema: { type: 'object', [own('preserve-unknown-fields')]: true },
    specs: () => [{ a: nestedLists(90, 7_000) }, { a: nestedLists(90, 7_000), b: 1 }],
  },
  {
    name: '200,000 tiny members',
    schema: { type: 'object', additionalProperties: integer },
    specs: () => [
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 1])),
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 2])),
    ],
  },
  {
    name: '200,000 unknown members',
    schema: { type: 'object' },
    specs: () => [
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 1])),
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 2])),
    ],
  },
  {
    name: '200,000 preserved members',
    schema: { type: 'object', [own('preserve-unknown-fields')]: true },
    specs: () => [
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 1])),
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 2])),
    ],
  },
  {
    name: '100,000 members of a wrong type',
    schema: { type: 'object', additionalProperties: text },
    specs: () => [
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 1])),
      Object.fromEntries(list(100_000, (at) => [at.toString(36), 2])),
    ],
  },
  {
    name: '200,000 numbers of a list',
    schema: { type: 'array', items: integer },
    specs: () => [list(200_000, (at) => at), list(200_000, (at) => at + 1)],
  },
  {
    name: 'one text of 1.4 MB',
    schema: { ...text, pattern: '^(x|y)*$' },
    specs: () => ['x'.repeat(1_400_000), 'y'.repeat(1_400_000)],
  },
];

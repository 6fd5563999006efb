import { describe, expect, test } from '@jest/globals';
import { createScheme } from '../api/scheme.ts';
import { noKindRules } from '../api/testing/no-kind-rules.ts';
import { typeOf } from '../api/testing/schema-types.ts';
import type { FieldInfo, JsonObject, TypeInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { shapeOf } from './shape.ts';
import type { Shape } from './shape.ts';
import { atomic, extension, keyed, mapOf, open, setOf } from './testing/schemas.ts';
import { struct, text, textOf } from './testing/schemas.ts';

const scheme = createScheme({ profile: namingProfile('kubernetes'), rules: noKindRules });

function told(shape: Shape | undefined): string {
  if (shape === undefined) return 'none';
  switch (shape.kind) {
    case 'object': {
      const name = shape.named.size > 0 ? 'object' : 'map';
      return shape.entries === undefined ? name : `${name} of ${shape.entries.kind}`;
    }
    case 'keyed': {
      const keys = shape.keys.map(({ name, byDefault }) =>
        byDefault === undefined ? name : `${name} or ${textOf(byDefault)}`,
      );
      return `keyed by ${keys.join(', ')}`;
    }
    default:
      return shape.kind;
  }
}

/** `*`: an element or entry. */
function below(shape: Shape | undefined, path: string): Shape | undefined {
  let found = shape;
  for (const step of path.split('.').filter((name) => name !== '')) {
    if (found?.kind === 'keyed') found = step === '*' ? found.element : undefined;
    else if (found?.kind !== 'object') return undefined;
    else found = found.named.get(step) ?? found.entries;
  }
  return found;
}

describe('of built-in kinds', () => {
  test.each([
    ['core/v1.Pod', '', 'object'],
    ['core/v1.Pod', 'apiVersion', 'leaf'],
    ['core/v1.Pod', 'unknown', 'none'],
    ['core/v1.Pod', 'metadata', 'object'],
    ['core/v1.Pod', 'metadata.labels', 'map of leaf'],
    ['core/v1.Pod', 'metadata.creationTimestamp', 'leaf'],
    ['core/v1.Pod', 'metadata.finalizers', 'set'],
    ['core/v1.Pod', 'metadata.ownerReferences', 'keyed by uid'],
    ['core/v1.Pod', 'spec.nodeSelector', 'leaf'],
    ['core/v1.Pod', 'spec.tolerations', 'leaf'],
    ['core/v1.Pod', 'spec.containers', 'keyed by name'],
    ['core/v1.Pod', 'spec.containers.*', 'object'],
    ['core/v1.Pod', 'spec.containers.*.args', 'leaf'],
    ['core/v1.Pod', 'spec.containers.*.ports', 'keyed by containerPort, protocol or "TCP"'],
    ['core/v1.Pod', 'spec.containers.*.resources.limits', 'map of leaf'],
    ['core/v1.Pod', 'spec.imagePullSecrets', 'keyed by name or ""'],
    ['core/v1.Pod', 'spec.topologySpreadConstraints', 'keyed by topologyKey, whenUnsatisfiable'],
    ['core/v1.Pod', 'status.conditions', 'keyed by type'],
    ['core/v1.Service', 'spec.ports.*.targetPort', 'leaf'],
    ['core/v1.Service', 'spec.selector', 'leaf'],
    ['core/v1.ConfigMap', 'data', 'map of leaf'],
    ['core/v1.Endpoints', 'subsets', 'leaf'],
    ['apps/v1.Deployment', 'spec.selector', 'leaf'],
    ['apps/v1.ControllerRevision', 'data', 'map of open'],
    ['apiextensions/v1.JSONSchemaProps', 'default', 'open'],
    ['apiextensions/v1.JSONSchemaProps', 'items', 'open'],
  ])('%s: %j is %s', (type, path, expected) => {
    expect(told(below(shapeOf(scheme.type(type)), path))).toBe(expected);
  });

  test('types that hold themselves have one shape at every depth', () => {
    const root = shapeOf(scheme.type('apiextensions/v1.JSONSchemaProps'));
    expect(below(root, 'properties.a')).toBe(root);
    expect(below(root, 'properties.a.not.properties.b')).toBe(root);
  });

  test('a type has one shape', () => {
    const pod = scheme.type('core/v1.Pod');
    expect(shapeOf(pod)).toBe(shapeOf(pod));
  });
});

describe('of schemas', () => {
  const items = struct({ n: text, m: { type: 'integer', default: 5 } });
  const list = { type: 'array', items };
  const listType = (type: string): JsonObject => ({ [extension('list-type')]: type });
  test.each<[string, JsonObject, string]>([
    ['a text', text, 'leaf'],
    ['an integer or text', { [extension('int-or-string')]: true }, 'leaf'],
    ['an object', struct({ a: text }), 'object'],
    ['an object without properties', { type: 'object' }, 'map'],
    [
      'an object that keeps what it does not know',
      { ...struct({ a: text }), ...open },
      'object of open',
    ],
    ['an atomic object', atomic(struct({ a: text })), 'leaf'],
    [
      'a granular object',
      { ...struct({ a: text }), [extension('map-type')]: 'granular' },
      'object',
    ],
    ['a map', mapOf(text), 'map of leaf'],
    ['a map of maps', mapOf(mapOf(text)), 'map of object'],
    ['an atomic map', atomic(mapOf(text)), 'leaf'],
    ['what has no schema', {}, 'open'],
    ['what keeps all', open, 'open'],
    ['an embedded resource', { type: 'object', [extension('embedded-resource')]: true }, 'object'],
    ['a list of which nothing is said', list, 'leaf'],
    ['an atomic list', { ...list, ...listType('atomic') }, 'leaf'],
    ['a list of an unknown type', { ...list, ...listType('bag') }, 'leaf'],
    ['a set', setOf(text), 'set'],
    ['a list with a key', keyed(['n'], { n: text }), 'keyed by n'],
    [
      'a list with keys, in the order of their names',
      { ...list, ...listType('map'), [extension('list-map-keys')]: ['n', 'm'] },
      'keyed by m or 5, n',
    ],
    [
      'a list with keys that nothing declares',
      keyed(['x', '__proto__'], { n: text }),
      'keyed by __proto__, x',
    ],
    ['a list with keys of which none is named', { ...list, ...listType('map') }, 'leaf'],
  ])('%s', (_what, schema, expected) => {
    const type = typeOf(struct({ field: schema }));
    expect(told(below(shapeOf(type), 'field'))).toBe(expected);
  });

  test('members named like those of prototypes are members', () => {
    const properties = JSON.parse('{"__proto__":{"type":"string"}}') as JsonObject;
    const shape = shapeOf(typeOf(struct(properties)));
    expect(told(below(shape, '__proto__'))).toBe('leaf');
    expect(told(below(shape, 'constructor'))).toBe('none');
  });
});

describe('of lists without a type, by the strategy of patches', () => {
  const plain = typeOf(struct({ field: { type: 'array', items: struct({ n: text }) } }));
  test.each<[string, Partial<FieldInfo>, string]>([
    ['merge, by a key', { patchStrategies: ['merge'], patchMergeKey: 'n' }, 'keyed by n'],
    ['merge', { patchStrategies: ['merge'] }, 'set'],
    [
      'merge and retainKeys',
      { patchStrategies: ['merge', 'retainKeys'], patchMergeKey: 'n' },
      'keyed by n',
    ],
    ['replace', { patchStrategies: ['replace'], patchMergeKey: 'n' }, 'leaf'],
    ['merge of an atomic one', { patchStrategies: ['merge'], listType: 'atomic' }, 'leaf'],
  ])('%s', (_what, more, expected) => {
    const field = plain.fieldByJsonName.get('field');
    if (field === undefined) throw new Error('there is a field');
    const changed: FieldInfo = { ...field, ...more };
    const type: TypeInfo = { ...plain, fieldByJsonName: new Map([['field', changed]]) };
    expect(told(below(shapeOf(type), 'field'))).toBe(expected);
  });
});

import { describe, expect, test } from '@jest/globals';
import { convertObject } from '../api/convert.ts';
import { canConvert } from './testing/can-convert.ts';
import { sameJson } from '../api/json-equal.ts';
import { recordAt, textAt } from '../api/json-access.ts';
import { without } from '../api/json-value.ts';
import { switches } from '../config/flag-kinds.ts';
import { builtInScheme, builtInRules } from './built-in-kinds.ts';
import { ObjectGenerator } from '../api/testing/generated-objects.ts';
import type { Shapes } from '../api/testing/generated-objects.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject, TypeInfo, JsonValue } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';

const scheme = builtInScheme({
  profile: namingProfile('kubernetes'),
  runtimeConfig: switches.parse('api/all=true'),
});

const pick = (of: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (name in of ? [[name, of[name]]] : [])));
const utilization = { type: 'Utilization', averageUtilization: 60 };
const average = { type: 'AverageValue', averageValue: '5' };
const total = { type: 'Value', value: '7' };
const source = (name: string, part: string, ...values: readonly JsonObject[]): Shapes => ({
  [`autoscaling/v2.${name}`]: (object, of) => ({
    ...object,
    [part]: of(values[0] ?? {}, ...values),
  }),
});
const sourceNames = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};
/** One source, named by the type; never the CPU use, which older versions have a field for. */
const oneSource: Shapes[string] = (object, of) => {
  const kind = of('ContainerResource', 'External', 'Object', 'Pods', 'Resource');
  return { type: kind, ...pick(object, sourceNames[kind]) };
};

// Fields that exclude each other, and texts that mean something: objects that validation accepts.
const shapes: Shapes = {
  'autoscaling/v2.MetricSpec': oneSource,
  'autoscaling/v2.MetricStatus': oneSource,
  ...source('ResourceMetricSource', 'target', utilization, average),
  ...source('ContainerResourceMetricSource', 'target', utilization, average),
  ...source('PodsMetricSource', 'target', average),
  ...source('ObjectMetricSource', 'target', total),
  ...source('ExternalMetricSource', 'target', total, average),
  ...source('ResourceMetricStatus', 'current', { averageUtilization: 9, averageValue: '3' }),
  ...source('ContainerResourceMetricStatus', 'current', { averageValue: '3' }),
  ...source('PodsMetricStatus', 'current', { averageValue: '3' }),
  ...source('ObjectMetricStatus', 'current', { value: '4' }, { value: '4', averageValue: '2' }),
  ...source('ExternalMetricStatus', 'current', { value: '4' }, { value: '4', averageValue: '2' }),
  // What was measured is in an annotation, too, once it has been stored.
  'autoscaling/v1.HorizontalPodAutoscalerStatus': (object) =>
    without(object, 'currentCPUUtilizationPercentage'),
  'networking/v1.ServiceBackendPort': (object, of) => of({ name: 'http' }, { number: 80 }, {}),
  'networking/v1.IngressServiceBackend': (object) => ({ ...object, name: 's' }),
  'rbac/v1.Subject': (object, of) => {
    const kind = of('User', 'Group', 'ServiceAccount');
    const group = kind === 'ServiceAccount' ? {} : { apiGroup: 'rbac.authorization.k8s.io' };
    return { ...object, kind, name: 'n', apiGroup: undefined, ...group };
  },
  'apiextensions/v1.CustomResourceConversion': (object, of) => of({ strategy: 'None' }, object),
  'apiextensions/v1.WebhookConversion': (object) => ({
    ...object,
    conversionReviewVersions: ['v1'],
  }),
  'apiextensions/v1.JSONSchemaProps': (object) => pick(object, 'type', 'description'),
};

const kindOf = (type: TypeInfo): string => {
  const kind = scheme.kindOf(type);
  if (kind === undefined) throw new Error(type.id);
  return apiVersionOf(kind);
};

/** The object there and back again. */
function thereAndBack(object: JsonObject, through: TypeInfo): JsonObject {
  const converted = convertObject(object, kindOf(through), scheme);
  const unknown = Object.keys(converted).filter(
    (name) => !through.fieldByJsonName.has(name) && name !== 'kind' && name !== 'apiVersion',
  );
  expect(unknown).toEqual([]);
  return convertObject(converted, textAt(object, 'apiVersion'), scheme);
}

/** Versions differ in which messages are there when nothing is in them. */
function withoutEmpty(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const rest: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    const made = withoutEmpty(member ?? null);
    const isEmpty = typeof made === 'object' && made !== null && Object.keys(made).length === 0;
    if (!isEmpty) rest[key] = made;
  }
  return rest;
}

/** The generated object, and what came back of it when that differs. */
function lossesOf(from: TypeInfo, through: TypeInfo): JsonObject[] {
  const losses: JsonObject[] = [];
  for (let seed = 1; seed <= 24; seed += 1) {
    const generator = new ObjectGenerator({ seed, shapes, density: seed % 3 === 0 ? 10 : 6 });
    const object = generator.object(from, kindOf(from));
    const back = thereAndBack(object, through);
    if (!sameJson(withoutEmpty(back), withoutEmpty(object))) losses.push({ seed, object, back });
  }
  return losses;
}

const served = scheme.resources
  .filter((resource) => !resource.virtual && resource.storagePrefix !== '')
  .map((resource) => [resource.type, scheme.storageResource(resource).type] as const)
  .filter(([own, stored]) => own !== stored);

describe('a stored object survives a read and a write through each served version', () => {
  test.each(served.map(([own, stored]) => [stored.id, own.id] as const))(
    '%s through %s',
    (a, b) => {
      expect(lossesOf(scheme.type(a), scheme.type(b))).toEqual([]);
    },
  );
});

describe('an object of a served version survives being stored', () => {
  test.each(served.map(([own, stored]) => [own.id, stored.id] as const))('%s in %s', (a, b) => {
    expect(lossesOf(scheme.type(a), scheme.type(b))).toEqual([]);
  });
});

describe('what is stored survives versions that are read only from etcd', () => {
  const kinds = [...scheme.packages.values()].flatMap((owner) => owner.types);
  const stored = new Map(scheme.storedResources.map((resource) => [resource.type.id, resource]));
  const older = Object.keys(builtInRules.conversions)
    .map((name) => name.split(' > ') as [string, string])
    .filter(([from, to]) => stored.has(from) && !served.some(([own]) => own.id === to));
  test('there are several', () => {
    expect(older.length).toBeGreaterThan(15);
    expect(kinds.length).toBeGreaterThan(1000);
  });
  test.each(older)('%s through %s', (from, to) => {
    expect(lossesOf(scheme.type(from), scheme.type(to))).toEqual([]);
  });
});

test('every conversion has one in the other direction', () => {
  const alone = Object.keys(builtInRules.conversions).filter((name) => {
    const [from = '', to = ''] = name.split(' > ');
    return !canConvert(scheme.type(to), scheme.type(from), scheme);
  });
  expect(alone).toEqual([]);
});

test('a lossy conversion is seen', () => {
  const type = scheme.type('resource/v1.ResourceClaim');
  const object = new ObjectGenerator({ seed: 3, density: 10 }).object(type, kindOf(type));
  const back = thereAndBack(object, scheme.type('resource/v1beta1.ResourceClaim'));
  const spec = recordAt(back, 'spec') ?? {};
  expect(sameJson({ ...back, spec: { ...spec, devices: undefined } }, object)).toBe(false);
  expect(sameJson(back, object)).toBe(true);
});

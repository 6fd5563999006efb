import { describe, expect, test } from '@jest/globals';
import { convertObject } from '../api/convert.ts';
import { recordAt, recordIn, recordsAt } from '../api/json-access.ts';
import { canConvert } from './testing/can-convert.ts';
import { switches } from '../config/flag-kinds.ts';
import { builtInScheme } from './built-in-kinds.ts';
import type { JsonObject } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';

const scheme = builtInScheme({
  profile: namingProfile('kubernetes'),
  runtimeConfig: switches.parse('api/all=true'),
});
const convert = (object: JsonObject, to: string): JsonObject => convertObject(object, to, scheme);

const event: JsonObject = {
  kind: 'Event',
  apiVersion: 'v1',
  metadata: { name: 'e' },
  involvedObject: { kind: 'Pod', name: 'p' },
  reason: 'R',
  message: 'm',
  source: { component: 'c' },
  firstTimestamp: '2001-02-03T04:05:06Z',
  count: 2,
  type: 'Normal',
  eventTime: null,
  reportingComponent: 'rc',
  reportingInstance: 'ri',
  related: { name: 'r' },
};

describe('events', () => {
  test('of the core group are those of the newer one under other names', () => {
    expect(convert(event, 'events.k8s.io/v1')).toEqual({
      kind: 'Event',
      apiVersion: 'events.k8s.io/v1',
      metadata: { name: 'e' },
      regarding: { kind: 'Pod', name: 'p' },
      reason: 'R',
      note: 'm',
      deprecatedSource: { component: 'c' },
      deprecatedFirstTimestamp: '2001-02-03T04:05:06Z',
      deprecatedCount: 2,
      type: 'Normal',
      eventTime: null,
      reportingController: 'rc',
      reportingInstance: 'ri',
      related: { name: 'r' },
    });
  });
  test('come back as they were, every field', () => {
    const full = Object.fromEntries(
      scheme.type('core/v1.Event').fields.map((field) => [field.jsonName, field.number]),
    );
    const object: JsonObject = { ...full, kind: 'Event', apiVersion: 'v1' };
    const newer = convert(object, 'events.k8s.io/v1');
    const known = scheme.type('events/v1.Event').fieldByJsonName;
    expect(Object.keys(newer).filter((name) => !known.has(name))).toEqual(['kind', 'apiVersion']);
    expect(convert(newer, 'v1')).toEqual(object);
  });
});

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const cpu = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};
const autoscaler: JsonObject = {
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'h', annotations: { mine: 'x' } },
  spec: {
    scaleTargetRef: target,
    minReplicas: 1,
    maxReplicas: 5,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } },
      },
      {
        type: 'ContainerResource',
        containerResource: {
          name: 'cpu',
          container: 'c',
          target: { type: 'Utilization', averageUtilization: 9 },
        },
      },
      {
        type: 'Pods',
        pods: {
          metric: { name: 'qps', selector: { matchLabels: { a: 'b' } } },
          target: { type: 'AverageValue', averageValue: '10' },
        },
      },
      {
        type: 'Object',
        object: {
          describedObject: target,
          metric: { name: 'q' },
          target: { type: 'Value', value: '3' },
        },
      },
      {
        type: 'External',
        external: {
          metric: { name: 'q', selector: {} },
          target: { type: 'AverageValue', averageValue: '7' },
        },
      },
      cpu,
    ],
    behavior: {
      scaleDown: {
        selectPolicy: 'Max',
        policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
      },
    },
  },
  status: {
    currentReplicas: 2,
    desiredReplicas: 3,
    currentMetrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '200m' } },
      },
    ],
    conditions: [
      { type: 'AbleToScale', status: 'True', lastTransitionTime: '2001-02-03T04:05:06Z' },
    ],
  },
};

describe('autoscalers', () => {
  const older = convert(autoscaler, 'autoscaling/v1');
  test('show the CPU target and current use as fields of v1, the rest as annotations', () => {
    expect(older['spec']).toEqual({
      scaleTargetRef: target,
      minReplicas: 1,
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 50,
    });
    expect(older['status']).toEqual({
      currentReplicas: 2,
      desiredReplicas: 3,
      currentCPUUtilizationPercentage: 40,
    });
    const { annotations } = older['metadata'] as { annotations: Record<string, string> };
    const metrics = JSON.parse(
      annotations['autoscaling.alpha.kubernetes.io/metrics'] ?? '',
    ) as JsonObject[];
    expect(metrics[2]).toEqual({
      type: 'Pods',
      pods: { metricName: 'qps', selector: { matchLabels: { a: 'b' } }, targetAverageValue: '10' },
    });
    expect(Object.keys(annotations).length).toBe(5);
  });
  test('come back as they were', () => {
    expect(convert(older, 'autoscaling/v2')).toEqual(autoscaler);
  });
  const annotationIn = (object: JsonObject, name: string): unknown =>
    recordIn(object, 'metadata', 'annotations')?.[`autoscaling.alpha.kubernetes.io/${name}`];
  test.each([
    [
      'behavior',
      '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":"Max",' +
        '"Policies":[{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null}}',
    ],
    [
      'current-metrics',
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":40,' +
        '"currentAverageValue":"200m"}}]',
    ],
    [
      'conditions',
      '[{"type":"AbleToScale","status":"True","lastTransitionTime":"2001-02-03T04:05:06Z",' +
        '"message":"\\u003cunknown\\u003e"}]',
    ],
  ])('write the annotation %s as Kubernetes does', (name, text) => {
    const [condition] = recordsAt(recordAt(autoscaler, 'status'), 'conditions');
    const conditions = [{ ...condition, message: '<unknown>' }];
    const status = { ...recordAt(autoscaler, 'status'), conditions };
    expect(annotationIn(convert({ ...autoscaler, status }, 'autoscaling/v1'), name)).toBe(text);
  });
  test('know the use of processors from either place', () => {
    const status = { currentReplicas: 1, currentCPUUtilizationPercentage: 0 };
    const metadata = { name: 'h' };
    const { kind, apiVersion } = older;
    const written = convert({ kind, apiVersion, metadata, spec: {}, status }, 'autoscaling/v2');
    const shown = convert(written, 'autoscaling/v1');
    expect(shown['status']).toEqual(status);
    expect(annotationIn(shown, 'current-metrics')).toBe(
      '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":0,' +
        '"currentAverageValue":"0"}}]',
    );
  });
  test('written through v1 get their one metric', () => {
    const written = convert(
      {
        kind: 'HorizontalPodAutoscaler',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'h' },
        spec: { maxReplicas: 5, targetCPUUtilizationPercentage: 50 },
      },
      'autoscaling/v2',
    );
    expect(written['spec']).toEqual({ maxReplicas: 5, metrics: [cpu] });
  });
  test.each(['{', 'true', '[{"type":5}]', '[{"type":"Pods","pods":{"targetAverageValue":"x"}}]'])(
    'lose an annotation of ours that cannot be read, %s, and nothing else',
    (text) => {
      const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': text, other: 'x' };
      const written = convert(
        {
          kind: 'HorizontalPodAutoscaler',
          apiVersion: 'autoscaling/v1',
          metadata: { annotations },
          spec: { maxReplicas: 1 },
        },
        'autoscaling/v2',
      );
      expect(written['metadata']).toEqual({ annotations: { other: 'x' } });
      expect(written['spec']).toEqual({ maxReplicas: 1 });
    },
  );
});

describe('versions of one shape', () => {
  test('only change their apiVersion; the given object stays as it is', () => {
    const address = Object.freeze({
      kind: 'IPAddress',
      apiVersion: 'networking.k8s.io/v1beta1',
      metadata: {},
      spec: {},
    });
    expect(convert(address, 'networking.k8s.io/v1')).toEqual({
      ...address,
      apiVersion: 'networking.k8s.io/v1',
    });
  });
  test('without a conversion are refused by name', () => {
    const claim = { kind: 'ResourceClaim', apiVersion: 'resource.k8s.io/v1beta1', metadata: {} };
    expect(() => convert(claim, 'nowhere/v1')).toThrow(/ResourceClaim is not known in nowhere\/v1/);
    const scale = { kind: 'Scale', apiVersion: 'extensions/v1beta1', metadata: {} };
    expect(() => convert(scale, 'autoscaling/v1')).toThrow(
      /Scale cannot be converted from extensions\/v1beta1 to autoscaling\/v1/,
    );
  });
  test('that are both read only go through the stored one', () => {
    const slice = {
      kind: 'PriorityLevelConfiguration',
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta1',
      metadata: {},
      spec: { limited: { assuredConcurrencyShares: 7 } },
    };
    expect(convert(slice, 'flowcontrol.apiserver.k8s.io/v1beta3')['spec']).toEqual({
      limited: { nominalConcurrencyShares: 7 },
    });
  });
});

const stableClaim = (requests: JsonObject[]): JsonObject =>
  convert(
    {
      kind: 'ResourceClaim',
      apiVersion: 'resource.k8s.io/v1beta1',
      metadata: {},
      spec: { devices: { requests } },
    },
    'resource.k8s.io/v1',
  );

test('a false whose presence is tracked survives where requests have their own message', () => {
  const requests = [{ name: 'r', deviceClassName: '', adminAccess: false, firstAvailable: [{}] }];
  expect(stableClaim(requests)['spec']).toEqual({
    devices: { requests: [{ name: 'r', firstAvailable: [{}], exactly: { adminAccess: false } }] },
  });
});

test('zeros of a request that is a choice of others are none given', () => {
  const requests = [{ name: 'r', deviceClassName: '', count: 0, firstAvailable: [{}] }];
  expect(stableClaim(requests)['spec']).toEqual({
    devices: { requests: [{ name: 'r', firstAvailable: [{}] }] },
  });
});

test('everything that is served by default can be stored and read back', () => {
  const served = builtInScheme({ profile: namingProfile('svc') });
  const stuck = served.resources.filter((resource) => {
    const { type } = served.storageResource(resource);
    return !canConvert(resource.type, type, scheme) || !canConvert(type, resource.type, scheme);
  });
  expect(stuck).toEqual([]);
});

test('everything that can be served can be stored and read back', () => {
  const stuck = scheme.resources.filter((resource) => {
    const { type } = scheme.storageResource(resource);
    return !canConvert(resource.type, type, scheme) || !canConvert(type, resource.type, scheme);
  });
  expect(stuck).toEqual([]);
});

test('every kind of a version that is read only can become what is stored', () => {
  const kinds = [...scheme.packages.values()].flatMap((owner) =>
    owner.types.filter((type) => type.hasTypeMeta).map((type) => ({ owner, type })),
  );
  const stuck = kinds.filter(({ owner, type }) =>
    scheme.storedResources.some(
      (stored) =>
        stored.kind.kind === type.name &&
        owner.id !== 'audit/v1' && // its Event is another kind of the same name
        !canConvert(type, stored.type, scheme),
    ),
  );
  expect(stuck.map(({ type }) => type.id)).toEqual([]);
});

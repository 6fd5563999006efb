import { describe, expect, test } from '@jest/globals';
import { cloneJson } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { podStrategy } from './pods.ts';
import { warningsOf } from '../testing/warnings-of.ts';

const naming = namingProfile('kubernetes');
const strategy = podStrategy({ naming, eventTtlSeconds: 1 });
const user = { name: 'tester', uid: '', groups: [], extra: {} };

function prepared(
  pod: ApiObject,
  stored?: ApiObject,
  subresource = '',
  isOn = true,
): readonly string[] {
  const warnings: string[] = [];
  strategy.prepare?.(
    pod,
    stored,
    {
      user,
      dryRun: false,
      fieldManager: '',
      subresource,
      warnings,
      nowMs: 0,
      apiVersion: 'v1',
    },
    () => isOn,
  );
  return warnings;
}

test('a new pod keeps of its status the quality of service that it states', () => {
  const pod: ApiObject = { spec: {}, status: { qosClass: 'Burstable', phase: 'Running' } };
  prepared(pod);
  expect(pod.status).toEqual({ phase: 'Pending', qosClass: 'Burstable' });
});

test.each([
  ['changes', true, '2'],
  ['leaves', false, '1'],
])('a resize %s the resources of all containers together', (_what, isOn, cpu) => {
  const sized = (amount: string): ApiObject => ({
    spec: { resources: { requests: { cpu: amount } } },
  });
  const pod = sized('2');
  prepared(pod, sized('1'), 'resize', isOn);
  expect(pod).toEqual(sized(cpu));
});

describe('a write of the status', () => {
  const stored = {
    status: {
      qosClass: 'Burstable',
      observedGeneration: 4,
      conditions: [
        { type: 'Ready', observedGeneration: 3 },
        { type: 'Ready', observedGeneration: 2 },
      ],
    },
  };
  const written = (status: JsonObject | undefined): ApiObject['status'] => {
    const pod: ApiObject = status === undefined ? {} : { status };
    prepared(pod, stored, 'status');
    return pod.status;
  };
  test('without quality and generations leaves them as they are', () => {
    expect(written(undefined)).toEqual({ qosClass: 'Burstable', observedGeneration: 4 });
    expect(written({ qosClass: 'X', observedGeneration: 5 })).toEqual({
      qosClass: 'X',
      observedGeneration: 5,
    });
  });
  test('leaves the generations of conditions by type and order', () => {
    const conditions = [{ type: 'Ready' }, { type: 'Other' }, { type: 'Ready' }, { type: 'Ready' }];
    const expected = [
      { type: 'Ready', observedGeneration: 3 },
      { type: 'Other' },
      { type: 'Ready', observedGeneration: 2 },
      { type: 'Ready' },
    ];
    expect(written({ conditions })).toMatchObject({ conditions: expected });
  });
});

describe('AppArmor by annotation', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const warning =
    `metadata.annotations[${key}]: ` +
    'deprecated since v1.30; use the "appArmorProfile" field instead';
  const podWith = (text: string, container: JsonObject = {}, spec: JsonObject = {}): ApiObject => ({
    metadata: { name: 'p', annotations: { [key]: text } },
    spec: { containers: [{ name: 'c', ...container }], ...spec },
  });
  const profile = (type: string, localhostProfile?: string): JsonObject => ({
    appArmorProfile: localhostProfile === undefined ? { type } : { type, localhostProfile },
  });
  test.each<[text: string, context: JsonObject | undefined]>([
    ['runtime/default', profile('RuntimeDefault')],
    ['unconfined', profile('Unconfined')],
    ['localhost/a/b', profile('Localhost', 'a/b')],
    ['localhost/', undefined],
    ['localhost/ a', undefined],
    [`localhost/${'a'.repeat(4096)}`, undefined],
    ['', undefined],
    ['true', undefined],
  ])('%j becomes the field where that says it, and is warned of', (text, securityContext) => {
    const pod = podWith(text);
    expect(prepared(pod)).toEqual([warning]);
    const container = securityContext === undefined ? {} : { securityContext };
    expect(pod['spec']).toEqual({ containers: [{ name: 'c', ...container }] });
  });
  test.each<[claim: string, pod: ApiObject]>([
    ['that the container says itself', podWith('x', { securityContext: profile('Unconfined') })],
    ['that the pod says', podWith('unconfined', {}, { securityContext: profile('Unconfined') })],
    ['of a pod on windows', podWith('unconfined', {}, { os: { name: 'windows' } })],
    ['of no container', podWith('unconfined', { name: 'other' })],
  ])('%s changes nothing', (_claim, pod) => {
    const before = cloneJson(pod['spec'] ?? null);
    expect(prepared(pod)).toEqual([]);
    expect(pod['spec']).toEqual(before);
  });
});

test('the status of a pod is warned of its addresses', () => {
  const status = {
    podIPs: [{ ip: '10.0.0.1' }, { ip: 'FE80::A' }],
    hostIPs: [{ ip: '010.0.0.1' }],
  };
  expect(warningsOf('pods', { status }, {}, 'status')).toEqual([
    'status.podIPs[1].ip: IPv6 address "FE80::A" should be in RFC 5952 canonical format ' +
      '("fe80::a")',
    'status.hostIPs[0].ip: non-standard IP address "010.0.0.1" will be considered invalid in a ' +
      'future Kubernetes release: use "10.0.0.1"',
  ]);
  expect(warningsOf('pods', { status }, {})).toEqual([]);
});

import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import { internalError } from '../../base/status.ts';
import type { ManualClock } from '../../base/testing/manual-clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { ask, namespaceWith, podSecurityPrefix, podWith } from '../testing/pod-security-world.ts';
import type { Told, World } from '../testing/pod-security-world.ts';

const write = (
  before: Readonly<Record<string, string>> | undefined,
  after: Readonly<Record<string, string>>,
  world: World = {},
): Promise<Told> =>
  ask(world, {
    resource: 'namespaces',
    operation: before === undefined ? 'CREATE' : 'UPDATE',
    namespace: '',
    name: 'a',
    object: namespaceWith(after),
    old: before === undefined ? undefined : namespaceWith(before),
  });
const refusal =
  `422 Namespace "a" is invalid: metadata.labels[${podSecurityPrefix}warn]: ` +
  'Invalid value: "x": must be one of privileged, baseline, restricted';

test('a namespace has labels that mean something, unless it had them before', async () => {
  expect((await write(undefined, { warn: 'x' })).outcome).toBe(refusal);
  expect((await write({}, { warn: 'x' })).outcome).toBe(refusal);
  expect((await write({ warn: 'y' }, { warn: 'x' })).outcome).toBe(refusal);
  expect((await write({ warn: 'x' }, { warn: 'x', enforce: 'baseline' })).outcome).toBe('admitted');
  expect((await write(undefined, { enforce: 'restricted' })).outcome).toBe('admitted');
});

const pods = [
  podWith({ hostPID: true }, { name: 'z' }),
  podWith({ hostNetwork: true }, { name: 'b' }),
  podWith({}, { name: 'fine' }),
  podWith({ hostPID: true, volumes: [{ name: 'v', hostPath: {} }] }, { name: 'y' }),
  podWith({ hostIPC: true }, { name: 'm' }),
];

test('a stricter namespace is told of pods that violate it, alike ones together', async () => {
  expect((await write({}, { enforce: 'baseline' }, { pods })).warnings).toEqual([
    'existing pods in namespace "a" violate the new PodSecurity enforce level "baseline:latest"',
    'b (and 2 other pods): host namespaces',
    'y: host namespaces, hostPath volumes',
  ]);
});

test.each([
  ['nothing changes', { enforce: 'baseline' }, { enforce: 'baseline', warn: 'restricted' }],
  ['it becomes laxer', { enforce: 'restricted' }, { enforce: 'baseline' }],
  ['it enforces nothing', { enforce: 'restricted' }, { 'enforce-version': 'v1.1' }],
  ['it goes on enforcing nothing', {}, { enforce: 'privileged', 'enforce-version': 'v1.1' }],
])('a namespace hears nothing where %s', async (_claim, before, after) => {
  expect((await write(before, after, { pods })).warnings).toEqual([]);
});

test('a namespace hears of another version', async () => {
  const after = { enforce: 'baseline', 'enforce-version': 'v1.3' };
  expect((await write({ enforce: 'baseline' }, after, { pods })).warnings[0]).toMatch(/v1\.3/);
});

const configuration = (exemptions: object, defaults: object = {}): object => ({
  apiVersion: 'pod-security.admission.config.svc.io/v1',
  kind: 'PodSecurityConfiguration',
  defaults,
  exemptions,
});

test('a namespace is not told of exempt pods, nor of any when it is exempt', async () => {
  const exempt = [podWith({ hostPID: true, runtimeClassName: 'r' })];
  const byClass = { pods: exempt, configuration: configuration({ runtimeClasses: ['r'] }) };
  expect((await write({}, { enforce: 'baseline' }, byClass)).warnings).toEqual([]);
  const byName = { pods, configuration: configuration({ namespaces: ['a'] }) };
  expect(await write({}, { enforce: 'baseline' }, byName)).toMatchObject({
    warnings: [ignored('enforce=baseline:latest')],
    annotations: { exempt: 'namespace' },
    counted: [],
  });
});

const ignored = (policy: string): string =>
  `namespace "a" is exempt from Pod Security, and the policy (${policy}) will be ignored`;

test.each<[Record<string, string> | undefined, Record<string, string>, string[]]>([
  [undefined, { audit: 'restricted', 'audit-version': 'v1.9' }, [ignored('audit=restricted:v1.9')]],
  [
    {},
    { enforce: 'baseline', warn: 'restricted', audit: 'privileged' },
    [ignored('enforce=baseline:latest, warn=restricted:latest')],
  ],
  [undefined, { enforce: 'privileged', 'enforce-version': 'v1.9' }, []],
  [{}, { warn: 'restricted' }, []],
  [undefined, {}, []],
])('a namespace that is exempt is told so: from %j to %j', async (before, after, warnings) => {
  const world = { pods, configuration: configuration({ namespaces: ['a'] }) };
  expect((await write(before, after, world)).warnings).toEqual(warnings);
});

test('a namespace that is exempt is not told of what holds by default', async () => {
  const world = { configuration: configuration({ namespaces: ['a'] }, { audit: 'baseline' }) };
  expect((await write(undefined, {}, world)).warnings).toEqual([]);
});

describe('with many pods', () => {
  const countMax = limits.podSecurityPodsMax;
  const owned = (uid: string, at: number, spec: JsonObject = {}): ApiObject =>
    podWith(spec, {
      name: `p${String(at)}`,
      ownerReferences: [{ uid, controller: true }],
    });

  test('a namespace has the first of them looked at', async () => {
    const many = Array.from({ length: countMax + 2 }, (_, at) =>
      podWith({}, { name: `p${String(at)}` }),
    );
    expect((await write({}, { enforce: 'baseline' }, { pods: many })).warnings).toEqual([
      `new PodSecurity enforce level only checked against the first ${String(countMax)} of ` +
        `${String(countMax + 2)} existing pods`,
    ]);
  });

  test('a namespace has one of each owner looked at before their others', async () => {
    const many = Array.from({ length: countMax + 2 }, (_, at) => owned('same', at));
    many.push(owned('last', many.length, { hostPID: true }));
    expect((await write({}, { enforce: 'baseline' }, { pods: many })).warnings).toEqual([
      expect.stringMatching(/^new PodSecurity enforce level only checked/),
      expect.stringMatching(/^existing pods/),
      `p${String(countMax + 2)}: host namespaces`,
    ]);
  });

  test('a namespace has them looked at for a while', async () => {
    const onPod = (clock: ManualClock): void => clock.pass(limits.podSecurityPodsMsMax / 8);
    const told = await write({}, { enforce: 'baseline' }, { pods: [...pods, ...pods], onPod });
    expect(told.warnings[0]).toMatch(/first [1-9] of 10 existing pods$/);
    expect(told.warnings.at(-1)).toMatch(/host namespaces/);
  });
});

test('a namespace is changed also where its pods cannot be listed', async () => {
  const told = await write({}, { enforce: 'baseline' }, { pods: internalError('no') });
  expect(told).toMatchObject({
    outcome: 'admitted',
    warnings: ['failed to list pods while checking new PodSecurity enforce level'],
  });
});

import { expect, test } from '@jest/globals';
import { dropDisabledFields } from './gated-fields.ts';
import { cloneJson } from './json-value.ts';
import { noKindRules } from './testing/no-kind-rules.ts';
import { createScheme } from './scheme.ts';
import type { JsonObject, TypeInfo } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const scheme = createScheme({ rules: noKindRules, profile: namingProfile('svc') });

function typeOf(resource: string): TypeInfo {
  const info = scheme.resource({ group: '', version: 'v1', resource });
  if (info === undefined) throw new Error(`${resource} are served`);
  return info.type;
}
const type = typeOf('pods');

const podWith = (spec: JsonObject): JsonObject => ({ metadata: { name: 'p' }, spec });
const gated = (): JsonObject =>
  podWith({
    hostnameOverride: 'a',
    containers: [{ name: 'c', restartPolicyRules: [{ action: 'Restart' }] }],
  });
const without = (...gates: readonly string[]): ReturnType<typeof dropDisabledFields> =>
  dropDisabledFields(type, (gate) => !gates.includes(gate));

test('fields of features that are on stay', () => {
  const pod = gated();
  without()(pod, undefined);
  expect(pod).toEqual(gated());
});

test('fields of features that are off are dropped from new objects, at any depth', () => {
  const pod = gated();
  without('HostnameOverride', 'ContainerRestartRules')(pod, undefined);
  expect(pod).toEqual(podWith({ containers: [{ name: 'c' }] }));
});

test('a field that the stored object uses stays', () => {
  const pod = gated();
  const old = podWith({ hostnameOverride: 'b', containers: [{ name: 'c' }] });
  without('HostnameOverride', 'ContainerRestartRules')(pod, old);
  expect(pod).toEqual(podWith({ hostnameOverride: 'a', containers: [{ name: 'c' }] }));
});

test('a zero value is dropped, and is a use, where presence is tracked', () => {
  const pod = podWith({ hostnameOverride: '' });
  without('HostnameOverride')(pod, undefined);
  expect(pod).toEqual(podWith({}));
  const used = podWith({ hostnameOverride: 'a' });
  without('HostnameOverride')(used, podWith({ hostnameOverride: '' }));
  expect(used).toEqual(podWith({ hostnameOverride: 'a' }));
});

test('a feature may rule a field that its (gate) does not name', () => {
  const stopping = (): JsonObject =>
    podWith({ containers: [{ name: 'c', lifecycle: { stopSignal: 'SIGTERM' } }] });
  const pod = stopping();
  without('ContainerStopSignals')(pod, stopping());
  expect(pod).toEqual(stopping());
  without('ContainerStopSignals')(pod, undefined);
  expect(pod).toEqual(podWith({ containers: [{ name: 'c' }] }));
});

test('a message that may not be left empty goes with its last field', () => {
  const empty = [{ lifecycle: {} }, { lifecycle: { stopSignal: null } }];
  const pod = podWith({ containers: empty });
  const before = cloneJson(pod);
  without('ContainerStopSignals')(pod, undefined);
  expect(pod).toEqual(before);
  const sleeps = { preStop: { sleep: { seconds: 1 } } };
  const more = podWith({ containers: [{ lifecycle: { ...sleeps, stopSignal: 'SIGTERM' } }] });
  without('ContainerStopSignals')(more, undefined);
  expect(more).toEqual(podWith({ containers: [{ lifecycle: sleeps }] }));
});

test('a retired field is dropped whatever the gates say, and kept where it is stored', () => {
  const node = (spec: JsonObject): JsonObject => ({ metadata: { name: 'n' }, spec });
  const drop = dropDisabledFields(typeOf('nodes'), () => true);
  const created = node({ configSource: {} });
  drop(created, undefined);
  expect(created).toEqual(node({}));
  const updated = node({ configSource: {} });
  drop(updated, node({ configSource: { configMap: { name: 'c' } } }));
  expect(updated).toEqual(node({ configSource: {} }));
});

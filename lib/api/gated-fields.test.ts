import { expect, test } from '@jest/globals';
import { dropDisabledFields } from './gated-fields.ts';
import { noKindRules } from './testing/no-kind-rules.ts';
import { createScheme } from './scheme.ts';
import type { JsonObject } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const pods = createScheme({ rules: noKindRules, profile: namingProfile('svc') }).resource({
  group: '',
  version: 'v1',
  resource: 'pods',
});
if (pods === undefined) throw new Error('pods are served');
const { type } = pods;

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

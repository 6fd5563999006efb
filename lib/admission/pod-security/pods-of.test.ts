import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { CheckedPod } from './check.ts';
import { hasPods, isSignificant, podOf } from './pods-of.ts';

const naming = namingProfile('svc');
const pod = { metadata: { annotations: { a: 'b' } }, spec: { hostPID: true } };
const found = { annotations: { a: 'b' }, spec: { hostPID: true }, naming };
const ref = (name: string): { readonly group: string; readonly resource: string } => {
  const [resource = '', group = ''] = name.split('.');
  return { resource, group };
};

test.each([
  ['pods', pod],
  ['podtemplates', { template: pod }],
  ['replicationcontrollers', { spec: { template: pod } }],
  ['daemonsets.apps', { spec: { template: pod } }],
  ['deployments.apps', { spec: { template: pod } }],
  ['replicasets.apps', { spec: { template: pod } }],
  ['statefulsets.apps', { spec: { template: pod } }],
  ['jobs.batch', { spec: { template: pod } }],
  ['cronjobs.batch', { spec: { jobTemplate: { spec: { template: pod } } } }],
])('%s have pods', (name, object) => {
  expect(hasPods(ref(name))).toBe(true);
  expect(podOf(ref(name), object, naming)).toEqual(found);
});

test.each(['configmaps', 'pods.example.com', 'deployments', 'jobs.apps', 'namespaces'])(
  '%s have none',
  (name) => {
    expect(hasPods(ref(name))).toBe(false);
  },
);

test('a workload may have no template, and a pod say nothing', () => {
  const controller = ref('replicationcontrollers');
  expect(podOf(controller, { spec: {} }, naming)).toBeUndefined();
  expect(podOf(ref('pods'), {}, naming)).toEqual({ annotations: {}, spec: {}, naming });
});

describe('an update is looked at', () => {
  const checked = (spec: JsonObject, annotations: JsonObject = {}): CheckedPod => ({
    annotations,
    spec,
    naming,
  });
  const base = {
    containers: [{ name: 'c', image: 'i' }],
    initContainers: [{ name: 'n', image: 'i' }],
    ephemeralContainers: [{ name: 'e', image: 'i' }],
  };
  const seccomp = 'seccomp.security.alpha.svc.io/pod';
  test.each<[string, JsonObject, JsonObject, boolean]>([
    ['nothing changes', {}, {}, false],
    ['an image changes', { containers: [{ name: 'c', image: 'j' }] }, {}, true],
    [
      'an image of an init container changes',
      { initContainers: [{ name: 'n', image: 'j' }] },
      {},
      true,
    ],
    ['containers are added', { containers: [...base.containers, { name: 'd' }] }, {}, true],
    [
      'an ephemeral container is added',
      { ephemeralContainers: [...base.ephemeralContainers, { name: 'f' }] },
      {},
      true,
    ],
    [
      'an ephemeral container changes',
      { ephemeralContainers: [{ name: 'e', image: 'j' }] },
      {},
      true,
    ],
    ['an ephemeral container goes', { ephemeralContainers: [] }, {}, false],
    [
      'resources change',
      { containers: [{ name: 'c', image: 'i', resources: { limits: {} } }] },
      {},
      false,
    ],
    ['the seccomp annotation changes', {}, { [seccomp]: 'x' }, true],
    ['that of a container changes', {}, { [`container.${seccomp.slice(0, -3)}c`]: 'x' }, true],
    ['another annotation changes', {}, { other: 'x' }, false],
    ['tolerations are added', { tolerations: [{}] }, {}, false],
  ])('%s', (_claim, spec, annotations, expected) => {
    const now = checked({ ...base, ...spec }, annotations);
    expect(isSignificant(now, checked(base))).toBe(expected);
  });
});

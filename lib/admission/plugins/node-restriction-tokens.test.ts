// Tokens that nodes ask for.
import { describe, expect, test } from '@jest/globals';
import type { Attributes } from '../../authz/authorizer.ts';
import { defaultGatesOff, refusedOf } from '../testing/node-writes.ts';
import type { Known } from '../testing/cluster.ts';

const token = { path: 't', audience: 'projected' };
const pods = [
  {
    metadata: { name: 'own', namespace: 'ns', uid: 'u1' },
    spec: {
      nodeName: 'n1',
      volumes: [
        { name: 'a', projected: { sources: [{ serviceAccountToken: token }] } },
        { name: 'b', csi: { driver: 'inline' } },
        { name: 'c', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'd', ephemeral: { volumeClaimTemplate: {} } },
        { name: 'e', cinder: { volumeID: 'x' } },
      ],
    },
  },
  {
    metadata: { name: 'plain', namespace: 'ns', uid: 'u2' },
    spec: {
      nodeName: 'n1',
      volumes: [{ name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }],
    },
  },
  { metadata: { name: 'bare', namespace: 'ns', uid: 'u3' }, spec: { nodeName: 'n1' } },
  { metadata: { name: 'other', namespace: 'ns', uid: 'u4' }, spec: { nodeName: 'n2' } },
  {
    metadata: { name: 'lost', namespace: 'ns', uid: 'u5' },
    spec: {
      nodeName: 'n1',
      volumes: [
        { name: 'a', csi: { driver: 'gone' } },
        { name: 'b', persistentVolumeClaim: { claimName: 'gone' } },
      ],
    },
  },
];
const driver = (name: string): object => ({
  metadata: { name },
  spec: { tokenRequests: [{ audience: `for-${name}` }] },
});
const known: Known = {
  memory: {
    pods,
    persistentvolumeclaims: [
      { metadata: { name: 'data', namespace: 'ns' }, spec: { volumeName: 'pv1' } },
      { metadata: { name: 'own-d', namespace: 'ns' }, spec: { volumeName: 'pv2' } },
    ],
    persistentvolumes: [
      { metadata: { name: 'pv1' }, spec: { csi: { driver: 'claimed' } } },
      { metadata: { name: 'pv2' }, spec: { azureDisk: { diskName: 'x' } } },
    ],
    csidrivers: ['inline', 'claimed', 'disk.csi.azure.com', 'cinder.csi.openstack.org'].map(driver),
  },
};

const ask = (spec: object, more: Known = {}, subresource = 'token'): Promise<string | undefined> =>
  refusedOf(
    { resource: 'serviceaccounts', subresource, name: 'robot' },
    { spec },
    { ...known, ...more },
  );

const bound = (name: string, uid: string, audiences: readonly string[] = ['x']): object => ({
  boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
  audiences,
});

describe('a token', () => {
  const unbound = 'node requested token not bound to a pod';

  test.each<[string, object, string | undefined]>([
    ['bound to nothing', {}, unbound],
    [
      'bound to a secret',
      { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } },
      unbound,
    ],
    ['bound to another kind of pod', { boundObjectRef: { kind: 'Pod', name: 'own' } }, unbound],
    ['bound to a pod without a name', bound('', 'u1'), unbound],
    [
      'bound to a pod without a uid',
      bound('own', ''),
      'node requested token with a pod binding without a uid',
    ],
    ['bound to no pod', bound('absent', 'u'), '404 pod "absent" not found'],
    [
      'bound to a pod that is gone',
      bound('own', 'old'),
      'the UID in the bound object reference (old) does not match the UID in record. ' +
        'The object might have been deleted and then recreated',
    ],
    [
      'bound to a pod of another node',
      bound('other', 'u4'),
      'node requested token bound to a pod scheduled on a different node',
    ],
    ['for two audiences', bound('own', 'u1', ['a', 'b']), 'node may only request 0 or 1 audiences'],
  ])('%s', async (_claim, spec, refused) => {
    expect(await ask(spec)).toBe(refused);
  });

  test.each([
    'projected',
    'for-inline',
    'for-claimed',
    'for-disk.csi.azure.com',
    'for-cinder.csi.openstack.org',
  ])('for the audience %s of its pod', async (audience) => {
    expect(await ask(bound('own', 'u1', [audience]))).toBeUndefined();
  });

  test.each<[string, object, string | undefined]>([
    ['the server, which the pod names', bound('plain', 'u2', []), undefined],
    [
      'the server, which the pod does not name',
      bound('bare', 'u3', []),
      'audience "" not found in pod spec volume, system:node:n1 is not authorized to request ' +
        'tokens for this audience',
    ],
    [
      'another audience',
      bound('plain', 'u2'),
      'audience "x" not found in pod spec volume, system:node:n1 is not authorized to request ' +
        'tokens for this audience',
    ],
    [
      'an audience of volumes that are not there',
      bound('lost', 'u5'),
      'error validating audience "x": [csidriver.storage.svc.io "gone" not found, ' +
        'persistentvolumeclaim "gone" not found]',
    ],
  ])('for %s', async (_claim, spec, refused) => {
    expect(await ask(spec)).toBe(refused);
  });

  test('for an audience that the node is permitted', async () => {
    const asked: Attributes[] = [];
    const allows = (attributes: Attributes): boolean => asked.push(attributes) > 0;
    expect(await ask(bound('bare', 'u3'), { allows })).toBeUndefined();
    const [{ verb, group, resource, namespace, name, user } = {} as Attributes] = asked;
    expect([verb, group, resource, namespace, name, user.name]).toEqual([
      'request-serviceaccounts-token-audience',
      '',
      'x',
      'ns',
      'robot',
      'system:node:n1',
    ]);
  });

  test('without its gate any is given', async () => {
    const gatesOff = [...defaultGatesOff, 'ServiceAccountNodeAudienceRestriction'];
    expect(await ask(bound('bare', 'u3', ['a', 'b']), { gatesOff })).toBeUndefined();
  });
});

test('other writes of accounts are for authorization to decide', async () => {
  expect(await ask({}, {}, '')).toBeUndefined();
});

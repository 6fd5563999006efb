// Certificates that nodes ask for.
import { describe, expect, test } from '@jest/globals';
import { defaultGatesOff, nodeUser, refusedOf } from '../testing/node-writes.ts';
import type { Known } from '../testing/cluster.ts';
import { admit } from '../testing/cluster.ts';
import { resourceOf } from '../testing/asked.ts';
import { nodeRestriction } from './node-restriction.ts';

/** DER: a tag, a length of one byte, and what is in it. */
const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const bytes = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes]);
};

/** A request of the common name, in PEM and base64, as far as it is read. */
function requestOf(commonName: string): string {
  const id = Buffer.from('550403', 'hex');
  const part = der(0x31, der(0x30, der(0x06, id), der(0x0c, Buffer.from(commonName))));
  const info = der(0x30, der(0x02, Buffer.from([0])), der(0x30, part), der(0x30), der(0xa0));
  const body = der(0x30, info).toString('base64');
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
  return Buffer.from(pem).toString('base64');
}

describe('a signing request', () => {
  const write = {
    resource: 'certificatesigningrequests',
    group: 'certificates.{v}',
    name: 'x',
  } as const;
  const serving = 'svc.io/kubelet-serving';
  const client = 'svc.io/svc-apiserver-client-kubelet';
  const foreign = requestOf('system:node:n2');
  const only = 'can only create a node CSR with CN=system:node:n1';
  const twice = Buffer.from(
    Buffer.from(requestOf('system:node:n1'), 'base64').toString() +
      Buffer.from(foreign, 'base64').toString(),
  ).toString('base64');
  const unread = 'unable to parse csr: it must be one block of PEM';

  test.each([
    ['as itself to a client', client, requestOf('system:node:n1'), undefined],
    ['as itself to serve', serving, requestOf('system:node:n1'), undefined],
    ['as another node to a client', client, foreign, only],
    ['as another node to serve', serving, foreign, only],
    ['as somebody', client, requestOf('jane'), only],
    ['that cannot be read', client, 'bm8gcGVt', unread],
    ['in two blocks', client, twice, unread],
    ['for a signer that looks itself', 'example.com/signer', foreign, undefined],
  ])('%s', async (_claim, signerName, request, refused) => {
    expect(await refusedOf(write, { spec: { signerName, request } })).toBe(refused);
  });

  test('with its gate it is not looked at', async () => {
    const known: Known = { gatesOff: ['PodCertificateRequest'] };
    const object = { spec: { signerName: client, request: foreign } };
    expect(await refusedOf(write, object, known)).toBeUndefined();
  });
});

describe('a request for a pod', () => {
  const resource = {
    ...resourceOf('certificatesigningrequests', 'certificates.{v}'),
    resource: 'podcertificaterequests',
  };
  const memory = {
    nodes: [{ metadata: { name: 'n1', uid: 'node-uid' } }],
    serviceaccounts: [{ metadata: { name: 'robot', namespace: 'ns', uid: 'account-uid' } }],
    pods: [
      {
        metadata: { name: 'own', namespace: 'ns', uid: 'pod-uid' },
        spec: { nodeName: 'n1', serviceAccountName: 'robot' },
      },
      {
        metadata: { name: 'other', namespace: 'ns', uid: 'pod-uid' },
        spec: { nodeName: 'n2', serviceAccountName: 'robot' },
      },
      {
        metadata: {
          name: 'mirror',
          namespace: 'ns',
          uid: 'pod-uid',
          annotations: { 'svc.io/config.mirror': '' },
        },
        spec: { nodeName: 'n1' },
      },
    ],
  };
  const ask = async (
    change: object,
    write: object = {},
    gatesOff: readonly string[] = [],
  ): Promise<string | undefined> => {
    const spec = {
      podName: 'own',
      podUID: 'pod-uid',
      nodeName: 'n1',
      nodeUID: 'node-uid',
      serviceAccountName: 'robot',
      serviceAccountUID: 'account-uid',
      ...change,
    };
    const request = { resource, user: nodeUser('n1'), namespace: 'ns', name: 'x', ...write };
    const { refused } = await admit(nodeRestriction, { memory, gatesOff }, { spec }, request);
    return refused?.replace(/^\d+ (.* is forbidden: |Operation .* "x": )/, '');
  };

  test.each<[string, object, string | undefined]>([
    ['of its own', {}, undefined],
    [
      'of another node',
      { nodeName: 'n2' },
      'PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"',
    ],
    [
      'by a node that was replaced',
      { nodeUID: 'old' },
      'PodCertificateRequest for pod "ns/own" names node UID "old", inconsistent with the ' +
        'running node ("node-uid")',
    ],
    ['that is not there', { podName: 'absent' }, '404 pod "absent" not found'],
    [
      'that was replaced',
      { podUID: 'old' },
      'PodCertificateRequest for pod "ns/own" contains pod UID ("old") which differs from ' +
        'running pod "pod-uid"',
    ],
    [
      'on another node',
      { podName: 'other' },
      'pod "ns/other" is not running on node "n1" named in the PodCertificateRequest',
    ],
    ['that the node runs by itself', { podName: 'mirror' }, 'pod "ns/mirror" is a mirror pod'],
    [
      'of another account',
      { serviceAccountName: 'admin' },
      'PodCertificateRequest for pod "ns/own" contains serviceAccountName ("admin") that ' +
        'differs from running pod ("robot")',
    ],
    [
      'of an account that was replaced',
      { serviceAccountUID: 'old' },
      'PodCertificateRequest for pod "ns/own" names service account UID "old", which differs ' +
        'from the running service account ("account-uid")',
    ],
  ])('%s', async (_claim, change, refused) => {
    expect(await ask(change)).toBe(refused);
  });

  test.each([
    [{ operation: 'DELETE' }, 'unexpected operation DELETE'],
    [{ subresource: 'status' }, 'unexpected subresource status'],
  ])('is only made: %j', async (write, refused) => {
    expect(await ask({}, write)).toBe(refused);
  });

  test('is none without its gate', async () => {
    expect(await ask({}, {}, defaultGatesOff)).toBe(
      'PodCertificateRequest feature gate is disabled',
    );
  });
});

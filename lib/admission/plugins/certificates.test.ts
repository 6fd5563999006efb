import { describe, expect, test } from '@jest/globals';
import type { Attributes } from '../../authz/authorizer.ts';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificates.ts';

const requests = resourceOf('certificatesigningrequests', 'certificates.{v}');
const signer = 'example.com/signer';
const asText = ({ verb, group, resource, name }: Attributes): string =>
  `${verb} ${group}/${resource} ${name}`;
const granting =
  (...granted: readonly string[]) =>
  (attributes: Attributes): boolean =>
    granted.includes(asText(attributes));
const grants = (verb: string): readonly (readonly [string, boolean])[] => [
  [`${verb} certificates.svc.io/signers example.com/signer`, true],
  [`${verb} certificates.svc.io/signers example.com/*`, true],
  [`${verb} certificates.svc.io/signers example.com/other`, false],
  [`get certificates.svc.io/signers example.com/signer`, false],
];
const request = (status: object = {}): object => ({
  metadata: { name: 'x' },
  spec: { signerName: signer },
  status,
});

describe.each([
  ['approval', certificateApproval, 'approve', 'approve requests with signerName'],
  ['status', certificateSigning, 'sign', 'sign requests with signerName'],
] as const)('a write of the %s of a request', (subresource, plugin, verb, what) => {
  const change = { resource: requests, namespace: '', operation: 'UPDATE', subresource } as const;
  const [old, object] = [request(), request({ certificate: 'Yw==' })];

  test.each(grants(verb))('by who may %s: %s', async (granted, isAllowed) => {
    const known = { allows: granting(granted) };
    const { refused } = await admit(plugin, known, object, { ...change, old });
    const text =
      '403 certificatesigningrequests.certificates.svc.io "x" is forbidden: user not permitted ' +
      `to ${what} "example.com/signer"`;
    expect(refused).toBe(isAllowed ? undefined : text);
  });

  test('p.CertificateApproval, p.CertificateSigning: is of the signer that is stored', async () => {
    const other = { ...object, spec: { signerName: 'example.com/other' } };
    const known = { allows: granting(`${verb} certificates.svc.io/signers example.com/other`) };
    expect((await admit(plugin, known, other, { ...change, old })).refused).toMatch(
      /not permitted/,
    );
  });
});

test('p.CertificateSigning: a status that keeps what counts needs no permission', async () => {
  const change = { resource: requests, operation: 'UPDATE', subresource: 'status' } as const;
  const object = { ...request({ conditions: [] }), metadata: { name: 'x', labels: { a: 'b' } } };
  const old = request({ conditions: [] });
  expect((await admit(certificateSigning, {}, object, { ...change, old })).refused).toBeUndefined();
});

/** DER: a tag, a length of at most two bytes, and what is in it. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(content);
  const length = bytes.length < 128 ? [bytes.length] : [0x81, bytes.length];
  return Buffer.concat([Buffer.from([tag, ...length]), bytes]);
}

const organizationId = Buffer.from('55040a', 'hex');
const utf8Tag = 0x0c;
const bmpTag = 0x1e;

/** A request in PEM of the organization, as far as plugins read one. */
function pemOf(organization: Buffer, tag: number): string {
  const part = der(0x31, der(0x30, der(0x06, organizationId), der(tag, organization)));
  const info = der(0x30, der(0x02, Buffer.from([0])), der(0x30, part), der(0x30), der(0xa0));
  const body = der(0x30, info).toString('base64');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
}

describe('a new request to the signer of client certificates', () => {
  const client = 'svc.io/svc-apiserver-client';
  const masters = pemOf(Buffer.from('system:masters'), utf8Tag);
  const team = pemOf(Buffer.from('team'), utf8Tag);
  const wide = Buffer.from('system:masters', 'utf16le').swap16();
  const refusedText =
    /use of svc\.io\/svc-apiserver-client signer with system:masters group is not/;

  test.each([
    ['of masters', masters, client, refusedText],
    ['of masters in wide letters', pemOf(wide, bmpTag), client, refusedText],
    ['of a team', team, client, undefined],
    ['of masters to another signer', masters, signer, undefined],
    ['in two blocks', team + masters, client, /failed to parse CSR/],
    ['in no block', 'text', client, /failed to parse CSR/],
  ])('p.CertificateSubjectRestriction: %s', async (_claim, pem, signerName, message) => {
    const spec = { signerName, request: Buffer.from(pem).toString('base64') };
    const change = { resource: requests, namespace: '' };
    const { refused } = await admit(certificateSubjectRestriction, {}, { spec }, change);
    if (message === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(message);
  });
});

describe('a trust bundle', () => {
  const resource = resourceOf('certificatesigningrequests', 'certificates.{v}');
  const bundles = { ...resource, resource: 'clustertrustbundles' };
  const bundle = (signerName: string, metadata: object = {}): object => ({
    metadata: { name: 'x', ...metadata },
    spec: { signerName, trustBundle: 'pem' },
  });
  const change = { resource: bundles, namespace: '' };

  test.each(grants('attest'))(
    'p.ClusterTrustBundleAttest: by who may %s: %s',
    async (granted, isAllowed) => {
      const known = { allows: granting(granted) };
      const { refused } = await admit(clusterTrustBundleAttest, known, bundle(signer), change);
      if (isAllowed) expect(refused).toBeUndefined();
      else
        expect(refused).toMatch(
          /user not permitted to attest for signerName "example.com\/signer"$/,
        );
    },
  );

  test('of no signer needs no permission', async () => {
    const { refused } = await admit(clusterTrustBundleAttest, {}, bundle(''), change);
    expect(refused).toBeUndefined();
  });

  test.each([
    [{ finalizers: ['a/b'], resourceVersion: '2' }, undefined],
    [{ labels: { a: 'b' } }, /not permitted to attest/],
  ])('an update of %j', async (metadata, message) => {
    const update = { ...change, operation: 'UPDATE', old: bundle(signer) } as const;
    const made = bundle(signer, metadata);
    const { refused } = await admit(clusterTrustBundleAttest, {}, made, update);
    if (message === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(message);
  });

  test('is left alone without its feature gate', async () => {
    const known = { gatesOff: ['ClusterTrustBundle'] };
    const asked = admit(clusterTrustBundleAttest, known, bundle(signer), change);
    await expect(asked).rejects.toThrow(/nothing for the plugin to do/);
  });
});

// Bodies name their kind: one that is not the path's is refused for that, in every encoding, and in
// Protobuf before anything of the object is read.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import { createEncodings } from '../codec/encodings.ts';
import { envelope } from '../codec/protobuf.ts';
import { ApiOnEtcd } from './testing/api-on-etcd.ts';

const naming = namingProfile('svc');
let api: ApiOnEtcd;

beforeAll(async () => {
  api = await ApiOnEtcd.start();
});
afterAll(() => api.stop());

const configMaps = '/api/v1/namespaces/n/configmaps';
async function refused(
  line: string,
  sent: { readonly contentType: string; readonly body: Uint8Array },
): Promise<readonly [code: number, message: string]> {
  const { code, message } = (await api.send(line, sent)).json as { code: number; message: string };
  return [code, message];
}

const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } };
const secretType = builtInScheme({ profile: naming }).type('core/v1.Secret');
const encoded = createEncodings(naming).map(
  ({ mediaType, codec }) => [mediaType, codec.encode(secret, secretType)] as const,
);

test.each(encoded)('a Secret for config maps in %s', async (contentType, body) => {
  const text =
    'Secret in version "v1" cannot be handled as a ConfigMap: ' +
    'this path takes ConfigMap in version "v1"';
  expect(await refused(`POST ${configMaps}`, { contentType, body })).toEqual([400, text]);
  expect(await refused(`PUT ${configMaps}/a`, { contentType, body })).toEqual([400, text]);
});

test.each([
  ['kind', { kind: 'Secret', apiVersion: 'v1' }, 'Secret in version "v1"'],
  ['version', { kind: 'ConfigMap', apiVersion: 'v2' }, 'ConfigMap in version "v2"'],
  ['group', { kind: 'ConfigMap', apiVersion: 'apps/v1' }, 'ConfigMap in version "apps/v1"'],
])('a Protobuf message of another %s is not read', async (_what, named, text) => {
  const contentType = naming.protobufMediaType;
  const body = envelope(Buffer.from([0x0a, 0xff]), named); // a length beyond the end
  const [code, message] = await refused(`POST ${configMaps}`, { contentType, body });
  expect([code, message.split(' cannot be')[0]]).toEqual([400, text]);
});

test('a Protobuf message that names nothing is the path’s', async () => {
  const contentType = naming.protobufMediaType;
  const message = Buffer.from([0x0a, 0x03, 0x0a, 0x01, 0x61]);
  const body = envelope(message, { kind: '', apiVersion: '' });
  expect((await api.send(`POST ${configMaps}`, { body, contentType })).status).toBe(201);
});

test('the body of a DELETE is DeleteOptions in Protobuf too', async () => {
  const contentType = naming.protobufMediaType;
  const body = envelope(Buffer.from([0x0a, 0xff]), { kind: 'Pod', apiVersion: 'v1' });
  expect(await refused(`DELETE ${configMaps}/a`, { contentType, body })).toEqual([
    400,
    'the body of a DELETE must be DeleteOptions, not Pod',
  ]);
});

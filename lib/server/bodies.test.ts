// Bodies name their kind: one that is not the path's is refused for that, in every encoding, and in
// Protobuf before anything of the object is read.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import { createEncodings } from '../codec/encodings.ts';
import { envelope } from '../codec/protobuf.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import { startApiServer } from './testing/api-server.ts';
import { request1 } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

const naming = namingProfile('svc');
let registry: RegistryOnEtcd;
let server: TestServer;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  server = await startApiServer(await registry.replica());
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registry.stop();
});

const configMaps = '/api/v1/namespaces/n/configmaps';
async function refused(
  method: string,
  path: string,
  sent: { readonly type: string; readonly body: Uint8Array },
): Promise<readonly [code: number, message: string]> {
  const { type, body } = sent;
  const headers = { 'content-type': type, 'content-length': body.length };
  const answer = await request1(server, path, { method, headers, body });
  const { code, message } = JSON.parse(answer.body.toString()) as { code: number; message: string };
  return [code, message];
}

const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } };
const secretType = builtInScheme({ profile: naming }).type('core/v1.Secret');
const encoded = createEncodings(naming).map(
  ({ mediaType, codec }) => [mediaType, codec.encode(secret, secretType)] as const,
);

test.each(encoded)('a Secret for config maps in %s', async (type, body) => {
  const text =
    'Secret in version "v1" cannot be handled as a ConfigMap: ' +
    'this path takes ConfigMap in version "v1"';
  expect(await refused('POST', configMaps, { type, body })).toEqual([400, text]);
  expect(await refused('PUT', `${configMaps}/a`, { type, body })).toEqual([400, text]);
});

test.each([
  ['kind', { kind: 'Secret', apiVersion: 'v1' }, 'Secret in version "v1"'],
  ['version', { kind: 'ConfigMap', apiVersion: 'v2' }, 'ConfigMap in version "v2"'],
  ['group', { kind: 'ConfigMap', apiVersion: 'apps/v1' }, 'ConfigMap in version "apps/v1"'],
])('a Protobuf message of another %s is not read', async (_what, named, text) => {
  const type = naming.protobufMediaType;
  const body = envelope(Buffer.from([0x0a, 0xff]), named); // a length beyond the end
  const [code, message] = await refused('POST', configMaps, { type, body });
  expect([code, message.split(' cannot be')[0]]).toEqual([400, text]);
});

test('a Protobuf message that names nothing is the path’s', async () => {
  const type = naming.protobufMediaType;
  const message = Buffer.from([0x0a, 0x03, 0x0a, 0x01, 0x61]);
  const body = envelope(message, { kind: '', apiVersion: '' });
  const options = { method: 'POST', headers: { 'content-type': type }, body };
  expect((await request1(server, configMaps, options)).status).toBe(201);
});

test('the body of a DELETE is DeleteOptions in Protobuf too', async () => {
  const type = naming.protobufMediaType;
  const body = envelope(Buffer.from([0x0a, 0xff]), { kind: 'Pod', apiVersion: 'v1' });
  expect(await refused('DELETE', `${configMaps}/a`, { type, body })).toEqual([
    400,
    'the body of a DELETE must be DeleteOptions, not Pod',
  ]);
});

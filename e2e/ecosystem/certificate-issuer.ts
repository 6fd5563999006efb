// Keeps certificates: a secret for each custom object that wants one, its CA in every configuration
// and definition that asks for it by annotation, and new ones when the object says so. First both
// CAs are trusted everywhere, then the new certificate is served. It converts its own kind.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import { ApiClient, decoded, pairOf, repeat, secretPath, startOf, tellPort } from './api-client.ts';
import type { Known } from './api-client.ts';
import { ReviewServer } from './review-server.ts';
import type { Answering } from './review-server.ts';

interface Wanted {
  readonly namespace: string;
  readonly secretName: string;
  readonly dnsName: string;
  readonly rotation?: number;
}

const start = startOf();
const client = new ApiClient(start);
const registration = '/apis/admissionregistration.k8s.io/v1';
const asks = 'certs.example.com/inject-ca-from';
const rotationKey = 'certs.example.com/rotation';
const encode = (text: string): string => Buffer.from(text).toString('base64');

async function newPair(dnsName: string): Promise<{ ca: string; cert: string; key: string }> {
  const ca = await createTestCa(`issuer-ca-${randomUUID()}`);
  const names = [dnsName, '127.0.0.1'];
  const { cert, key } = await ca.issue({ use: 'serverAuth', commonName: 'served', names });
  return { ca: ca.cert, cert, key };
}

/** Everything with a CA to be put in, and where in it. */
interface Place {
  readonly path: string;
  readonly object: Known;
  readonly pointers: readonly string[];
  readonly secret: string;
  readonly bundles: readonly (string | undefined)[];
}
async function places(): Promise<readonly Place[]> {
  const found: Place[] = [];
  const add = (base: string, object: Known, configs: readonly [string, JsonObject][]): void => {
    const secret = object.metadata.annotations?.[asks];
    if (secret === undefined) return;
    found.push({
      path: `${base}/${object.metadata.name}`,
      object,
      secret,
      pointers: configs.map(([pointer]) => `${pointer}/clientConfig/caBundle`),
      bundles: configs.map(
        ([, config]) =>
          (config['clientConfig'] as JsonObject)['caBundle'] as unknown as string | undefined,
      ),
    });
  };
  for (const kind of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']) {
    for (const object of await client.list(`${registration}/${kind}`)) {
      const webhooks = (object['webhooks'] ?? []) as unknown as JsonObject[];
      add(
        `${registration}/${kind}`,
        object,
        webhooks.map((one, index) => [`/webhooks/${String(index)}`, one]),
      );
    }
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const object of await client.list(definitions)) {
    const conversion = (object['spec'] as JsonObject)['conversion'] as JsonObject;
    const webhook = conversion['webhook'] as JsonObject | undefined;
    if (webhook !== undefined) add(definitions, object, [['/spec/conversion/webhook', webhook]]);
  }
  return found;
}

async function inject(place: Place): Promise<void> {
  const [namespace = '', name = ''] = place.secret.split('/');
  const secret = await client.find(secretPath(namespace, name));
  if (secret === undefined) return;
  const value = encode(decoded(secret, 'ca.crt'));
  if (place.bundles.every((one) => one === value)) return;
  const { resourceVersion } = place.object.metadata;
  await client.request('PATCH', place.path, [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    ...place.pointers.map((path) => ({ op: 'add', path, value })),
  ]);
}

async function keep(wanted: Wanted): Promise<void> {
  const { namespace, secretName, dnsName, rotation = 0 } = wanted;
  const path = secretPath(namespace, secretName);
  const secret = await client.find(path);
  if (secret === undefined) {
    const { ca, cert, key } = await newPair(dnsName);
    await client.request('POST', path.slice(0, path.lastIndexOf('/')), {
      metadata: { name: secretName, annotations: { [rotationKey]: String(rotation) } },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': encode(cert), 'tls.key': encode(key), 'ca.crt': encode(ca) },
    });
    return;
  }
  if (secret.metadata.annotations?.[rotationKey] === String(rotation)) return;
  const { 'next.crt': cert, 'next.key': key, ...data } = secret['data'] as Record<string, string>;
  if (cert === undefined || key === undefined) {
    const next = await newPair(dnsName);
    await client.request('PUT', path, {
      ...secret,
      data: {
        ...data,
        'ca.crt': encode(next.ca + decoded(secret, 'ca.crt')),
        'next.crt': encode(next.cert),
        'next.key': encode(next.key),
      },
    });
    return;
  }
  const bundle = data['ca.crt'];
  const trusting = (await places()).filter((one) => one.secret === `${namespace}/${secretName}`);
  if (!trusting.every(({ bundles }) => bundles.every((one) => one === bundle))) return;
  const annotations = { ...secret.metadata.annotations, [rotationKey]: String(rotation) };
  await client.request('PUT', path, {
    ...secret,
    metadata: { ...secret.metadata, annotations },
    data: { ...data, 'tls.crt': cert, 'tls.key': key },
  });
}

const convert: Answering = ({ objects, desiredAPIVersion }) => ({
  result: { status: 'Success' },
  convertedObjects: objects.map(({ spec, ...rest }): JsonObject => {
    const { secret, secretName = secret, ...others } = spec as JsonObject;
    const key = desiredAPIVersion.endsWith('/v1') ? 'secretName' : 'secret';
    return {
      ...rest,
      apiVersion: desiredAPIVersion,
      spec: { ...others, ...(secretName === undefined ? {} : { [key]: secretName }) },
    };
  }),
});
const validate: Answering = ({ object }) =>
  (object['spec'] as JsonObject)['secretName'] === ''
    ? { allowed: false, status: { message: 'a certificate is for a secret' } }
    : { allowed: true };

const own = { namespace: 'certs', secretName: 'issuer-tls', dnsName: 'issuer.certs.svc' };
const ownPath = secretPath(own.namespace, own.secretName);
let mine = await client.find(ownPath);
while (mine === undefined) {
  await keep(own);
  mine = await client.find(ownPath);
}
let pair = pairOf(mine);
const server = await ReviewServer.start(
  { '/convert': convert, '/validate': validate },
  { ...pair, port: start.port },
);
tellPort(server.port);
await repeat(async () => {
  const now = await client.find(ownPath);
  if (now !== undefined && pairOf(now).cert !== pair.cert) {
    pair = pairOf(now);
    server.present(pair);
  }
  for (const { metadata, spec } of await client.list('/apis/certs.example.com/v1/certificates')) {
    const wanted = spec as unknown as Wanted;
    await keep({ ...wanted, namespace: metadata.namespace ?? '' });
  }
  for (const place of await places()) await inject(place);
});

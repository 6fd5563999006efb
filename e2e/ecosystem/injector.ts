// A sidecar injector: adds its container to each pod and points the others at it, also those that
// came after it was first asked. Its certificate is in a secret that another add-on renews.
import type { JsonObject } from '../../lib/api/type-info.ts';
import { ApiClient, pairOf, repeat, secretPath, serving, startOf, tellPort } from './api-client.ts';
import { patching, ReviewServer } from './review-server.ts';
import type { Answering } from './review-server.ts';

const inject: Answering = ({ object }) => {
  const containers = (object['spec'] as JsonObject)['containers'] as JsonObject[];
  const operations = containers.flatMap(({ name, env }, index) => {
    const path = `/spec/containers/${String(index)}/env`;
    const value = [{ name: 'PROXY', value: 'sidecar' }];
    return name === 'sidecar' || env !== undefined ? [] : [{ op: 'add', path, value }];
  });
  const has = containers.some(({ name }) => name === 'sidecar');
  const sidecar = { op: 'add', path: '/spec/containers/-', value: { name: 'sidecar', image: 's' } };
  return patching(has ? operations : [...operations, sidecar]);
};

const start = startOf();
const client = new ApiClient(start);
let pair = pairOf(await serving(client, 'mesh', 'injector-tls'));
const server = await ReviewServer.start({ '/inject': inject }, { ...pair, port: start.port });
tellPort(server.port);
await repeat(async () => {
  const secret = await client.find(secretPath('mesh', 'injector-tls'));
  if (secret === undefined || pairOf(secret).cert === pair.cert) return;
  pair = pairOf(secret);
  server.present(pair);
});

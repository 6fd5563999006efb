// Logs, exec, attach, port-forward and proxies: what can be refused is refused as it should be, and
// what is left is 501.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { ApiOnEtcd } from './testing/api-on-etcd.ts';

let api: ApiOnEtcd;
const root = '/api/v1/namespaces/n';

beforeAll(async () => {
  api = await ApiOnEtcd.start();
  await api.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  await api.send('POST /api/v1/nodes', { body: { metadata: { name: 'node' } } });
  const one = { name: 'c', image: 'i' };
  await newPod('placed', { nodeName: 'node', containers: [one] });
  await newPod('free', { containers: [one] });
  await newPod('lost', { nodeName: 'gone', containers: [one] });
  const init = { name: 'i', image: 'i' };
  const containers = [one, { name: 'd', image: 'i' }];
  await newPod('two', { nodeName: 'node', containers, initContainers: [init] });
  const status = { phase: 'Running', podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] };
  await send('PATCH', 'pods/placed/status', { status });
  const spec = { clusterIP: 'None', ports: [{ name: 'web', port: 80 }] };
  for (const name of ['served', 'idle']) {
    await send('POST', 'services', { metadata: { name }, spec });
  }
  await api.send(
    `POST ${api.replica.naming.resolve('/apis/discovery.{v}/v1')}/namespaces/n/endpointslices`,
    {
      body: {
        metadata: {
          name: 'served',
          labels: { [api.replica.naming.resolve('{kubernetes}.io/service-name')]: 'served' },
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.0.0.1'] }],
      },
    },
  );
});
afterAll(() => api.stop());

async function send(method: string, path: string, body?: object): Promise<number> {
  return api.statusOf(`${method} ${root}/${path}`, body === undefined ? {} : { body });
}

async function newPod(name: string, spec: object): Promise<void> {
  const made = await send('POST', 'pods', { metadata: { name }, spec });
  if (made !== 201) throw new Error(`${name}: ${String(made)}`);
}

const exec = 'exec?command=ls&stdout=1';

test.each<[string, number, string]>([
  ['GET pods/none/log', 404, 'pods "none" not found'],
  ['GET pods/placed/log', 501, 'reading the log of a container is not implemented'],
  ['GET pods/placed/log?container=c&follow=true&tailLines=0', 501, 'not implemented'],
  ['GET pods/placed/log?container=x', 400, 'container x is not valid for pod placed'],
  ['GET pods/two/log', 400, 'choose one of: [i c d]'],
  ['GET pods/two/log?container=i', 501, 'not implemented'],
  ['GET pods/lost/log', 503, 'node "gone", which is unknown'],
  ['GET pods/placed/log?tailLines=many', 400, 'tailLines'],
  ['GET pods/placed/log?tailLines=-1', 422, 'tailLines: Invalid value: -1'],
  ['GET pods/placed/log?limitBytes=0', 422, 'limitBytes'],
  ['GET pods/placed/log?sinceSeconds=0', 422, 'sinceSeconds'],
  ['GET pods/placed/log?sinceTime=soon', 400, 'sinceTime'],
  ['GET pods/placed/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z', 422, 'at most one of'],
  ['GET pods/placed/log?stream=Other', 422, 'stream: Unsupported value'],
  ['GET pods/placed/log?stream=Stdout&tailLines=1', 422, 'mutually exclusive'],
  ['POST pods/placed/log', 405, ''],
  ['GET pods/placed/log/more', 404, ''],
  [`GET pods/none/${exec}`, 404, 'pods "none" not found'],
  [`GET pods/placed/${exec}`, 501, 'running a command in a container is not implemented'],
  [`POST pods/placed/${exec}`, 501, 'not implemented'],
  [`POST pods/free/${exec}`, 400, 'pod free does not have a host assigned'],
  [`POST pods/lost/${exec}`, 503, 'unknown'],
  [`POST pods/two/${exec}`, 400, 'a container name must be specified'],
  ['POST pods/placed/exec?stdout=true', 400, 'command'],
  ['POST pods/placed/exec?command=ls&stdin=false', 400, 'at least 1 of stdin, stdout, stderr'],
  [`DELETE pods/placed/${exec}`, 405, ''],
  ['POST pods/placed/attach?stdin=1', 501, 'attaching to a container is not implemented'],
  ['POST pods/placed/attach', 400, 'at least 1 of'],
  ['POST pods/placed/portforward', 501, 'forwarding ports to a pod is not implemented'],
  ['GET pods/placed/portforward?ports=80&ports=81', 501, 'not implemented'],
  ['POST pods/placed/portforward?dryRun=All', 400, 'dryRun is not supported'],
  ['GET pods/none/exec?dryRun=', 400, 'dryRun is not supported'],
  ['GET pods/placed/portforward?ports=http', 400, 'ports'],
  ['GET pods/placed/portforward?ports=0', 400, 'ports'],
  ['POST pods/free/portforward', 400, 'does not have a host assigned'],
  ['GET pods/none/proxy', 404, 'pods "none" not found'],
  ['GET pods/placed/proxy', 501, 'a proxy to a pod is not implemented'],
  ['DELETE pods/https:placed:8443/proxy/some/path?x=y', 501, 'not implemented'],
  ['GET pods/ftp:placed:1/proxy', 400, 'invalid pod request'],
  ['GET pods/free/proxy', 400, 'does not have an address'],
  ['GET services/none/proxy', 404, 'services "none" not found'],
  ['PUT services/served:web/proxy/', 501, 'a proxy to a service is not implemented'],
  ['PATCH services/http:served:80/proxy/x', 501, 'not implemented'],
  ['GET services/served:other/proxy', 503, 'no service port "other" found'],
  ['GET services/idle/proxy', 503, 'no endpoints available for service "idle"'],
])('%s is %i: %s', async (request, code, text) => {
  const [method, path] = request.split(' ');
  const answer = await api.send(`${method ?? ''} ${root}/${path ?? ''}`);
  expect(answer.status).toBe(code);
  const { message, reason, kind } = answer.json as JsonObject;
  expect(kind).toBe('Status');
  expect(message).toContain(text);
  if (code === 501) expect(reason).toBe('NotImplemented');
});

test.each([
  ['GET', 'node', 501],
  ['POST', 'node:10250', 501],
  ['GET', 'none', 404],
])('%s of the proxy of the node %s is %i', async (method, name, code) => {
  expect((await api.send(`${method} /api/v1/nodes/${name}/proxy/healthz`)).status).toBe(code);
});

test('the log of a pod that no node has yet is empty', async () => {
  const answer = await api.send(`GET ${root}/pods/free/log`);
  expect([answer.status, answer.body.length]).toEqual([204, 0]);
});

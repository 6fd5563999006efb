// What a proxy asks for: `NAME`, `NAME:PORT` or `SCHEME:NAME:PORT` of a node, a pod or a service
// that can be reached.
import { listAt, numberAt, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { badRequest, serviceUnavailable } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { getObject } from '../read.ts';
import type { ConnectRequest } from '../requests.ts';
import type { StoreParts } from '../store-parts.ts';

interface Target {
  readonly name: string;
  /** A number or a name; '' where none is given. */
  readonly port: string;
}

/** @throws StatusError 400. */
function targetOf({ path }: ConnectRequest, what: string): Target {
  const parts = path.name.split(':');
  const [scheme = '', name = '', port = ''] =
    parts.length === 1 ? ['', ...parts] : parts.length === 2 ? ['', ...parts] : parts;
  if (name === '' || parts.length > 3 || !['', 'http', 'https'].includes(scheme)) {
    throw badRequest(`invalid ${what} request ${JSON.stringify(path.name)}`);
  }
  return { name, port };
}

/** As of now, whatever memory has. @throws StatusError 404. */
async function objectOf(
  parts: StoreParts,
  { path, signal }: ConnectRequest,
  name: string,
): Promise<Readonly<ApiObject>> {
  const request = { path: { ...path, name }, options: { resourceVersion: '' }, signal };
  return (await getObject(parts, request)).object();
}

export async function checkNodeProxy(
  parts: StoreParts,
  request: ConnectRequest,
): Promise<undefined> {
  await objectOf(parts, request, targetOf(request, 'node').name);
}

export async function checkPodProxy(
  parts: StoreParts,
  request: ConnectRequest,
): Promise<undefined> {
  const { name } = targetOf(request, 'pod');
  const pod = await objectOf(parts, request, name);
  if (textAt(recordAt(pod, 'status'), 'podIP') === '') {
    throw badRequest(`pod ${name} does not have an address`);
  }
}

export async function checkServiceProxy(
  parts: StoreParts,
  request: ConnectRequest,
): Promise<undefined> {
  const { name, port } = targetOf(request, 'service');
  const service = await objectOf(parts, request, name);
  const ports = recordsAt(recordAt(service, 'spec'), 'ports');
  const isServed = ports.some(
    (one) => textAt(one, 'name') === port || String(numberAt(one, 'port')) === port,
  );
  if (port !== '' && !isServed) {
    throw serviceUnavailable(`no service port ${JSON.stringify(port)} found for service "${name}"`);
  }
  if (!(await hasEndpoints(parts, request, name))) {
    throw serviceUnavailable(`no endpoints available for service "${name}"`);
  }
}

async function hasEndpoints(
  parts: StoreParts,
  { path, signal }: ConnectRequest,
  service: string,
): Promise<boolean> {
  const group = parts.naming.resolve('discovery.{v}');
  const slices = parts.partsOf({ group, resource: 'endpointslices' });
  const label = parts.naming.resolve('{kubernetes}.io/service-name');
  const { items = [] } =
    (await slices?.view.list(
      { namespace: path.namespace, labels: (labels) => labels[label] === service },
      { mode: 'any' },
      { limitCount: 0 },
      signal,
    )) ?? {};
  return items.some((item) =>
    recordsAt(item.object(), 'endpoints').some(
      (one) =>
        listAt(one, 'addresses').length > 0 &&
        valueAt(recordAt(one, 'conditions'), 'ready') !== false,
    ),
  );
}

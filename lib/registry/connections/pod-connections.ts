// What log, exec, attach and port-forward ask for: the pod, its container, the options, the node
// that runs it. Options that a node would refuse are refused here already.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { badRequest, invalid, serviceUnavailable, StatusError } from '../../base/status.ts';
import type { FieldError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { containerLists } from '../../kinds/core/pod-systems.ts';
import { booleanOf, integerOf } from '../options.ts';
import { getObject } from '../read.ts';
import type { ConnectRequest } from '../requests.ts';
import type { StoreParts } from '../store-parts.ts';

type Pod = Readonly<ApiObject>;

/** As of now, whatever memory has. @throws StatusError 404. */
async function podOf(parts: StoreParts, { path, signal }: ConnectRequest): Promise<Pod> {
  const item = await getObject(parts, { path, options: { resourceVersion: '' }, signal });
  return item.object();
}

/** A pod that no node has yet has no log: the answer is empty. */
export async function checkLog(parts: StoreParts, request: ConnectRequest): Promise<boolean> {
  const { query, path, response } = request;
  const errors = logErrors(query);
  const kind = { group: '', kind: 'PodLogOptions' };
  if (errors.length > 0) throw invalid(kind, path.name, errors);
  const pod = await podOf(parts, request);
  checkContainer(pod, query.get('container') ?? '');
  if (nodeOf(pod) === '') {
    response.statusCode = 204;
    response.end();
    return true;
  }
  await checkNode(parts, pod, request);
  return false;
}

export async function checkExec(parts: StoreParts, request: ConnectRequest): Promise<undefined> {
  const { query } = request;
  const pod = await podOf(parts, request);
  checkContainer(pod, query.get('container') ?? '');
  if (query.getAll('command').join('') === '') throw badRequest('command: must be specified');
  checkStreams(query);
  await checkNode(parts, pod, request);
}

export async function checkAttach(parts: StoreParts, request: ConnectRequest): Promise<undefined> {
  const { query } = request;
  const pod = await podOf(parts, request);
  checkContainer(pod, query.get('container') ?? '');
  checkStreams(query);
  await checkNode(parts, pod, request);
}

export async function checkPortForward(
  parts: StoreParts,
  request: ConnectRequest,
): Promise<undefined> {
  const pod = await podOf(parts, request);
  for (const port of request.query.getAll('ports').flatMap((text) => text.split(','))) {
    const isPort = /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
    if (!isPort) throw badRequest(`ports: ${JSON.stringify(port)} is no port from 1 to 65535`);
  }
  await checkNode(parts, pod, request);
}

/** @throws StatusError 400 for numbers that are none. */
function logErrors(query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = [];
  const atLeast = (field: string, min: number): void => {
    const badValue = integerOf(query, field);
    if (badValue === undefined || badValue >= min) return;
    const detail = `must be greater than or equal to ${String(min)}`;
    errors.push({ reason: 'FieldValueInvalid', field, badValue, detail });
  };
  atLeast('tailLines', 0);
  atLeast('limitBytes', 1);
  const sinceTime = query.get('sinceTime') ?? '';
  if (sinceTime !== '' && Number.isNaN(Date.parse(sinceTime))) {
    throw badRequest(`sinceTime: ${JSON.stringify(sinceTime)} is no time`);
  }
  if (query.has('sinceSeconds') && sinceTime !== '') {
    const detail = 'at most one of `sinceTime` or `sinceSeconds` may be specified';
    errors.push({ reason: 'FieldValueForbidden', field: '', detail });
  } else atLeast('sinceSeconds', 1);
  errors.push(...streamErrors(query));
  return errors;
}

const streams = ['All', 'Stderr', 'Stdout'];

function streamErrors(query: URLSearchParams): FieldError[] {
  const stream = query.get('stream') ?? '';
  if (stream === '') return [];
  if (!streams.includes(stream)) {
    const detail = `supported values: ${streams.map((one) => JSON.stringify(one)).join(', ')}`;
    return [{ reason: 'FieldValueNotSupported', field: 'stream', badValue: stream, detail }];
  }
  if (stream === 'All' || !query.has('tailLines')) return [];
  const detail = '`tailLines` and specific `stream` are mutually exclusive for now';
  return [{ reason: 'FieldValueForbidden', field: '', detail }];
}

const streamNames = ['stdin', 'stdout', 'stderr'];

function checkStreams(query: URLSearchParams): void {
  if (streamNames.some((name) => booleanOf(query, name) === true)) return;
  throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
}

/** @throws StatusError 400 for no container of the pod, and for none where it has several. */
function checkContainer(pod: Pod, container: string): void {
  const spec = recordAt(pod, 'spec');
  const name = textAt(pod.metadata, 'name');
  const names = containerLists.flatMap((list) =>
    recordsAt(spec, list).map((one) => textAt(one, 'name')),
  );
  if (container !== '') {
    if (names.includes(container)) return;
    throw badRequest(`container ${container} is not valid for pod ${name}`);
  }
  if (recordsAt(spec, 'containers').length === 1) return;
  const choice = `choose one of: [${names.join(' ')}]`;
  throw badRequest(`a container name must be specified for pod ${name}, ${choice}`);
}

const nodeOf = (pod: Pod): string => textAt(recordAt(pod, 'spec'), 'nodeName');

/** @throws StatusError 400 for a pod without a node, 503 for a node that nobody knows. */
async function checkNode(
  parts: StoreParts,
  pod: Pod,
  { signal }: Pick<ConnectRequest, 'signal'>,
): Promise<undefined> {
  const name = textAt(pod.metadata, 'name');
  const node = nodeOf(pod);
  if (node === '') throw badRequest(`pod ${name} does not have a host assigned`);
  const nodes = parts.partsOf({ group: '', resource: 'nodes' });
  if (nodes === undefined) return;
  const path = { namespace: '', name: node, subresource: '' };
  try {
    await getObject(nodes, { path, options: { resourceVersion: '' }, signal });
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 404) throw error;
    throw serviceUnavailable(`pod ${name} runs on node ${JSON.stringify(node)}, which is unknown`);
  }
}

// Subresources whose requests go on to a node, a pod or a service: logs, exec, attach, port-forward
// and proxy. All that can be refused without a connection is refused as it should be; connections
// themselves are not made: 501.
import type { SubresourceInfo } from '../../api/type-info.ts';
import { badRequest, notImplemented } from '../../base/status.ts';
import { admitConnection } from './admitted-connection.ts';
import type { ConnectRequest } from '../requests.ts';
import type { StoreParts } from '../store-parts.ts';
import type { Subresource } from '../verb-target.ts';
import { checkAttach, checkExec, checkLog, checkPortForward } from './pod-connections.ts';
import { checkNodeProxy, checkPodProxy, checkServiceProxy } from './proxies.ts';

/** @throws StatusError for what no connection is made for. True: it has answered the request. */
export type ConnectionCheck = (
  parts: StoreParts,
  request: ConnectRequest,
) => Promise<boolean | undefined>;

interface ConnectionKind {
  readonly check: ConnectionCheck;
  /** What it would be, for who reads the answer. */
  readonly what: string;
}

/** By resource and subresource of the core group. */
const connections: ReadonlyMap<string, ConnectionKind> = new Map([
  ['pods/log', { check: checkLog, what: 'reading the log of a container' }],
  ['pods/exec', { check: checkExec, what: 'running a command in a container' }],
  ['pods/attach', { check: checkAttach, what: 'attaching to a container' }],
  ['pods/portforward', { check: checkPortForward, what: 'forwarding ports to a pod' }],
  ['pods/proxy', { check: checkPodProxy, what: 'a proxy to a pod' }],
  ['services/proxy', { check: checkServiceProxy, what: 'a proxy to a service' }],
  ['nodes/proxy', { check: checkNodeProxy, what: 'a proxy to a node' }],
]);

/** The log of a pod is read, as it would be from here. */
const isConnection = ({ name }: SubresourceInfo): boolean => name !== 'log';

/** undefined: it is no such subresource. */
export function connectionSubresource(
  parts: StoreParts,
  info: SubresourceInfo,
): Subresource | undefined {
  const { resource } = parts;
  if (resource.group !== '') return undefined;
  const kind = connections.get(`${resource.resource}/${info.name}`);
  if (kind === undefined) return undefined;
  return {
    info,
    resource,
    input: resource,
    takesPath: info.name === 'proxy',
    async connect(request) {
      if (isConnection(info)) {
        if (request.query.has('dryRun')) throw badRequest('dryRun is not supported');
        await admitConnection(parts, info, request);
      }
      if ((await kind.check(parts, request)) === true) return;
      throw notImplemented(
        `${kind.what} is not implemented: this server makes no connections to nodes`,
      );
    },
  };
}

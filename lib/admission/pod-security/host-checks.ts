// Checks of what pods share with their node: namespaces, files, ports, processes, addresses.
import { flagAt, isSet, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { containersOf, contextOf, named, nameOf, namesWhere, nounOf } from './check.ts';
import { quoted, settersText, sortedOnce } from './check.ts';
import type { Check, PodCheck } from './check.ts';

const sharesNamespaces: PodCheck = ({ spec }) => {
  const shared = ['hostIPC', 'hostNetwork', 'hostPID'].filter((name) => flagAt(spec, name));
  if (shared.length === 0) return undefined;
  const detail = shared.map((name) => `${name}=true`).join(', ');
  return { reason: 'host namespaces', detail };
};

const mountsHostPaths: PodCheck = ({ spec }) => {
  const volumes = recordsAt(spec, 'volumes').filter((volume) => isSet(volume, 'hostPath'));
  if (volumes.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: named('volume', volumes.map(nameOf)) };
};

const usesHostPorts: PodCheck = (pod) => {
  const ports = (container: JsonObject): string[] =>
    recordsAt(container, 'ports')
      .map((port) => numberAt(port, 'hostPort') ?? 0)
      .filter((port) => port !== 0)
      .map(String);
  const names = namesWhere(pod, (_context, container) => ports(container).length > 0);
  if (names.length === 0) return undefined;
  const found = sortedOnce(containersOf(pod).flatMap(ports));
  const detail = `${usersText(names)} ${nounOf('hostPort', found)} ${found.join(', ')}`;
  return { reason: 'hostPort', detail };
};

const handlersOf = [
  ['livenessProbe'],
  ['readinessProbe'],
  ['startupProbe'],
  ['lifecycle', 'postStart'],
  ['lifecycle', 'preStop'],
] as const;

const namesHosts: PodCheck = (pod) => {
  const hosts = (container: JsonObject): string[] =>
    handlersOf.flatMap(([first, second]) => {
      const member = recordAt(container, first);
      const handler = second === undefined ? member : recordAt(member, second);
      return ['httpGet', 'tcpSocket']
        .map((action) => textAt(recordAt(handler, action), 'host'))
        .filter((host) => host !== '');
    });
  const names = sortedOnce(namesWhere(pod, (_context, container) => hosts(container).length > 0));
  if (names.length === 0) return undefined;
  const found = sortedOnce(containersOf(pod).flatMap(hosts));
  const noun = nounOf('probe or lifecycle host', found);
  return {
    reason: 'probe or lifecycle host',
    detail: `${usersText(names)} ${noun} ${quoted(found)}`,
  };
};

const usersText = (containers: readonly string[]): string =>
  `${named('container', containers)} ${containers.length === 1 ? 'uses' : 'use'}`;

const isHostProcess = (context: JsonObject | undefined): boolean =>
  flagAt(recordAt(context, 'windowsOptions'), 'hostProcess');

const runsOnHost: PodCheck = (pod) => {
  const setters = settersText(isHostProcess(contextOf(pod.spec)), namesWhere(pod, isHostProcess));
  if (setters === undefined) return undefined;
  const detail = `${setters} must not set securityContext.windowsOptions.hostProcess=true`;
  return { reason: 'hostProcess', detail };
};

export const hostChecks: readonly Check[] = [
  {
    id: 'hostNamespaces',
    level: 'baseline',
    versions: [{ since: 0, check: sharesNamespaces }],
  },
  {
    id: 'hostPathVolumes',
    level: 'baseline',
    versions: [{ since: 0, check: mountsHostPaths }],
  },
  { id: 'hostPorts', level: 'baseline', versions: [{ since: 0, check: usesHostPorts }] },
  {
    id: 'hostProbesAndHostLifecycle',
    level: 'baseline',
    versions: [{ since: 34, check: namesHosts }],
  },
  { id: 'windowsHostProcess', level: 'baseline', versions: [{ since: 0, check: runsOnHost }] },
];

import type { JsonObject } from '../../api/type-info.ts';
import { always, findsIn, hardened } from './testing/found-in-pods.ts';
import type { Given } from './testing/found-in-pods.ts';

const probed = (members: JsonObject): Given => ({
  containers: [{ name: 'a', securityContext: hardened, ...members }],
});
const hostFound = {
  'baseline:v1.33': '',
  'baseline:v1.34':
    'probe or lifecycle host (container "a" uses probe or lifecycle host "1.2.3.4")',
  'restricted:v1.33': '',
  'restricted:v1.34':
    'probe or lifecycle host (container "a" uses probe or lifecycle host "1.2.3.4")',
};
const action = { host: '1.2.3.4', port: 80 };

findsIn([
  [
    'namespaces',
    { spec: { hostNetwork: true, hostPID: true, hostIPC: true } },
    always('host namespaces (hostIPC=true, hostNetwork=true, hostPID=true)'),
  ],
  [
    'files',
    {
      spec: {
        volumes: [
          { name: 'x', hostPath: {} },
          { name: 'y', emptyDir: {} },
          { name: 'z', hostPath: {} },
        ],
      },
    },
    always(
      'hostPath volumes (volumes "x", "z")',
      'restricted volume types (volumes "x", "z" use restricted volume type "hostPath")',
    ),
  ],
  [
    'ports',
    {
      containers: [
        { name: 'a', securityContext: hardened, ports: [{ hostPort: 80 }, { hostPort: 0 }] },
        { name: 'b', securityContext: hardened, ports: [{ hostPort: 443 }] },
        { name: 'c', securityContext: hardened, ports: [{ containerPort: 1 }] },
      ],
    },
    always('hostPort (containers "a", "b" use hostPorts 443, 80)'),
  ],
  [
    'ports of init and ephemeral containers',
    {
      spec: {
        initContainers: [{ name: 'i', securityContext: hardened, ports: [{ hostPort: 1 }] }],
        ephemeralContainers: [{ name: 'e', securityContext: hardened, ports: [{ hostPort: 1 }] }],
      },
    },
    always('hostPort (containers "i", "e" use hostPort 1)'),
  ],
  [
    'processes of Windows',
    {
      spec: { securityContext: { windowsOptions: { hostProcess: true } } },
      contexts: [{ windowsOptions: { hostProcess: true } }, {}],
    },
    always(
      'hostProcess (pod and container "a" must not set ' +
        'securityContext.windowsOptions.hostProcess=true)',
    ),
  ],
  [
    'no processes of Windows',
    { contexts: [{ windowsOptions: { hostProcess: false } }] },
    always(''),
  ],
  ['hosts of a liveness probe', probed({ livenessProbe: { httpGet: action } }), hostFound],
  ['hosts of a readiness probe', probed({ readinessProbe: { tcpSocket: action } }), hostFound],
  ['hosts of a startup probe', probed({ startupProbe: { httpGet: action } }), hostFound],
  ['hosts of a start hook', probed({ lifecycle: { postStart: { httpGet: action } } }), hostFound],
  ['hosts of a stop hook', probed({ lifecycle: { preStop: { tcpSocket: action } } }), hostFound],
  [
    'several hosts',
    {
      containers: [
        {
          name: 'b',
          securityContext: hardened,
          livenessProbe: { httpGet: { host: 'y' } },
          readinessProbe: { httpGet: { host: '' } },
        },
        { name: 'a', securityContext: hardened, startupProbe: { tcpSocket: { host: 'x' } } },
      ],
    },
    {
      'baseline:latest':
        'probe or lifecycle host (containers "a", "b" use probe or lifecycle hosts "x", "y")',
    },
  ],
]);

import { always, findsIn } from './testing/found-in-pods.ts';

const escalates =
  'allowPrivilegeEscalation != false (container "a" must set ' +
  'securityContext.allowPrivilegeEscalation=false)';
const keeps =
  'unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"])';
const windows = { os: { name: 'windows' } };

findsIn([
  [
    'privileged containers',
    { contexts: [{ privileged: true }, { privileged: false }, { privileged: true }] },
    always('privileged (containers "a", "c" must not set securityContext.privileged=true)'),
  ],
  [
    'rights gained later',
    { contexts: [{ allowPrivilegeEscalation: true }] },
    {
      'baseline:latest': '',
      'restricted:v1.7': '',
      'restricted:v1.8': escalates,
      'restricted:latest': escalates,
    },
  ],
  [
    'rights gained later on Windows',
    { contexts: [{ allowPrivilegeEscalation: null }], spec: windows },
    { 'restricted:v1.24': escalates, 'restricted:v1.25': '', 'restricted:latest': '' },
  ],
  [
    'usual capabilities',
    { contexts: [{ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'], drop: ['ALL'] } }] },
    {
      'baseline:latest': '',
      'restricted:v1.21': '',
      'restricted:v1.22':
        'unrestricted capabilities (container "a" must not include "CHOWN" ' +
        'in securityContext.capabilities.add)',
    },
  ],
  [
    'unusual capabilities',
    {
      contexts: [
        { capabilities: { add: ['NET_RAW', 'CHOWN'], drop: ['ALL'] } },
        { capabilities: { add: ['BPF', 'NET_RAW'], drop: ['CHOWN'] } },
      ],
    },
    {
      'baseline:v1.0':
        'non-default capabilities (containers "a", "b" must not include "BPF", "NET_RAW" ' +
        'in securityContext.capabilities.add)',
      'restricted:v1.21':
        'non-default capabilities (containers "a", "b" must not include "BPF", "NET_RAW" ' +
        'in securityContext.capabilities.add)',
      'restricted:v1.22':
        'unrestricted capabilities (container "b" must set ' +
        'securityContext.capabilities.drop=["ALL"]; containers "a", "b" must not include ' +
        '"BPF", "CHOWN", "NET_RAW" in securityContext.capabilities.add)',
    },
  ],
  [
    'capabilities that are kept',
    { contexts: [{ capabilities: null }] },
    {
      'baseline:latest': '',
      'restricted:v1.21': '',
      'restricted:v1.22': keeps,
      'restricted:latest': keeps,
    },
  ],
  [
    'capabilities on Windows, of which the baseline is overridden all the same',
    { contexts: [{ capabilities: { add: ['NET_RAW'] } }], spec: windows },
    {
      'baseline:latest':
        'non-default capabilities (container "a" must not include "NET_RAW" ' +
        'in securityContext.capabilities.add)',
      'restricted:v1.24':
        'unrestricted capabilities (container "a" must set ' +
        'securityContext.capabilities.drop=["ALL"]; container "a" must not include "NET_RAW" ' +
        'in securityContext.capabilities.add)',
      'restricted:v1.25': '',
    },
  ],
]);

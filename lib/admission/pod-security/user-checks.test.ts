import { always, findsIn } from './testing/found-in-pods.ts';

const root = (text: string): string => `runAsNonRoot != true (${text})`;
const mustSet = (who: string): string =>
  root(`pod or ${who} must set securityContext.runAsNonRoot=true`);
const mustNot = (who: string): string =>
  root(`${who} must not set securityContext.runAsNonRoot=false`);
const unsaid = { securityContext: { runAsNonRoot: null } };

findsIn([
  [
    'that may be root',
    { spec: unsaid, contexts: [{}, { runAsNonRoot: true }, {}] },
    always('', mustSet('containers "a", "c"')),
  ],
  ['that every container says', { spec: unsaid, contexts: [{ runAsNonRoot: true }] }, always('')],
  [
    'that are allowed to be root',
    {
      spec: { securityContext: { runAsNonRoot: false } },
      contexts: [{ runAsNonRoot: true }, { runAsNonRoot: false }],
    },
    always('', mustNot('pod and container "b"')),
  ],
  [
    'that may be root in a user namespace',
    { spec: { ...unsaid, hostUsers: false } },
    { 'restricted:v1.34': mustSet('container "a"'), 'restricted:v1.35': '' },
  ],
  [
    'that are root',
    {
      spec: { securityContext: { runAsUser: 0 } },
      contexts: [{ runAsUser: 0 }, { runAsUser: 1 }],
    },
    {
      'baseline:latest': '',
      'restricted:v1.22': '',
      'restricted:v1.23': 'runAsUser=0 (pod and container "a" must not set runAsUser=0)',
      'restricted:latest': 'runAsUser=0 (pod and container "a" must not set runAsUser=0)',
    },
  ],
  [
    'that are root in a user namespace',
    { spec: { hostUsers: false }, contexts: [{ runAsUser: 0 }] },
    {
      'restricted:v1.34': 'runAsUser=0 (container "a" must not set runAsUser=0)',
      'restricted:v1.35': '',
    },
  ],
]);

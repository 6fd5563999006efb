import type { JsonObject } from '../../api/type-info.ts';
import { always, findsIn } from './testing/found-in-pods.ts';

const armor = 'container.apparmor.security.beta.svc.io/';
const seccomp = 'seccomp.security.alpha.svc.io/pod';
const ofContainer = 'container.seccomp.security.alpha.svc.io/';
const lacking = (who: string): string =>
  `seccompProfile (pod or ${who} must set securityContext.seccompProfile.type to ` +
  '"RuntimeDefault" or "Localhost")';
const unconfined = (who: string): string =>
  `seccompProfile (${who} must not set securityContext.seccompProfile.type to "Unconfined")`;
const annotated =
  `seccompProfile (forbidden annotations ${ofContainer}a="x", ` + `${seccomp}="unconfined")`;
const lax = { seccompProfile: { type: 'Unconfined' } };
const local = { seccompProfile: { type: 'Localhost', localhostProfile: 'p' } };
const selinux = (seLinuxOptions: JsonObject): JsonObject => ({ seLinuxOptions });
const set = (who: string, what: string): string =>
  `seLinuxOptions (${who} set forbidden securityContext.seLinuxOptions: ${what})`;

findsIn([
  [
    'AppArmor of fields',
    {
      spec: { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
      contexts: [
        { appArmorProfile: { type: 'Unconfined' } },
        { appArmorProfile: { type: 'RuntimeDefault' } },
        { appArmorProfile: { type: 'Localhost' } },
      ],
    },
    always(
      'forbidden AppArmor profile (pod and container "a" must not set AppArmor profile type ' +
        'to "Unconfined")',
    ),
  ],
  [
    'AppArmor of annotations',
    {
      annotations: {
        [`${armor}a`]: 'unconfined',
        [`${armor}b`]: 'runtime/default',
        [`${armor}c`]: 'localhost/p',
        [`${armor}d`]: '',
      },
    },
    always(
      'forbidden AppArmor profile (annotation must not set AppArmor profile type to ' +
        `"${armor}a="unconfined"")`,
    ),
  ],
  [
    'AppArmor of both',
    {
      annotations: { [`${armor}a`]: 'x', [`${armor}b`]: 'y' },
      contexts: [{ appArmorProfile: { type: 'Unconfined' } }],
    },
    always(
      'forbidden AppArmor profiles (container "a" and annotations must not set AppArmor ' +
        `profile type to "Unconfined", "${armor}a="x"", "${armor}b="y"")`,
    ),
  ],
  [
    'seccomp of annotations, before v1.19',
    {
      annotations: {
        [seccomp]: 'unconfined',
        [`${ofContainer}a`]: 'x',
        [`${ofContainer}b`]: 'docker/default',
        [`${ofContainer}nosuch`]: 'x',
      },
      contexts: [{}, {}],
    },
    {
      'baseline:v1.18': annotated,
      'restricted:v1.18': annotated,
      'baseline:v1.19': '',
      'restricted:v1.19': '',
    },
  ],
  [
    'seccomp of fields',
    { spec: { securityContext: lax }, contexts: [{}, lax, lax, local] },
    {
      'baseline:v1.18': '',
      'baseline:v1.19': unconfined('pod and containers "b", "c"'),
      'restricted:v1.18': '',
      'restricted:v1.19': unconfined('pod and containers "b", "c"'),
      'restricted:latest': unconfined('pod and containers "b", "c"'),
    },
  ],
  [
    'no seccomp',
    { spec: { securityContext: { seccompProfile: null } }, contexts: [{}, local, {}] },
    {
      'baseline:latest': '',
      'restricted:v1.18': '',
      'restricted:v1.19': lacking('containers "a", "c"'),
      'restricted:latest': lacking('containers "a", "c"'),
    },
  ],
  [
    'no seccomp on Windows',
    {
      spec: {
        os: { name: 'windows' },
        securityContext: { seccompProfile: null },
      },
    },
    { 'restricted:v1.24': lacking('container "a"'), 'restricted:v1.25': '' },
  ],
  [
    'a type of SELinux',
    {
      contexts: ['', 'container_t', 'container_init_t', 'container_kvm_t', 'x', 'w'].map((type) =>
        selinux({ type, level: 's0' }),
      ),
    },
    always(set('containers "e", "f"', 'types "w", "x"')),
  ],
  [
    'the type of engines in containers',
    { contexts: [selinux({ type: 'container_engine_t' })] },
    {
      'baseline:v1.30': set('container "a"', 'type "container_engine_t"'),
      'baseline:v1.31': '',
      'restricted:v1.30': set('container "a"', 'type "container_engine_t"'),
      'restricted:v1.31': '',
    },
  ],
  [
    'users and roles of SELinux',
    { spec: { securityContext: selinux({ user: 'u' }) }, contexts: [selinux({ role: 'r' })] },
    always(set('pod and container "a"', 'user may not be set; role may not be set')),
  ],
]);

// The default bindings of cluster roles, and the default roles and bindings of the namespaces that
// every cluster has.
import { tellEvents } from './role-spec.ts';
import type { BindingSpec, RoleSpec } from './role-spec.ts';

export const clusterBindings: readonly BindingSpec[] = [
  { role: 'cluster-admin', subjects: ['group system:masters'] },
  { role: 'system:basic-user', subjects: ['group system:authenticated'] },
  { role: 'system:discovery', subjects: ['group system:authenticated'] },
  { role: 'system:{kube}-controller-manager', subjects: ['user system:{kube}-controller-manager'] },
  { role: 'system:{kube}-dns', subjects: ['account {kube}-dns'] },
  { role: 'system:{kube}-scheduler', subjects: ['user system:{kube}-scheduler'] },
  { role: 'system:monitoring', subjects: ['group system:monitoring'] },
  { role: 'system:node', subjects: [] },
  { role: 'system:node-proxier', subjects: ['user system:{kube}-proxy'] },
  {
    role: 'system:public-info-viewer',
    subjects: ['group system:authenticated', 'group system:unauthenticated'],
  },
  { role: 'system:service-account-issuer-discovery', subjects: ['group system:serviceaccounts'] },
  { role: 'system:volume-scheduler', subjects: ['user system:{kube}-scheduler'] },
];

export const namespacedRoles: readonly RoleSpec[] = [
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'public',
    rules: ['read configmaps', 'update configmaps named cluster-info', tellEvents],
  },
  {
    name: 'extension-apiserver-authentication-reader',
    namespace: 'system',
    rules: ['read configmaps named extension-apiserver-authentication'],
  },
  {
    name: 'system::leader-locking-{kube}-controller-manager',
    namespace: 'system',
    rules: [
      'create,get,list,update,watch leases of coordination.{v}',
      'create,get,list,update,watch leasecandidates of coordination.{v}',
    ],
  },
  {
    name: 'system::leader-locking-{kube}-scheduler',
    namespace: 'system',
    rules: [
      'create,get,list,update,watch leases of coordination.{v}',
      'create,get,list,update,watch leasecandidates of coordination.{v}',
    ],
  },
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'system',
    rules: ['read secrets'],
  },
  {
    name: 'system:controller:cloud-provider',
    namespace: 'system',
    rules: ['create,get,list,watch configmaps'],
  },
  {
    name: 'system:controller:token-cleaner',
    namespace: 'system',
    rules: ['delete,get,list,watch secrets', tellEvents],
  },
];

export const namespacedBindings: readonly BindingSpec[] = [
  {
    role: 'system:controller:bootstrap-signer',
    namespace: 'public',
    subjects: ['account bootstrap-signer'],
  },
  {
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    namespace: 'system',
    subjects: ['user system:{kube}-controller-manager', 'user system:{kube}-scheduler'],
  },
  {
    role: 'system::leader-locking-{kube}-controller-manager',
    namespace: 'system',
    subjects: [
      'user system:{kube}-controller-manager',
      'account {kube}-controller-manager',
      'account leader-election-controller',
    ],
  },
  {
    role: 'system::leader-locking-{kube}-scheduler',
    namespace: 'system',
    subjects: ['user system:{kube}-scheduler', 'account {kube}-scheduler'],
  },
  {
    role: 'system:controller:bootstrap-signer',
    namespace: 'system',
    subjects: ['account bootstrap-signer'],
  },
  {
    role: 'system:controller:cloud-provider',
    namespace: 'system',
    subjects: ['account cloud-provider'],
  },
  {
    role: 'system:controller:token-cleaner',
    namespace: 'system',
    subjects: ['account token-cleaner'],
  },
];

// The default roles of controllers, without `system:controller:`: each is bound to the service
// account of its name.
import { tellEvents } from './role-spec.ts';
import type { RoleSpec } from './role-spec.ts';

export const controllerRoles: readonly RoleSpec[] = [
  {
    name: 'attachdetach-controller',
    rules: [
      'list,watch persistentvolumeclaims,persistentvolumes',
      'read nodes',
      'patch,update nodes/status',
      'list,watch pods',
      tellEvents,
      'create,delete,get,list,watch volumeattachments of storage.{v}',
      'read csidrivers of storage.{v}',
      'read csinodes of storage.{v}',
    ],
  },
  {
    name: 'certificate-controller',
    rules: [
      'delete,get,list,watch certificatesigningrequests of certificates.{v}',
      'update certificatesigningrequests/approval,' +
        'certificatesigningrequests/status of certificates.{v}',
      'approve signers of certificates.{v} named {kubernetes}.io/{kube}-apiserver-client-{kube}let',
      'sign signers of certificates.{v} named {kubernetes}.io/{kube}-apiserver-client,' +
        '{kubernetes}.io/{kube}-apiserver-client-{kube}let,{kubernetes}.io/{kube}let-serving,' +
        '{kubernetes}.io/legacy-unknown',
      'create subjectaccessreviews of authorization.{v}',
      tellEvents,
    ],
  },
  {
    name: 'clusterrole-aggregation-controller',
    rules: ['escalate,get,list,patch,update,watch clusterroles of rbac.authorization.{v}'],
  },
  {
    name: 'cronjob-controller',
    rules: [
      'get,list,update,watch cronjobs of batch',
      'create,delete,get,list,patch,update,watch jobs of batch',
      'update cronjobs/status of batch',
      'update cronjobs/finalizers of batch',
      'delete,list,watch pods',
      tellEvents,
    ],
  },
  {
    name: 'daemon-set-controller',
    rules: [
      'read daemonsets of apps,extensions',
      'update daemonsets/status of apps,extensions',
      'update daemonsets/finalizers of apps,extensions',
      'list,watch nodes',
      'create,delete,list,patch,watch pods',
      'create pods/binding',
      'create,delete,get,list,patch,update,watch controllerrevisions of apps',
      tellEvents,
    ],
  },
  {
    name: 'deployment-controller',
    rules: [
      'get,list,update,watch deployments of apps,extensions',
      'update deployments/status of apps,extensions',
      'update deployments/finalizers of apps,extensions',
      'create,delete,get,list,patch,update,watch replicasets of apps,extensions',
      'get,list,update,watch pods',
      tellEvents,
    ],
  },
  {
    name: 'device-taint-eviction-controller',
    rules: [
      'delete,get,list,watch pods',
      'patch,update pods/status',
      'read resourceclaims of resource.{v}',
      'read resourceslices of resource.{v}',
      'read deviceclasses of resource.{v}',
      tellEvents,
    ],
  },
  {
    name: 'disruption-controller',
    rules: [
      'read deployments of apps,extensions',
      'read replicasets of apps,extensions',
      'read replicationcontrollers',
      'read poddisruptionbudgets of policy',
      'read statefulsets of apps',
      'update poddisruptionbudgets/status of policy',
      'patch,update pods/status',
      'get */scale of *',
      tellEvents,
    ],
  },
  {
    name: 'endpoint-controller',
    rules: [
      'read pods,services',
      'create,delete,get,list,update,watch endpoints',
      'create endpoints/restricted',
      tellEvents,
    ],
  },
  {
    name: 'endpointslice-controller',
    rules: [
      'read nodes,pods,services',
      'update services/finalizers',
      'create,delete,get,list,update,watch endpointslices of discovery.{v}',
      tellEvents,
    ],
  },
  {
    name: 'endpointslicemirroring-controller',
    rules: [
      'read endpoints,services',
      'update services/finalizers',
      'update endpoints/finalizers',
      'create,delete,get,list,update,watch endpointslices of discovery.{v}',
      tellEvents,
    ],
  },
  {
    name: 'ephemeral-volume-controller',
    rules: [
      'read pods',
      'update pods/finalizers',
      'create,get,list,watch persistentvolumeclaims',
      tellEvents,
    ],
  },
  {
    name: 'expand-controller',
    rules: [
      'get,list,patch,update,watch persistentvolumes',
      'patch,update persistentvolumeclaims/status',
      'read persistentvolumeclaims',
      tellEvents,
    ],
  },
  {
    name: 'generic-garbage-collector',
    rules: ['delete,get,list,patch,update,watch * of *', tellEvents],
  },
  {
    name: 'horizontal-pod-autoscaler',
    rules: [
      'read horizontalpodautoscalers of autoscaling',
      'update horizontalpodautoscalers/status of autoscaling',
      'get,update */scale of *',
      'list,watch pods',
      'list,watch pods of metrics.{v}',
      'read * of custom.metrics.{v}',
      'read * of external.metrics.{v}',
      tellEvents,
    ],
  },
  {
    name: 'job-controller',
    rules: [
      'get,list,patch,update,watch jobs of batch',
      'update jobs/status of batch',
      'update jobs/finalizers of batch',
      'create,delete,list,patch,watch pods',
      tellEvents,
    ],
  },
  {
    name: 'legacy-service-account-token-cleaner',
    rules: [
      'get configmaps named {kube}-apiserver-legacy-service-account-token-tracking',
      'delete,patch secrets',
    ],
  },
  {
    name: 'namespace-controller',
    rules: [
      'delete,get,list,watch namespaces',
      'update namespaces/finalize,namespaces/status',
      'delete,deletecollection,get,list,watch * of *',
    ],
  },
  {
    name: 'node-controller',
    rules: [
      'delete,get,list,patch,update,watch nodes',
      'patch,update nodes/status',
      'patch,update pods/status',
      'delete,get,list,watch pods',
      tellEvents,
    ],
  },
  {
    name: 'persistent-volume-binder',
    rules: [
      'create,delete,get,list,update,watch persistentvolumes',
      'update persistentvolumes/status',
      'get,list,update,watch persistentvolumeclaims',
      'update persistentvolumeclaims/status',
      'create,delete,get,list,watch pods',
      'read storageclasses of storage.{v}',
      'list,watch nodes',
      tellEvents,
      'watch events',
    ],
  },
  {
    name: 'pod-garbage-collector',
    rules: ['delete,list,watch pods', 'read nodes', 'patch pods/status'],
  },
  {
    name: 'pv-protection-controller',
    rules: ['get,list,update,watch persistentvolumes', tellEvents],
  },
  {
    name: 'pvc-protection-controller',
    rules: [
      'get,list,update,watch persistentvolumeclaims',
      'update persistentvolumeclaims/status',
      'read pods',
      tellEvents,
    ],
  },
  {
    name: 'replicaset-controller',
    rules: [
      'get,list,update,watch replicasets of apps,extensions',
      'update replicasets/status of apps,extensions',
      'update replicasets/finalizers of apps,extensions',
      'create,delete,list,patch,watch pods',
      tellEvents,
    ],
  },
  {
    name: 'replication-controller',
    rules: [
      'get,list,update,watch replicationcontrollers',
      'update replicationcontrollers/status',
      'update replicationcontrollers/finalizers',
      'create,delete,list,patch,watch pods',
      tellEvents,
    ],
  },
  {
    name: 'resource-claim-controller',
    rules: [
      'read pods',
      'update pods/finalizers',
      'create,delete,get,list,watch resourceclaims of resource.{v}',
      'patch,update resourceclaims,resourceclaims/status of resource.{v}',
      'patch,update pods/status',
      tellEvents,
      'patch,update resourceclaims/binding of resource.{v}',
    ],
  },
  {
    name: 'resourcequota-controller',
    rules: ['list,watch * of *', 'update resourcequotas/status', tellEvents],
  },
  {
    name: 'root-ca-cert-publisher',
    rules: ['create,update configmaps', tellEvents],
  },
  {
    name: 'route-controller',
    rules: ['list,watch nodes', 'patch nodes/status', tellEvents],
  },
  {
    name: 'selinux-warning-controller',
    rules: [
      tellEvents,
      'read persistentvolumes',
      'read persistentvolumeclaims',
      'read pods',
      'read csidrivers of storage.{v}',
    ],
  },
  {
    name: 'service-account-controller',
    rules: ['create serviceaccounts', tellEvents],
  },
  {
    name: 'service-cidrs-controller',
    rules: [
      'get,list,patch,update,watch servicecidrs of networking.{v}',
      'patch,update servicecidrs/finalizers of networking.{v}',
      'patch,update servicecidrs/status of networking.{v}',
      'read ipaddresses of networking.{v}',
      tellEvents,
    ],
  },
  {
    name: 'service-controller',
    rules: ['read services', 'patch,update services/status', 'list,watch nodes', tellEvents],
  },
  {
    name: 'statefulset-controller',
    rules: [
      'list,watch pods',
      'read statefulsets of apps',
      'update statefulsets/status of apps',
      'update statefulsets/finalizers of apps',
      'create,delete,get,patch,update pods',
      'create,delete,get,list,patch,update,watch controllerrevisions of apps',
      'create,get,list,watch persistentvolumeclaims',
      'delete,update persistentvolumeclaims',
      'update pods/finalizers',
      tellEvents,
    ],
  },
  {
    name: 'ttl-after-finished-controller',
    rules: ['delete,get,list,watch jobs of batch', tellEvents],
  },
  {
    name: 'ttl-controller',
    rules: ['list,patch,update,watch nodes', tellEvents],
  },
  {
    name: 'validatingadmissionpolicy-status-controller',
    rules: [
      'read validatingadmissionpolicies of admissionregistration.{v}',
      'get,patch,update validatingadmissionpolicies/status of admissionregistration.{v}',
      tellEvents,
    ],
  },
  {
    name: 'volumeattributesclass-protection-controller',
    rules: [
      'read persistentvolumeclaims',
      'read persistentvolumes',
      'get,list,update,watch volumeattributesclasses of storage.{v}',
      tellEvents,
    ],
  },
];

// The default cluster roles but those of controllers: for people, and for the parts of a cluster.
import { gatedNodeRuleTexts, nodeRuleTexts } from '../../authz/node/node-rules.ts';
import { tellEvents } from './role-spec.ts';
import type { RoleSpec } from './role-spec.ts';

/** For people: `admin`, `edit` and `view` gather the rules of all roles that say so by label. */
export const userRoles: readonly RoleSpec[] = [
  {
    name: 'admin',
    gathers: 'admin',
    rules: [],
  },
  {
    name: 'cluster-admin',
    rules: ['* * of *', '* at *'],
  },
  {
    name: 'edit',
    aggregatesTo: 'admin',
    gathers: 'edit',
    rules: [],
  },
  {
    name: 'system:aggregate-to-admin',
    aggregatesTo: 'admin',
    rules: [
      'create localsubjectaccessreviews of authorization.{v}',
      'full rolebindings,roles of rbac.authorization.{v}',
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    aggregatesTo: 'edit',
    rules: [
      'read pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy',
      'impersonate serviceaccounts',
      'write pods,pods/attach,pods/exec,pods/portforward,pods/proxy',
      'create pods/eviction',
      'write configmaps,persistentvolumeclaims,replicationcontrollers,' +
        'replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy',
      'create serviceaccounts/token',
      'write events of core,events.{v}',
      'write daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,' +
        'replicasets/scale,statefulsets,statefulsets/scale of apps',
      'write horizontalpodautoscalers of autoscaling',
      'write cronjobs,jobs of batch',
      'write daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,' +
        'networkpolicies,replicasets,replicasets/scale,' +
        'replicationcontrollers/scale of extensions',
      'write poddisruptionbudgets of policy',
      'write ingresses,networkpolicies of networking.{v}',
      'full leases of coordination.{v}',
      'write resourceclaims,resourceclaimtemplates of resource.{v}',
    ],
    gatedRules: { GenericWorkload: ['write podgroups,workloads of scheduling.{v}'] },
  },
  {
    name: 'system:aggregate-to-view',
    aggregatesTo: 'view',
    rules: [
      'read configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,' +
        'replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,' +
        'services/status',
      'read bindings,limitranges,namespaces/status,pods/log,pods/status,' +
        'replicationcontrollers/status,resourcequotas,resourcequotas/status',
      'read namespaces',
      'read events of core,events.{v}',
      'read endpointslices of discovery.{v}',
      'read controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,' +
        'deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,' +
        'statefulsets/scale,statefulsets/status of apps',
      'read horizontalpodautoscalers,horizontalpodautoscalers/status of autoscaling',
      'read cronjobs,cronjobs/status,jobs,jobs/status of batch',
      'read daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,' +
        'ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,' +
        'replicasets/status,replicationcontrollers/scale of extensions',
      'read poddisruptionbudgets,poddisruptionbudgets/status of policy',
      'read ingresses,ingresses/status,networkpolicies of networking.{v}',
      'read resourceclaims,resourceclaims/status,resourceclaimtemplates of resource.{v}',
    ],
    gatedRules: {
      GenericWorkload: ['read podgroups,podgroups/status,workloads of scheduling.{v}'],
    },
  },
  {
    name: 'view',
    aggregatesTo: 'edit',
    gathers: 'view',
    rules: [],
  },
];

export const systemRoles: readonly RoleSpec[] = [
  {
    name: 'system:auth-delegator',
    rules: [
      'create tokenreviews of authentication.{v}',
      'create subjectaccessreviews of authorization.{v}',
    ],
  },
  {
    name: 'system:basic-user',
    rules: [
      'create selfsubjectaccessreviews,selfsubjectrulesreviews of authorization.{v}',
      'create selfsubjectreviews of authentication.{v}',
    ],
  },
  {
    name: 'system:certificates.{v}:certificatesigningrequests:nodeclient',
    rules: ['create certificatesigningrequests/nodeclient of certificates.{v}'],
  },
  {
    name: 'system:certificates.{v}:certificatesigningrequests:selfnodeclient',
    rules: ['create certificatesigningrequests/selfnodeclient of certificates.{v}'],
  },
  {
    name: 'system:certificates.{v}:legacy-unknown-approver',
    rules: ['approve signers of certificates.{v} named {kubernetes}.io/legacy-unknown'],
  },
  {
    name: 'system:certificates.{v}:{kube}-apiserver-client-approver',
    rules: ['approve signers of certificates.{v} named {kubernetes}.io/{kube}-apiserver-client'],
  },
  {
    name: 'system:certificates.{v}:{kube}-apiserver-client-{kube}let-approver',
    rules: [
      'approve signers of certificates.{v} named {kubernetes}.io/{kube}-apiserver-client-{kube}let',
    ],
  },
  {
    name: 'system:certificates.{v}:{kube}let-serving-approver',
    rules: ['approve signers of certificates.{v} named {kubernetes}.io/{kube}let-serving'],
  },
  {
    name: 'system:cluster-trust-bundle-discovery',
    gate: 'ClusterTrustBundle',
    rules: ['read clustertrustbundles of certificates.{v}'],
  },
  {
    name: 'system:discovery',
    rules: [
      'get at /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,' +
        '/version,/version/',
    ],
  },
  {
    name: 'system:heapster',
    rules: ['read events,namespaces,nodes,pods', 'read deployments of extensions'],
  },
  {
    name: 'system:monitoring',
    rules: [
      'get at /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,' +
        '/readyz/*,/statusz',
      'get nodes/metrics',
    ],
  },
  {
    name: 'system:node',
    rules: nodeRuleTexts,
    gatedRules: gatedNodeRuleTexts,
  },
  {
    name: 'system:node-bootstrapper',
    rules: ['create,get,list,watch certificatesigningrequests of certificates.{v}'],
  },
  {
    name: 'system:node-problem-detector',
    rules: ['get nodes', 'patch nodes/status', tellEvents],
  },
  {
    name: 'system:node-proxier',
    rules: [
      'list,watch endpoints,services',
      'read nodes',
      tellEvents,
      'list,watch servicecidrs of networking.{v}',
      'list,watch endpointslices of discovery.{v}',
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      'create,delete,get,list,watch persistentvolumes',
      'get,list,update,watch persistentvolumeclaims',
      'read storageclasses of storage.{v}',
      'watch events',
      tellEvents,
    ],
  },
  {
    name: 'system:public-info-viewer',
    rules: ['get at /healthz,/livez,/readyz,/version,/version/'],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      'get at /.well-known/openid-configuration,/.well-known/openid-configuration/,' +
        '/openid/v1/jwks,/openid/v1/jwks/',
    ],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      'get,list,patch,update,watch persistentvolumes',
      'read storageclasses of storage.{v}',
      'get,list,patch,update,watch persistentvolumeclaims',
    ],
  },
  {
    name: 'system:{kube}-aggregator',
    rules: ['read endpoints,services'],
  },
  {
    name: 'system:{kube}-controller-manager',
    rules: [
      tellEvents,
      'create leases of coordination.{v}',
      'get,update leases of coordination.{v} named {kube}-controller-manager',
      'create secrets,serviceaccounts',
      'delete secrets',
      'get configmaps,namespaces,secrets,serviceaccounts',
      'update secrets,serviceaccounts',
      'create tokenreviews of authentication.{v}',
      'create subjectaccessreviews of authorization.{v}',
      'list,watch * of *',
      'create serviceaccounts/token',
    ],
  },
  {
    name: 'system:{kube}-dns',
    rules: ['list,watch endpoints,services'],
  },
  {
    name: 'system:{kube}-scheduler',
    rules: [
      tellEvents,
      'create leases of coordination.{v}',
      'get,list,update,watch leases of coordination.{v} named {kube}-scheduler',
      'full leasecandidates of coordination.{v}',
      'read nodes',
      'delete,get,list,watch pods',
      'create bindings,pods/binding',
      'patch,update pods/status',
      'read replicationcontrollers,services',
      'read replicasets of apps,extensions',
      'read statefulsets of apps',
      'read poddisruptionbudgets of policy',
      'read persistentvolumeclaims,persistentvolumes',
      'create tokenreviews of authentication.{v}',
      'create subjectaccessreviews of authorization.{v}',
      'read csinodes of storage.{v}',
      'read volumeattachments of storage.{v}',
      'read namespaces',
      'read csidrivers of storage.{v}',
      'read csistoragecapacities of storage.{v}',
      'read deviceclasses of resource.{v}',
      'get,list,patch,update,watch resourceclaims of resource.{v}',
      'get,list,patch,update,watch resourceclaims/status of resource.{v}',
      'update pods/finalizers',
      'read resourceslices of resource.{v}',
      'create,delete resourceclaims of resource.{v}',
      'patch,update resourceclaims/binding of resource.{v}',
    ],
    gatedRules: {
      DRADeviceTaintRules: ['read devicetaintrules of resource.{v}'],
      GenericWorkload: [
        'read podgroups of scheduling.{v}',
        'patch,update podgroups/status of scheduling.{v}',
      ],
    },
  },
  {
    name: 'system:{kube}let-api-admin',
    rules: [
      'read nodes',
      'proxy nodes',
      '* nodes/log,nodes/metrics,nodes/proxy,nodes/stats',
      '* nodes/configz,nodes/healthz,nodes/pods',
    ],
  },
];

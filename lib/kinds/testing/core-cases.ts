// What the core group's other kinds, and those that run pods, gain. For suites.
import type { JsonObject } from '../../api/type-info.ts';
import type { DefaultCase } from './default-case.ts';
import { podSpecAdds } from './pod-cases.ts';

const service = (claim: string, given: JsonObject, adds: DefaultCase['adds']): DefaultCase => ({
  claim,
  type: 'core/v1.Service',
  given,
  adds,
});
const affinity = { 'spec.sessionAffinity': 'None' };
const internal = { 'spec.internalTrafficPolicy': 'Cluster' };
const external = { 'spec.externalTrafficPolicy': 'Cluster' };

const serviceCases: readonly DefaultCase[] = [
  service(
    'a service',
    { spec: { ports: [{ port: 80 }, { port: 81, protocol: 'UDP', targetPort: 'web' }] } },
    {
      ...affinity,
      ...internal,
      'spec.type': 'ClusterIP',
      'spec.ports[0].protocol': 'TCP',
      'spec.ports[0].targetPort': 80,
    },
  ),
  service(
    'a service with external addresses',
    { spec: { externalIPs: ['1.1.1.1'] } },
    { ...affinity, ...internal, ...external, 'spec.type': 'ClusterIP' },
  ),
  service(
    'a service on nodes',
    { spec: { type: 'NodePort' } },
    {
      ...affinity,
      ...internal,
      ...external,
    },
  ),
  service(
    'a balanced service',
    {
      spec: { type: 'LoadBalancer' },
      status: { loadBalancer: { ingress: [{ ip: '1.1.1.1' }, { hostname: 'h' }] } },
    },
    {
      ...affinity,
      ...internal,
      ...external,
      'spec.allocateLoadBalancerNodePorts': true,
      'status.loadBalancer.ingress[0].ipMode': 'VIP',
    },
  ),
  service('a service elsewhere', { spec: { type: 'ExternalName' } }, affinity),
  service(
    'a service elsewhere has no traffic within',
    { spec: { type: 'ExternalName', internalTrafficPolicy: 'Local' } },
    { ...affinity, 'spec.internalTrafficPolicy': undefined },
  ),
  service(
    'clients that stay with a pod do so for three hours',
    { spec: { type: 'ExternalName', sessionAffinity: 'ClientIP' } },
    { 'spec.sessionAffinityConfig.clientIP.timeoutSeconds': 10_800 },
  ),
  service(
    'settings of clients that do not stay are dropped',
    { spec: { type: 'ExternalName', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } } },
    { ...affinity, 'spec.sessionAffinityConfig': undefined },
  ),
];

const template = { metadata: { labels: { app: 'x' } } };
const rest: readonly DefaultCase[] = [
  { claim: 'a secret', type: 'core/v1.Secret', given: {}, adds: { type: 'Opaque' } },
  { claim: 'a config map', type: 'core/v1.ConfigMap', given: {}, adds: {} },
  {
    claim: 'a namespace',
    type: 'core/v1.Namespace',
    given: { metadata: { name: 'n' } },
    adds: { 'metadata.labels["kubernetes.io/metadata.name"]': 'n', 'status.phase': 'Active' },
  },
  {
    claim: 'a namespace that has no name yet',
    type: 'core/v1.Namespace',
    given: {},
    adds: { 'status.phase': 'Active' },
  },
  {
    claim: 'a node',
    type: 'core/v1.Node',
    given: { status: { capacity: { cpu: '4' } } },
    adds: { 'status.allocatable.cpu': '4' },
  },
  {
    claim: 'a node with networks of its pods',
    type: 'core/v1.Node',
    given: { spec: { podCIDRs: ['10.0.0.0/24', 'fd00::/64'] } },
    adds: { 'spec.podCIDR': '10.0.0.0/24' },
  },
  {
    claim: 'a node whose network of pods is not the first of them',
    type: 'core/v1.Node',
    given: { spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.0.0/24', 'fd00::/64'] } },
    adds: { 'spec.podCIDRs': ['10.0.1.0/24'] },
  },
  {
    claim: 'a volume',
    type: 'core/v1.PersistentVolume',
    given: { spec: { capacity: { storage: '1500u' }, hostPath: { path: '/' } } },
    adds: {
      'status.phase': 'Pending',
      'spec.persistentVolumeReclaimPolicy': 'Retain',
      'spec.volumeMode': 'Filesystem',
      'spec.capacity.storage': '2m',
      'spec.hostPath.type': '',
    },
  },
  {
    claim: 'a claim',
    type: 'core/v1.PersistentVolumeClaim',
    given: { spec: { resources: { requests: { storage: '1n' } } } },
    adds: {
      'status.phase': 'Pending',
      'spec.volumeMode': 'Filesystem',
      'spec.resources.requests.storage': '1m',
    },
  },
  {
    claim: 'endpoints',
    type: 'core/v1.Endpoints',
    given: { subsets: [{ ports: [{ port: 1 }] }] },
    adds: { 'subsets[0].ports[0].protocol': 'TCP' },
  },
  {
    claim: 'a limit range',
    type: 'core/v1.LimitRange',
    given: {
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '2' }, min: { memory: '1' }, default: { disk: '3' } },
          { type: 'Pod', max: { cpu: '2' } },
        ],
      },
    },
    adds: {
      'spec.limits[0].default.cpu': '2',
      'spec.limits[0].defaultRequest.cpu': '2',
      'spec.limits[0].defaultRequest.disk': '3',
      'spec.limits[0].defaultRequest.memory': '1',
    },
  },
  {
    claim: 'a replication controller',
    type: 'core/v1.ReplicationController',
    given: { spec: { template } },
    adds: {
      'spec.selector.app': 'x',
      'metadata.labels.app': 'x',
      'spec.replicas': 1,
      ...podSpecAdds('spec.template.spec'),
    },
  },
  { claim: 'options of a log', type: 'core/v1.PodLogOptions', given: {}, adds: {} },
  {
    claim: 'options of a log with split streams',
    type: 'core/v1.PodLogOptions',
    given: {},
    adds: { stream: 'All' },
    gates: { PodLogsQuerySplitStreams: true },
  },
];

const except = ['spec.template.spec'];
const deployment = (version: string, adds: DefaultCase['adds']): DefaultCase => ({
  claim: `a deployment of ${version}`,
  type: `${version}.Deployment`,
  given: { spec: { template } },
  adds: { 'spec.replicas': 1, 'spec.strategy.type': 'RollingUpdate', ...adds },
  except,
});
const rolling = (unavailable: string | number, surge: string | number): DefaultCase['adds'] => ({
  'spec.strategy.rollingUpdate.maxUnavailable': unavailable,
  'spec.strategy.rollingUpdate.maxSurge': surge,
});
const ofTemplate = { 'spec.selector.matchLabels.app': 'x', 'metadata.labels.app': 'x' };
const statefulSet = (version: string, adds: DefaultCase['adds']): DefaultCase => ({
  claim: `a stateful set of ${version}`,
  type: `${version}.StatefulSet`,
  given: { spec: { template } },
  adds: {
    'spec.replicas': 1,
    'spec.podManagementPolicy': 'OrderedReady',
    'spec.persistentVolumeClaimRetentionPolicy.whenDeleted': 'Retain',
    'spec.persistentVolumeClaimRetentionPolicy.whenScaled': 'Retain',
    'spec.revisionHistoryLimit': 10,
    ...adds,
  },
  except,
});
const rollingSet = {
  'spec.updateStrategy.type': 'RollingUpdate',
  'spec.updateStrategy.rollingUpdate.partition': 0,
};
const daemonSet = (version: string, adds: DefaultCase['adds']): DefaultCase => ({
  claim: `a daemon set of ${version}`,
  type: `${version}.DaemonSet`,
  given: { spec: { template } },
  adds: { 'spec.revisionHistoryLimit': 10, ...adds },
  except,
});
const oneByOne = {
  'spec.updateStrategy.type': 'RollingUpdate',
  'spec.updateStrategy.rollingUpdate.maxUnavailable': 1,
  'spec.updateStrategy.rollingUpdate.maxSurge': 0,
};
const most = 2_147_483_647;
const modern = { 'spec.revisionHistoryLimit': 10, 'spec.progressDeadlineSeconds': 600 };

const workloadCases: readonly DefaultCase[] = [
  deployment('apps/v1', { ...modern, ...rolling('25%', '25%') }),
  deployment('apps/v1beta2', { ...modern, ...rolling('25%', '25%') }),
  deployment('apps/v1beta1', {
    ...ofTemplate,
    ...rolling('25%', '25%'),
    'spec.revisionHistoryLimit': 2,
    'spec.progressDeadlineSeconds': 600,
  }),
  deployment('extensions/v1beta1', {
    ...ofTemplate,
    ...rolling(1, 1),
    'spec.revisionHistoryLimit': most,
    'spec.progressDeadlineSeconds': most,
  }),
  {
    claim: 'a deployment that recreates',
    type: 'apps/v1.Deployment',
    given: { spec: { strategy: { type: 'Recreate' }, replicas: 0 } },
    adds: modern,
    except,
  },
  {
    claim: 'a replica set',
    type: 'apps/v1.ReplicaSet',
    given: {},
    adds: { 'spec.replicas': 1 },
    except,
  },
  {
    claim: 'a replica set of extensions/v1beta1',
    type: 'extensions/v1beta1.ReplicaSet',
    given: { spec: { template } },
    adds: { 'spec.replicas': 1, ...ofTemplate },
    except,
  },
  statefulSet('apps/v1', rollingSet),
  statefulSet('apps/v1beta2', rollingSet),
  statefulSet('apps/v1beta1', { ...ofTemplate, 'spec.updateStrategy.type': 'OnDelete' }),
  {
    ...statefulSet('apps/v1', {
      ...rollingSet,
      'spec.updateStrategy.rollingUpdate.maxUnavailable': 1,
    }),
    claim: 'a stateful set where several pods may be unavailable',
    gates: { MaxUnavailableStatefulSet: true },
  },
  {
    claim: 'templates of claims in a stateful set',
    type: 'apps/v1.StatefulSet',
    given: { spec: { volumeClaimTemplates: [{ metadata: { name: 'v' } }] } },
    adds: {
      'spec.volumeClaimTemplates[0].kind': 'PersistentVolumeClaim',
      'spec.volumeClaimTemplates[0].apiVersion': 'v1',
      'spec.volumeClaimTemplates[0].spec.volumeMode': 'Filesystem',
      'spec.volumeClaimTemplates[0].status.phase': 'Pending',
    },
    except: [
      ...except,
      ...['replicas', 'podManagementPolicy', 'persistentVolumeClaimRetentionPolicy'].map(
        (name) => `spec.${name}`,
      ),
      'spec.revisionHistoryLimit',
      'spec.updateStrategy',
    ],
  },
  daemonSet('apps/v1', oneByOne),
  daemonSet('apps/v1beta2', oneByOne),
  {
    claim: 'a daemon set whose pods are replaced when they are deleted',
    type: 'apps/v1.DaemonSetUpdateStrategy',
    given: { type: 'OnDelete', rollingUpdate: { maxSurge: 5 } },
    adds: { 'rollingUpdate.maxUnavailable': 0 },
  },
  daemonSet('extensions/v1beta1', { ...ofTemplate, 'spec.updateStrategy.type': 'OnDelete' }),
  {
    claim: 'a template of pods',
    type: 'core/v1.PodTemplate',
    given: {},
    adds: podSpecAdds('template.spec'),
  },
];

export const coreCases: readonly DefaultCase[] = [...serviceCases, ...rest, ...workloadCases];

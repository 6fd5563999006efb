import { expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { cellsOf, day, dayAgo, holds, metadata, minuteAgo } from './testing/shown-cells.ts';

const podSpec = {
  containers: [
    { name: 'c', image: 'i:1' },
    { name: 'd', image: 'j:2' },
  ],
};
const template = { metadata: { labels: { app: 'x' } }, spec: podSpec };
const selector = { matchLabels: { b: '1', a: '2' } };
const wideTemplate = ['c,d', 'i:1,j:2'];
const balanced = (...ingress: JsonObject[]): JsonObject => ({ loadBalancer: { ingress } });
const scaler = (metric: JsonObject, current?: JsonObject): JsonObject => ({
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, metrics: [metric] },
  status: { currentMetrics: current === undefined ? [] : [current], currentReplicas: 2 },
});
const addresses = ['1', '2', '3', '4'].map((last) => ({ ip: `10.0.0.${last}` }));

test.each<[string, string, JsonObject, unknown[]]>([
  [
    'a node',
    'core/v1.Node',
    {
      metadata: {
        ...metadata,
        labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'etcd', other: '' },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [holds('Ready')],
        addresses: [{ type: 'InternalIP', address: '10.1.1.1' }],
        nodeInfo: {
          kubeletVersion: 'v1.36.0',
          osImage: 'Linux',
          kernelVersion: '6.1',
          architecture: 'arm64',
          containerRuntimeVersion: 'c://2',
        },
      },
    },
    [
      ...['a', 'Ready,SchedulingDisabled', 'etcd,worker', day, 'v1.36.0'],
      ...['10.1.1.1', '<none>', 'Linux', '6.1 (arm64)', 'c://2'],
    ],
  ],
  [
    'a node that nobody hears of',
    'core/v1.Node',
    { status: { conditions: [holds('Ready', 'Unknown')] } },
    [
      ...['a', 'NotReady', '<none>', day, ''],
      ...['<none>', '<none>', '<unknown>', '<unknown>', '<unknown>'],
    ],
  ],
  [
    'a deployment',
    'apps/v1.Deployment',
    {
      spec: { replicas: 3, selector, template },
      status: { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 },
    },
    ['a', '2/3', 3, 1, day, ...wideTemplate, 'a=2,b=1'],
  ],
  [
    'a replica set',
    'apps/v1.ReplicaSet',
    {
      spec: {
        replicas: 3,
        template,
        selector: {
          matchExpressions: [
            { key: 'z', operator: 'In', values: ['q', 'p'] },
            { key: 'y', operator: 'DoesNotExist' },
            { key: 'x', operator: 'Exists' },
            { key: 'w', operator: 'NotIn', values: ['o'] },
          ],
        },
      },
      status: { replicas: 2 },
    },
    ['a', 3, 2, 0, day, ...wideTemplate, 'w notin (o),x,!y,z in (p,q)'],
  ],
  [
    'a stateful set',
    'apps/v1.StatefulSet',
    { spec: { template } },
    ['a', '0/0', day, ...wideTemplate],
  ],
  [
    'a daemon set',
    'apps/v1.DaemonSet',
    {
      spec: { template: { spec: { ...podSpec, nodeSelector: { disk: 'ssd' } } } },
      status: { desiredNumberScheduled: 3, currentNumberScheduled: 2, numberReady: 1 },
    },
    ['a', 3, 2, 1, 0, 0, 'disk=ssd', day, ...wideTemplate, '<none>'],
  ],
  [
    'a job that runs',
    'batch/v1.Job',
    { spec: { parallelism: 2, template, selector }, status: { startTime: minuteAgo } },
    ['a', 'Running', '0/1 of 2', '~1m', day, ...wideTemplate, 'a=2,b=1'],
  ],
  [
    'a job that has ended',
    'batch/v1.Job',
    {
      spec: { completions: 2, template },
      status: {
        succeeded: 2,
        startTime: dayAgo,
        completionTime: minuteAgo,
        conditions: [holds('SuccessCriteriaMet'), holds('Complete')],
      },
    },
    ['a', 'Complete', '2/2', '23h', day, ...wideTemplate, '<none>'],
  ],
  [
    'a cron job',
    'batch/v1.CronJob',
    {
      spec: { schedule: '* * * * *', suspend: false, jobTemplate: { spec: { template } } },
      status: { lastScheduleTime: minuteAgo, active: [{}] },
    },
    ['a', '* * * * *', '<none>', 'False', 1, '~1m', day, ...wideTemplate, '<none>'],
  ],
  [
    'a service of the cluster',
    'core/v1.Service',
    {
      spec: {
        type: 'ClusterIP',
        clusterIPs: ['10.0.0.9'],
        ports: [{ port: 80, protocol: 'TCP' }],
        selector: { app: 'x' },
      },
    },
    ['a', 'ClusterIP', '10.0.0.9', '<none>', '80/TCP', day, 'app=x'],
  ],
  [
    'a balanced service',
    'core/v1.Service',
    {
      spec: {
        type: 'LoadBalancer',
        externalIPs: ['1.1.1.1'],
        ports: [
          { port: 80, nodePort: 30_080, protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
        ],
      },
      status: balanced({ hostname: 'z.example' }, { ip: '2.2.2.2' }),
    },
    [
      'a',
      'LoadBalancer',
      '<none>',
      '2.2.2.2,z.example,1.1.1.1',
      '80:30080/TCP,53/UDP',
      day,
      '<none>',
    ],
  ],
  [
    'a balanced service without address',
    'core/v1.Service',
    { spec: { type: 'LoadBalancer' } },
    ['a', 'LoadBalancer', '<none>', '<pending>', '<none>', day, '<none>'],
  ],
  [
    'a service elsewhere',
    'core/v1.Service',
    { spec: { type: 'ExternalName', externalName: 'x.example' } },
    ['a', 'ExternalName', '<none>', 'x.example', '<none>', day, '<none>'],
  ],
  [
    'endpoints',
    'core/v1.Endpoints',
    { subsets: [{ addresses: [...addresses, { ip: 'fd00::1' }], ports: [{ port: 80 }] }] },
    ['a', '10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...', day],
  ],
  [
    'endpoints that are not ready',
    'core/v1.Endpoints',
    { subsets: [{ notReadyAddresses: addresses, ports: [{ port: 80 }] }] },
    ['a', '', day],
  ],
  ['endpoints without subsets', 'core/v1.Endpoints', {}, ['a', '<none>', day]],
  [
    'an endpoint slice',
    'discovery/v1.EndpointSlice',
    {
      addressType: 'IPv4',
      ports: [{ port: 80 }, { name: 'x' }, {}],
      endpoints: addresses.map(({ ip }) => ({ addresses: [ip] })),
    },
    ['a', 'IPv4', '80,x,*', '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...', day],
  ],
  [
    'an ingress',
    'networking/v1.Ingress',
    {
      spec: {
        ingressClassName: 'web',
        rules: ['a.x', 'b.x', 'c.x', 'd.x'].map((host) => ({ host })),
        tls: [{}],
      },
      status: balanced({ ip: '2.2.2.2' }),
    },
    ['a', 'web', 'a.x,b.x,c.x + 1 more...', '2.2.2.2', '80, 443', day],
  ],
  ['an ingress for all', 'networking/v1.Ingress', {}, ['a', '<none>', '*', '', '80', day]],
  [
    'an autoscaler by utilization',
    'autoscaling/v2.HorizontalPodAutoscaler',
    scaler(
      { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 35 } } },
    ),
    ['a', 'Deployment/d', 'cpu: 35%/80%', '<unset>', 3, 2, day],
  ],
  [
    'an autoscaler by an external average',
    'autoscaling/v2.HorizontalPodAutoscaler',
    scaler({ type: 'External', external: { target: { averageValue: '5' } } }),
    ['a', 'Deployment/d', '<unknown>/5 (avg)', '<unset>', 3, 2, day],
  ],
  [
    'an autoscaler of the older version',
    'autoscaling/v1.HorizontalPodAutoscaler',
    {
      spec: {
        scaleTargetRef: {},
        minReplicas: 2,
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 7,
      },
    },
    ['a', '/', 'cpu: <unknown>/7%', '2', 3, 0, day],
  ],
  [
    'an event of the core group',
    'core/v1.Event',
    {
      type: 'Warning',
      reason: 'Failed',
      involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec' },
      message: ' no image\n',
      source: { component: 'agent', host: 'x' },
      firstTimestamp: dayAgo,
      lastTimestamp: minuteAgo,
      count: 5,
    },
    ['~1m', 'Warning', 'Failed', 'pod/p', 'spec', 'agent, x', 'no image', day, 5, 'a'],
  ],
  [
    'an event with a series',
    'events/v1.Event',
    {
      type: 'Normal',
      reason: 'Pulled',
      regarding: { kind: 'Pod' },
      note: 'image',
      reportingController: 'agent',
      eventTime: dayAgo,
      series: { count: 9, lastObservedTime: minuteAgo },
    },
    ['~1m', 'Normal', 'Pulled', 'pod', '', 'agent', 'image', day, 9, 'a'],
  ],
  [
    'a claim',
    'core/v1.PersistentVolumeClaim',
    {
      spec: { volumeName: 'v', storageClassName: 'fast', volumeMode: 'Block' },
      status: {
        phase: 'Bound',
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'],
      },
    },
    ['a', 'Bound', 'v', '1Gi', 'ROX,RWOP', 'fast', '<unset>', day, 'Block'],
  ],
  [
    'a claim that names its volume and is not bound to it',
    'core/v1.PersistentVolumeClaim',
    { spec: { volumeName: 'v' }, status: { phase: 'Pending' } },
    ['a', 'Pending', 'v', '0', '', '', '<unset>', day, '<unset>'],
  ],
  [
    'a claim of no attributes class',
    'core/v1.PersistentVolumeClaim',
    { spec: { volumeAttributesClassName: '' }, status: { phase: 'Pending' } },
    ['a', 'Pending', '', '', '', '', '', day, '<unset>'],
  ],
  [
    'a driver that gets a token for the API server',
    'storage/v1.CSIDriver',
    { spec: { tokenRequests: [{ audience: '' }] } },
    ['a', true, false, false, '', false, '<none>', day],
  ],
  [
    'a quota whose names begin alike',
    'core/v1.ResourceQuota',
    { status: { hard: { 'services.nodeports': '2', services: '5' }, used: {} } },
    ['a', 'services: 0/5, services.nodeports: 0/2', '', day],
  ],
  [
    'a quota',
    'core/v1.ResourceQuota',
    { status: { hard: { pods: '5', 'limits.cpu': '2', cpu: '1' }, used: { pods: '1' } } },
    ['a', 'cpu: 0/1, pods: 1/5', 'limits.cpu: 0/2', day],
  ],
  [
    'the default storage class',
    'storage/v1.StorageClass',
    {
      metadata: {
        ...metadata,
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: 'p',
    },
    ['a (default)', 'p', 'Delete', 'Immediate', false, day],
  ],
  [
    'a role binding',
    'rbac/v1.RoleBinding',
    {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', namespace: 'n', name: 's' },
        { kind: 'User', name: 'v' },
      ],
    },
    ['a', 'Role/r', day, 'u, v', 'g', 'n/s'],
  ],
  [
    'a signing request',
    'certificates/v1.CertificateSigningRequest',
    {
      spec: { signerName: 's/t', username: 'jane', expirationSeconds: 7200 },
      status: { conditions: [holds('Approved')], certificate: 'eA==' },
    },
    ['a', day, 's/t', 'jane', '120m', 'Approved,Issued'],
  ],
  [
    'a controller revision',
    'apps/v1.ControllerRevision',
    {
      metadata: {
        ...metadata,
        ownerReferences: [
          { kind: 'DaemonSet', apiVersion: 'apps/v1', name: 'd', controller: true },
        ],
      },
      revision: 4,
    },
    ['a', 'daemonset.apps/d', 4, day],
  ],
  [
    'a version that a service answers for',
    'apiregistration/v1.APIService',
    {
      spec: { service: { namespace: 'n', name: 's' } },
      status: { conditions: [holds('Available', 'False', { reason: 'Missing' })] },
    },
    ['a', 'n/s', 'False (Missing)', day],
  ],
])('%s', (_claim, id, object, expected) => {
  expect(cellsOf(id, object)).toEqual(expected);
});

// Objects as releases before this one stored them: one row for each version of specification 2's
// table of removed versions, and for other versions that are read but not served.
// Names are placeholders; `shows` is a part of what the object looks like in the stable version.
export interface OlderObject {
  /** Release that no longer served the version. */
  readonly removed: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** `group/resource` as it is served now. */
  readonly served: string;
  /** Members beside kind, apiVersion and metadata. */
  readonly content: object;
  readonly shows: object;
  /** Members that must not be there, as paths. */
  readonly lacks?: readonly string[];
  /** Version that serves it; `v1` unless given. */
  readonly version?: string;
  readonly metadata?: object;
}

const labels = { app: 'a' };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const selector = { matchLabels: labels };
const podDefaults = { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' };
const stableTemplate = { metadata: { labels }, spec: podDefaults };
const [apps, networking, storage] = ['apps', 'networking.{v}', 'storage.{v}'];
const [rbac, admission] = ['rbac.authorization.{v}', 'admissionregistration.{v}'];
const [flowcontrol, discovery] = ['flowcontrol.apiserver.{v}', 'discovery.{v}'];

const row = (
  removed: string,
  version: string,
  kind: string,
  served: string,
  content: object,
  shows: object,
  more: Partial<OlderObject> = {},
): OlderObject => ({ removed, apiVersion: version, kind, served, content, shows, ...more });

const workload = { selector, template };
const quarters = {
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
};

const workloads: readonly OlderObject[] = [
  row(
    '1.16',
    'extensions/v1beta1',
    'Deployment',
    `${apps}/deployments`,
    { spec: { template, rollbackTo: { revision: 4 } } },
    {
      metadata: { labels, annotations: { 'deprecated.deployment.rollback.revision': '4' } },
      spec: {
        selector,
        template: stableTemplate,
        replicas: 1,
        progressDeadlineSeconds: 2147483647,
        revisionHistoryLimit: 2147483647,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
      },
    },
    { lacks: ['spec.rollbackTo'] },
  ),
  row(
    '1.16',
    'extensions/v1beta1',
    'DaemonSet',
    `${apps}/daemonsets`,
    { spec: { template, templateGeneration: 3 } },
    {
      metadata: { annotations: { 'deprecated.daemonset.template.generation': '3' } },
      spec: { selector, updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 10 },
    },
    { lacks: ['spec.templateGeneration'] },
  ),
  row(
    '1.16',
    'extensions/v1beta1',
    'ReplicaSet',
    `${apps}/replicasets`,
    { spec: { template } },
    { metadata: { labels }, spec: { selector, replicas: 1 } },
  ),
  row(
    '1.16',
    'extensions/v1beta1',
    'NetworkPolicy',
    `${networking}/networkpolicies`,
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    { spec: { policyTypes: ['Ingress'], ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }] } },
  ),
  row(
    '1.16',
    'apps/v1beta1',
    'Deployment',
    `${apps}/deployments`,
    { spec: { template } },
    {
      spec: { selector, revisionHistoryLimit: 2, progressDeadlineSeconds: 600, strategy: quarters },
    },
  ),
  row(
    '1.16',
    'apps/v1beta1',
    'StatefulSet',
    `${apps}/statefulsets`,
    { spec: { template, serviceName: 's' } },
    {
      spec: { selector, updateStrategy: { type: 'OnDelete' }, podManagementPolicy: 'OrderedReady' },
    },
  ),
  row(
    '1.16',
    'apps/v1beta1',
    'ControllerRevision',
    `${apps}/controllerrevisions`,
    { data: { a: 1 }, revision: 2 },
    { data: { a: 1 }, revision: 2 },
  ),
  row(
    '1.16',
    'apps/v1beta2',
    'Deployment',
    `${apps}/deployments`,
    { spec: workload },
    { spec: { strategy: quarters, progressDeadlineSeconds: 600, revisionHistoryLimit: 10 } },
  ),
  row(
    '1.16',
    'apps/v1beta2',
    'DaemonSet',
    `${apps}/daemonsets`,
    { spec: workload },
    { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } } },
  ),
  row(
    '1.16',
    'apps/v1beta2',
    'ReplicaSet',
    `${apps}/replicasets`,
    { spec: workload },
    { spec: { selector, replicas: 1 } },
  ),
  row(
    '1.16',
    'apps/v1beta2',
    'StatefulSet',
    `${apps}/statefulsets`,
    { spec: { ...workload, serviceName: 's' } },
    { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } } } },
  ),
  row(
    '1.16',
    'apps/v1beta2',
    'ControllerRevision',
    `${apps}/controllerrevisions`,
    { data: { a: 1 }, revision: 2 },
    { revision: 2 },
  ),
];

const webhook = { name: 'w.example.com', clientConfig: { url: 'https://example.com/w' } };
const webhookDefaults = {
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  timeoutSeconds: 30,
  sideEffects: 'Unknown',
  admissionReviewVersions: ['v1beta1'],
};
const schema = { openAPIV3Schema: { type: 'object' } };
const names = { plural: 'things', kind: 'Thing' };
const definitionClient = { url: 'https://example.com/convert' };
const oldBackend = { serviceName: 's', servicePort: 80 };
const namedBackend = { serviceName: 's', servicePort: 'http' };
const oldIngress = {
  spec: {
    backend: oldBackend,
    rules: [{ host: 'h.example.com', http: { paths: [{ path: '/', backend: namedBackend }] } }],
  },
};
const ingress = {
  spec: {
    defaultBackend: { service: { name: 's', port: { number: 80 } } },
    rules: [
      {
        http: {
          paths: [
            {
              path: '/',
              pathType: 'ImplementationSpecific',
              backend: { service: { name: 's', port: { name: 'http' } } },
            },
          ],
        },
      },
    ],
  },
};
const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const roleRef = { apiGroup: rbac, kind: 'Role', name: 'r' };
const user = { kind: 'User', name: 'u' };

const release22: readonly OlderObject[] = [
  row(
    '1.22',
    `${admission}/v1beta1`,
    'ValidatingWebhookConfiguration',
    `${admission}/validatingwebhookconfigurations`,
    { webhooks: [webhook] },
    { webhooks: [webhookDefaults] },
  ),
  row(
    '1.22',
    `${admission}/v1beta1`,
    'MutatingWebhookConfiguration',
    `${admission}/mutatingwebhookconfigurations`,
    { webhooks: [webhook] },
    { webhooks: [{ ...webhookDefaults, reinvocationPolicy: 'Never' }] },
  ),
  row(
    '1.22',
    'apiextensions.{v}/v1beta1',
    'CustomResourceDefinition',
    'apiextensions.{v}/customresourcedefinitions',
    {
      spec: {
        group: 'example.com',
        version: 'v1',
        names,
        validation: schema,
        preserveUnknownFields: false,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Age', type: 'date', JSONPath: '.a' }],
        conversion: { strategy: 'Webhook', webhookClientConfig: definitionClient },
      },
    },
    {
      spec: {
        scope: 'Namespaced',
        names: { singular: 'thing', listKind: 'ThingList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema,
            subresources: { status: {} },
            additionalPrinterColumns: [{ name: 'Age', jsonPath: '.a' }],
          },
        ],
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: definitionClient, conversionReviewVersions: ['v1beta1'] },
        },
      },
      status: { storedVersions: ['v1'] },
    },
    { metadata: { name: 'things.example.com' }, lacks: ['spec.version', 'spec.validation'] },
  ),
  row(
    '1.22',
    'apiextensions.{v}/v1beta1',
    'CustomResourceDefinition',
    'apiextensions.{v}/customresourcedefinitions',
    {
      spec: {
        group: 'example.org',
        names,
        scope: 'Cluster',
        versions: [
          { name: 'v2', served: true, storage: false },
          { name: 'v1', served: true, storage: true },
        ],
        additionalPrinterColumns: [{ name: 'A', type: 'string', JSONPath: '.a' }],
      },
    },
    {
      spec: {
        preserveUnknownFields: true,
        conversion: { strategy: 'None' },
        versions: ['v2', 'v1'].map((name) => ({
          name,
          additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }],
        })),
      },
      status: { storedVersions: ['v1'] },
    },
    { metadata: { name: 'things.example.org' }, lacks: ['spec.validation', 'spec.version'] },
  ),
  row(
    '1.22',
    'apiregistration.{v}/v1beta1',
    'APIService',
    'apiregistration.{v}/apiservices',
    {
      spec: {
        group: 'example.com',
        version: 'v1',
        service: { namespace: 'n', name: 's' },
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 10,
      },
    },
    { spec: { service: { port: 443 }, versionPriority: 10 } },
    { metadata: { name: 'v1.example.com' } },
  ),
  row(
    '1.22',
    'certificates.{v}/v1beta1',
    'CertificateSigningRequest',
    'certificates.{v}/certificatesigningrequests',
    { spec: { request: 'YQ==' }, status: { conditions: [{ type: 'Approved' }] } },
    {
      spec: {
        signerName: '{kubernetes}.io/legacy-unknown',
        usages: ['digital signature', 'key encipherment'],
      },
      status: { conditions: [{ type: 'Approved', status: 'True' }] },
    },
  ),
  row(
    '1.22',
    'coordination.{v}/v1beta1',
    'Lease',
    'coordination.{v}/leases',
    { spec: { holderIdentity: 'h', leaseDurationSeconds: 10 } },
    { spec: { holderIdentity: 'h', leaseDurationSeconds: 10 } },
  ),
  row('1.22', 'extensions/v1beta1', 'Ingress', `${networking}/ingresses`, oldIngress, ingress, {
    lacks: ['spec.backend'],
  }),
  row('1.22', `${networking}/v1beta1`, 'Ingress', `${networking}/ingresses`, oldIngress, ingress, {
    lacks: ['spec.backend'],
  }),
  row(
    '1.22',
    `${networking}/v1beta1`,
    'IngressClass',
    `${networking}/ingressclasses`,
    { spec: { controller: 'example.com/c', parameters: { kind: 'K', name: 'p' } } },
    { spec: { controller: 'example.com/c', parameters: { scope: 'Cluster' } } },
  ),
  row('1.22', `${rbac}/v1beta1`, 'Role', `${rbac}/roles`, { rules: [rule] }, { rules: [rule] }),
  row(
    '1.22',
    `${rbac}/v1beta1`,
    'ClusterRole',
    `${rbac}/clusterroles`,
    { rules: [rule] },
    { rules: [rule] },
  ),
  row(
    '1.22',
    `${rbac}/v1beta1`,
    'RoleBinding',
    `${rbac}/rolebindings`,
    { subjects: [user], roleRef },
    { subjects: [{ ...user, apiGroup: rbac }], roleRef },
  ),
  row(
    '1.22',
    `${rbac}/v1beta1`,
    'ClusterRoleBinding',
    `${rbac}/clusterrolebindings`,
    { subjects: [user], roleRef: { ...roleRef, kind: 'ClusterRole' } },
    { subjects: [{ ...user, apiGroup: rbac }] },
  ),
  row(
    '1.22',
    'scheduling.{v}/v1beta1',
    'PriorityClass',
    'scheduling.{v}/priorityclasses',
    { value: 5 },
    { value: 5, preemptionPolicy: 'PreemptLowerPriority' },
  ),
  row(
    '1.22',
    `${storage}/v1beta1`,
    'CSIDriver',
    `${storage}/csidrivers`,
    { spec: {} },
    { spec: { attachRequired: true, podInfoOnMount: false, volumeLifecycleModes: ['Persistent'] } },
  ),
  row(
    '1.22',
    `${storage}/v1beta1`,
    'CSINode',
    `${storage}/csinodes`,
    { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['k'] }] } },
    { spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys: ['k'] }] } },
  ),
  row(
    '1.22',
    `${storage}/v1beta1`,
    'StorageClass',
    `${storage}/storageclasses`,
    { provisioner: 'example.com/p' },
    { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  ),
  row(
    '1.22',
    `${storage}/v1beta1`,
    'VolumeAttachment',
    `${storage}/volumeattachments`,
    { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } } },
    { spec: { attacher: 'a', source: { persistentVolumeName: 'p' } } },
  ),
];

const zone = 'topology.{kubernetes}.io/zone';
const host = '{kubernetes}.io/hostname';
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } };

const laterReleases: readonly OlderObject[] = [
  row(
    '1.25',
    'batch/v1beta1',
    'CronJob',
    'batch/cronjobs',
    { spec: { schedule: '* * * * *', jobTemplate } },
    {
      spec: {
        concurrencyPolicy: 'Allow',
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
    },
  ),
  row(
    '1.25',
    `${discovery}/v1beta1`,
    'EndpointSlice',
    `${discovery}/endpointslices`,
    {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], topology: { [zone]: 'z', [host]: 'n', rack: 'r' } }],
      ports: [{ port: 80 }],
    },
    {
      endpoints: [{ nodeName: 'n', zone: 'z', deprecatedTopology: { rack: 'r' } }],
      ports: [{ name: '', protocol: 'TCP', port: 80 }],
    },
    { lacks: ['endpoints.0.topology', `endpoints.0.deprecatedTopology.${zone}`] },
  ),
  row(
    '1.25',
    'events.{v}/v1beta1',
    'Event',
    'events.{v}/events',
    {
      eventTime: '2024-01-02T03:04:05.000000Z',
      type: 'Normal',
      reason: 'R',
      action: 'A',
      note: 'n',
      regarding: { kind: 'Pod', namespace: 'ns', name: 'p' },
      reportingController: 'example.com/c',
      reportingInstance: 'i',
      deprecatedCount: 2,
    },
    {
      regarding: { name: 'p' },
      note: 'n',
      reportingController: 'example.com/c',
      deprecatedCount: 2,
    },
  ),
  row(
    '1.25',
    'autoscaling/v2beta1',
    'HorizontalPodAutoscaler',
    'autoscaling/horizontalpodautoscalers',
    {
      spec: {
        scaleTargetRef,
        maxReplicas: 5,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } },
          { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '3' } },
        ],
      },
    },
    {
      spec: {
        minReplicas: 1,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
          },
          {
            type: 'Pods',
            pods: { metric: { name: 'm' }, target: { type: 'AverageValue', averageValue: '3' } },
          },
        ],
      },
    },
    { version: 'v2', lacks: ['spec.metrics.0.resource.targetAverageUtilization'] },
  ),
  row(
    '1.25',
    'policy/v1beta1',
    'PodDisruptionBudget',
    'policy/poddisruptionbudgets',
    { spec: { minAvailable: 1, selector: {} } },
    {
      spec: {
        selector: {
          matchExpressions: [
            {
              key: 'pdb.{kubernetes}.io/deprecated-v1beta1-empty-selector-match',
              operator: 'Exists',
            },
          ],
        },
      },
    },
  ),
  row(
    '1.25',
    'node.{v}/v1beta1',
    'RuntimeClass',
    'node.{v}/runtimeclasses',
    { handler: 'h' },
    { handler: 'h' },
  ),
  row(
    '1.26',
    'autoscaling/v2beta2',
    'HorizontalPodAutoscaler',
    'autoscaling/horizontalpodautoscalers',
    {
      spec: {
        scaleTargetRef,
        maxReplicas: 5,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } },
          },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 5 } },
      },
    },
    { spec: { minReplicas: 1, behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } } },
    { version: 'v2' },
  ),
  row(
    '1.27',
    `${storage}/v1beta1`,
    'CSIStorageCapacity',
    `${storage}/csistoragecapacities`,
    { storageClassName: 'c', capacity: '1Gi' },
    { storageClassName: 'c', capacity: '1Gi' },
  ),
];

const matchingPrecedence = 100;
const priorityLevelConfiguration = { name: 'l' };
const flowSchema = { spec: { matchingPrecedence, priorityLevelConfiguration } };
const queue = { limitResponse: { type: 'Reject' } };
const preserveZero = {
  annotations: { 'flowcontrol.{v}/v1beta3-preserve-zero-concurrency-shares': '' },
};

const flows = (removed: string, version: string, shares: string): readonly OlderObject[] => {
  const level = (content: object, shows: object, more: Partial<OlderObject> = {}): OlderObject =>
    row(
      removed,
      `${flowcontrol}/${version}`,
      'PriorityLevelConfiguration',
      `${flowcontrol}/prioritylevelconfigurations`,
      { spec: { type: 'Limited', limited: { ...queue, ...content } } },
      { spec: { limited: shows } },
      more,
    );
  return [
    row(
      removed,
      `${flowcontrol}/${version}`,
      'FlowSchema',
      `${flowcontrol}/flowschemas`,
      flowSchema,
      flowSchema,
    ),
    level({ [shares]: 7 }, { nominalConcurrencyShares: 7, lendablePercent: 0 }),
    level({}, { nominalConcurrencyShares: 30 }),
  ];
};

const zeroShares = row(
  '1.32',
  `${flowcontrol}/v1beta3`,
  'PriorityLevelConfiguration',
  `${flowcontrol}/prioritylevelconfigurations`,
  { spec: { type: 'Limited', limited: { ...queue, nominalConcurrencyShares: 0 } } },
  { spec: { limited: { nominalConcurrencyShares: 0 } } },
  { metadata: preserveZero, lacks: ['metadata.annotations'] },
);

const otherVersions: readonly OlderObject[] = [
  row(
    'alpha',
    `${rbac}/v1alpha1`,
    'RoleBinding',
    `${rbac}/rolebindings`,
    {
      subjects: [
        { ...user, apiVersion: `${rbac}/v1alpha1` },
        { kind: 'User', name: '*' },
      ],
      roleRef,
    },
    {
      subjects: [
        { ...user, apiGroup: rbac },
        { kind: 'Group', name: 'system:authenticated', apiGroup: rbac },
      ],
    },
    { lacks: ['subjects.0.apiVersion'] },
  ),
  row(
    'alpha',
    'node.{v}/v1alpha1',
    'RuntimeClass',
    'node.{v}/runtimeclasses',
    { spec: { runtimeHandler: 'h', overhead: { podFixed: { cpu: '1' } } } },
    { handler: 'h', overhead: { podFixed: { cpu: '1' } } },
    { lacks: ['spec'] },
  ),
  row(
    'alpha',
    `${storage}/v1alpha1`,
    'VolumeAttributesClass',
    `${storage}/volumeattributesclasses`,
    { driverName: 'd.example.com', parameters: { a: 'b' } },
    { driverName: 'd.example.com', parameters: { a: 'b' } },
  ),
  row(
    'beta',
    'resource.{v}/v1beta1',
    'ResourceClaim',
    'resource.{v}/resourceclaims',
    { spec: { devices: { requests: [{ name: 'r', deviceClassName: 'c' }] } } },
    {
      spec: {
        devices: {
          requests: [
            {
              name: 'r',
              exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 },
            },
          ],
        },
      },
    },
    { lacks: ['spec.devices.requests.0.deviceClassName'] },
  ),
];

export const olderObjects: readonly OlderObject[] = [
  ...workloads,
  ...release22,
  ...laterReleases,
  ...flows('1.26', 'v1beta1', 'assuredConcurrencyShares'),
  ...flows('1.29', 'v1beta2', 'assuredConcurrencyShares'),
  ...flows('1.32', 'v1beta3', 'nominalConcurrencyShares'),
  zeroShares,
  ...otherVersions,
];

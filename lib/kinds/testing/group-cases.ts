// What kinds of the other groups gain. For suites.
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { DefaultCase } from './default-case.ts';
import { podSpecAdds } from './pod-cases.ts';

type Adds = DefaultCase['adds'];
const of = (
  type: string,
  claim: string,
  given: JsonObject,
  adds: Adds,
  more: Pick<DefaultCase, 'except' | 'gates'> = {},
): DefaultCase => ({ claim: `${claim} (${type})`, type, given, adds, ...more });

const template = { metadata: { labels: { app: 'x' } } };
const jobAdds: Adds = {
  'spec.parallelism': 1,
  'spec.backoffLimit': 6,
  'spec.completionMode': 'NonIndexed',
  'spec.suspend': false,
  'spec.podReplacementPolicy': 'TerminatingOrFailed',
  'spec.manualSelector': false,
  ...podSpecAdds('spec.template.spec'),
};
const withoutParallelism = Object.fromEntries(
  Object.entries(jobAdds).filter(([path]) => path !== 'spec.parallelism'),
);
const cronJobAdds: Adds = {
  'spec.concurrencyPolicy': 'Allow',
  'spec.suspend': false,
  'spec.successfulJobsHistoryLimit': 3,
  'spec.failedJobsHistoryLimit': 1,
  ...podSpecAdds('spec.jobTemplate.spec.template.spec'),
};
const conditions = [{ type: 'DisruptionTarget' }];
const failurePolicy = { rules: [{ action: 'Ignore', onPodConditions: conditions }] };

const batch: readonly DefaultCase[] = [
  of(
    'batch/v1.Job',
    'a job',
    { spec: { template } },
    {
      ...jobAdds,
      'spec.completions': 1,
      'metadata.labels.app': 'x',
    },
  ),
  of('batch/v1.Job', 'a job of several pods', { spec: { parallelism: 2 } }, withoutParallelism),
  of(
    'batch/v1.Job',
    'a job that counts failures per index',
    { spec: { backoffLimitPerIndex: 1 } },
    {
      ...jobAdds,
      'spec.completions': 1,
      'spec.backoffLimit': 2_147_483_647,
    },
  ),
  of(
    'batch/v1.Job',
    'a job that judges failures',
    { spec: { podFailurePolicy: failurePolicy } },
    {
      ...jobAdds,
      'spec.completions': 1,
      'spec.podReplacementPolicy': 'Failed',
      'spec.podFailurePolicy.rules[0].onPodConditions[0].status': 'True',
    },
  ),
  ...['batch/v1', 'batch/v1beta1'].map((version) =>
    of(`${version}.CronJob`, 'a cron job, not the jobs that it makes', {}, cronJobAdds),
  ),
];

const cpuMetric = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
};
const hpa = 'autoscaling/v2.HorizontalPodAutoscaler';
const wholeSize = { type: 'Percent', value: 100, periodSeconds: 15 };
const fourPods = { type: 'Pods', value: 4, periodSeconds: 15 };
const ownMetrics = { metrics: [{ type: 'Pods' }] };
const autoscaling: readonly DefaultCase[] = [
  of('autoscaling/v1.HorizontalPodAutoscaler', 'a scaler', {}, { 'spec.minReplicas': 1 }),
  of(hpa, 'a scaler', {}, { 'spec.minReplicas': 1, 'spec.metrics': [cpuMetric] }),
  of(
    hpa,
    'a scaler with a behavior',
    { spec: { ...ownMetrics, behavior: {} } },
    {
      'spec.minReplicas': 1,
      'spec.behavior.scaleUp.stabilizationWindowSeconds': 0,
      'spec.behavior.scaleUp.selectPolicy': 'Max',
      'spec.behavior.scaleUp.policies': [fourPods, wholeSize],
      'spec.behavior.scaleDown.selectPolicy': 'Max',
      'spec.behavior.scaleDown.policies': [wholeSize],
    },
  ),
  of(
    hpa,
    'a scaler with half a behavior',
    {
      spec: {
        ...ownMetrics,
        minReplicas: 0,
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 5, policies: [fourPods] },
          scaleDown: { selectPolicy: 'Disabled' },
        },
      },
    },
    {
      'spec.behavior.scaleUp.selectPolicy': 'Max',
      'spec.behavior.scaleDown.policies': [wholeSize],
    },
  ),
  of('autoscaling/v1.Scale', 'a scale', {}, {}),
];

const networking: readonly DefaultCase[] = [
  of('networking/v1.NetworkPolicy', 'a policy', {}, { 'spec.policyTypes': ['Ingress'] }),
  of(
    'networking/v1.NetworkPolicy',
    'a policy with ports',
    { spec: { ingress: [{ ports: [{ port: 1 }] }], egress: [{ ports: [{ port: 1 }] }] } },
    {
      'spec.policyTypes': ['Ingress', 'Egress'],
      'spec.ingress[0].ports[0].protocol': 'TCP',
      'spec.egress[0].ports[0].protocol': 'TCP',
    },
  ),
  of('networking/v1.IngressClass', 'a class without parameters', {}, {}),
  of(
    'networking/v1.IngressClass',
    'a class',
    { spec: { parameters: {} } },
    {
      'spec.parameters.scope': 'Cluster',
    },
  ),
  ...['networking/v1beta1', 'extensions/v1beta1'].map((version) =>
    of(
      `${version}.Ingress`,
      'a path',
      { spec: { rules: [{ http: { paths: [{}] } }] } },
      {
        'spec.rules[0].http.paths[0].pathType': 'ImplementationSpecific',
      },
    ),
  ),
  of(
    'discovery/v1.EndpointSlice',
    'a port',
    { ports: [{}] },
    {
      'ports[0].name': '',
      'ports[0].protocol': 'TCP',
    },
  ),
];

const rbac = 'rbac.authorization.k8s.io';
const subjects = ['User', 'Group', 'ServiceAccount'].map((kind) => ({ kind, name: 'n' }));
const access: readonly DefaultCase[] = [
  ...['RoleBinding', 'ClusterRoleBinding'].map((kind) =>
    of(
      `rbac/v1.${kind}`,
      'a binding',
      { subjects },
      {
        'roleRef.apiGroup': rbac,
        'subjects[0].apiGroup': rbac,
        'subjects[1].apiGroup': rbac,
      },
    ),
  ),
  of(
    'rbac/v1alpha1.RoleBinding',
    'a binding',
    { subjects },
    {
      'roleRef.apiGroup': rbac,
      'subjects[0].apiVersion': `${rbac}/v1alpha1`,
      'subjects[1].apiVersion': `${rbac}/v1alpha1`,
      'subjects[2].apiVersion': 'v1',
    },
  ),
  of('authentication/v1.TokenRequest', 'a token', {}, { 'spec.expirationSeconds': 3600 }),
  of(
    'certificates/v1beta1.PodCertificateRequest',
    'a certificate of a pod',
    {},
    {
      'spec.maxExpirationSeconds': 86_400,
    },
  ),
  of(
    'certificates/v1beta1.CertificateSigningRequest',
    'a request that nobody can read',
    { spec: { request: 'eA==' }, status: { conditions: [{ type: 'Approved' }] } },
    {
      'spec.usages': ['digital signature', 'key encipherment'],
      'spec.signerName': 'kubernetes.io/legacy-unknown',
      'status.conditions[0].status': 'True',
    },
  ),
];

const storage: readonly DefaultCase[] = [
  of(
    'storage/v1.StorageClass',
    'a class',
    {},
    {
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
    },
  ),
  ...[true, false].map((isOn) =>
    of(
      'storage/v1.CSIDriver',
      `a driver, scaling limits ${String(isOn)}`,
      {},
      {
        'spec.attachRequired': true,
        'spec.podInfoOnMount': false,
        'spec.storageCapacity': false,
        'spec.fsGroupPolicy': 'ReadWriteOnceWithFSType',
        'spec.volumeLifecycleModes': ['Persistent'],
        'spec.requiresRepublish': false,
        'spec.seLinuxMount': false,
        ...(isOn ? { 'spec.preventPodSchedulingIfMissing': false } : {}),
      },
      { gates: { VolumeLimitScaling: isOn } },
    ),
  ),
];

const webhookAdds = (timeoutSeconds: number, more: Readonly<Record<string, JsonValue>>): Adds =>
  Object.fromEntries(
    Object.entries({ timeoutSeconds, namespaceSelector: {}, objectSelector: {}, ...more }).map(
      ([name, value]) => [`webhooks[0].${name}`, value],
    ),
  );
const webhook = { clientConfig: { service: { namespace: 'n', name: 's' } }, rules: [{}] };
const modernWebhook = webhookAdds(10, {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  'rules[0].scope': '*',
  'clientConfig.service.port': 443,
});
const olderWebhook = webhookAdds(30, {
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  sideEffects: 'Unknown',
  admissionReviewVersions: ['v1beta1'],
  'rules[0].scope': '*',
  'clientConfig.service.port': 443,
});
const reinvocation = { 'webhooks[0].reinvocationPolicy': 'Never' };
const matchAdds = (path: string): Adds => ({
  [`${path}.matchPolicy`]: 'Equivalent',
  [`${path}.namespaceSelector`]: {},
  [`${path}.objectSelector`]: {},
  [`${path}.resourceRules[0].scope`]: '*',
  [`${path}.excludeResourceRules[0].scope`]: '*',
});
const matching = { resourceRules: [{}], excludeResourceRules: [{}] };
const admission: readonly DefaultCase[] = [
  ...(['v1', 'v1beta1'] as const).flatMap((version) => {
    const adds = version === 'v1' ? modernWebhook : olderWebhook;
    const group = `admissionregistration/${version}`;
    const given = { webhooks: [webhook] };
    return [
      of(`${group}.ValidatingWebhookConfiguration`, 'a webhook', given, adds),
      of(`${group}.MutatingWebhookConfiguration`, 'a webhook', given, { ...adds, ...reinvocation }),
    ];
  }),
  ...['v1', 'v1beta1', 'v1alpha1'].flatMap((version) =>
    ['Validating', 'Mutating'].flatMap((verb) => {
      const kind = `admissionregistration/${version}.${verb}AdmissionPolicy`;
      return [
        of(
          kind,
          'a policy',
          { spec: { matchConstraints: matching } },
          {
            'spec.failurePolicy': 'Fail',
            ...matchAdds('spec.matchConstraints'),
          },
        ),
        of(`${kind}Binding`, 'a binding for everything', {}, {}),
        of(
          `${kind}Binding`,
          'a binding',
          { spec: { matchResources: matching } },
          matchAdds('spec.matchResources'),
        ),
      ];
    }),
  ),
];

const shares = 'spec.limited.nominalConcurrencyShares';
const level = (limited: JsonObject): JsonObject => ({ spec: { type: 'Limited', limited } });
const queuing: Adds = {
  'spec.limited.limitResponse.queuing.handSize': 8,
  'spec.limited.limitResponse.queuing.queues': 64,
  'spec.limited.limitResponse.queuing.queueLengthLimit': 50,
};
const plc = (version: string): string => `flowcontrol/${version}.PriorityLevelConfiguration`;
const lends: Adds = { 'spec.limited.lendablePercent': 0 };
const preserve = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';
const flowControl: readonly DefaultCase[] = [
  of('flowcontrol/v1.FlowSchema', 'a schema', {}, { 'spec.matchingPrecedence': 1000 }),
  of(
    plc('v1'),
    'a level without limits',
    { spec: { type: 'Exempt', exempt: {} } },
    {
      'spec.exempt.nominalConcurrencyShares': 0,
      'spec.exempt.lendablePercent': 0,
    },
  ),
  of(plc('v1'), 'a level', level({ limitResponse: { queuing: {} } }), {
    [shares]: 30,
    ...lends,
    ...queuing,
  }),
  of(plc('v1'), 'no shares stay no shares', level({ nominalConcurrencyShares: 0 }), lends),
  of(plc('v1beta3'), 'no shares cannot be told from none', level({}), { [shares]: 30, ...lends }),
  of(
    plc('v1beta3'),
    'no shares of the newer version are marked',
    { ...level({}), metadata: { annotations: { [preserve]: '' } } },
    lends,
  ),
  of(plc('v1beta2'), 'a level', level({}), {
    'spec.limited.assuredConcurrencyShares': 30,
    ...lends,
  }),
];

const now = '2024-05-01T12:30:00Z';
const request = (path: string): Adds => ({
  [`${path}.exactly.allocationMode`]: 'ExactCount',
  [`${path}.exactly.count`]: 1,
  [`${path}.firstAvailable[0].allocationMode`]: 'ExactCount',
  [`${path}.firstAvailable[0].count`]: 1,
  [`${path}.exactly.tolerations[0].operator`]: 'Equal',
});
const requests = [{ exactly: { tolerations: [{}] }, firstAvailable: [{}] }];
const devices: readonly DefaultCase[] = [
  ...['v1', 'v1beta2'].flatMap((version) => [
    of(
      `resource/${version}.ResourceClaim`,
      'a claim',
      { spec: { devices: { requests } } },
      request('spec.devices.requests[0]'),
    ),
    of(
      `resource/${version}.ResourceClaimTemplate`,
      'a template of claims',
      { spec: { spec: { devices: { requests } } } },
      request('spec.spec.devices.requests[0]'),
    ),
  ]),
  of(
    'resource/v1.ResourceClaim',
    'a claim of all devices',
    {
      spec: { devices: { requests: [{ exactly: { allocationMode: 'All' } }] } },
    },
    {},
  ),
  of(
    'resource/v1beta1.ResourceClaim',
    'a claim, one with choices, and one without a class',
    {
      spec: {
        devices: {
          requests: [{ deviceClassName: 'c' }, { firstAvailable: [{ count: 2 }] }, {}],
        },
      },
    },
    {
      'spec.devices.requests[0].allocationMode': 'ExactCount',
      'spec.devices.requests[0].count': 1,
      'spec.devices.requests[1].firstAvailable[0].allocationMode': 'ExactCount',
    },
  ),
  of(
    'resource/v1.ResourceSlice',
    'devices of a node',
    { spec: { devices: [{ taints: [{}], nodeAllocatableResourceMappings: { cpu: {} } }] } },
    {
      'spec.devices[0].taints[0].timeAdded': now,
      'spec.devices[0].nodeAllocatableResourceMappings.cpu.allocationMultiplier': '1',
    },
  ),
  ...['v1alpha3', 'v1beta2'].map((version) =>
    of(`resource/${version}.DeviceTaintRule`, 'a taint', {}, { 'spec.taint.timeAdded': now }),
  ),
  of('resource/v1alpha3.ResourcePoolStatusRequest', 'a question', {}, { 'spec.limit': 100 }),
  of('scheduling/v1.PriorityClass', 'a class', {}, { preemptionPolicy: 'PreemptLowerPriority' }),
  of('scheduling/v1alpha2.PodGroup', 'a group', {}, {}),
  of(
    'scheduling/v1alpha2.PodGroup',
    'a group where the feature is on',
    {},
    { 'spec.disruptionMode': 'Pod' },
    { gates: { WorkloadAwarePreemption: true } },
  ),
];

const definition = 'apiextensions/v1.CustomResourceDefinition';
const names = { plural: 'widgets', kind: 'Widget' };
const versions = [{ name: 'v1' }, { name: 'v2', storage: true }];
const extensions: readonly DefaultCase[] = [
  of(
    definition,
    'a definition',
    { spec: { names, versions } },
    {
      'spec.names.singular': 'widget',
      'spec.names.listKind': 'WidgetList',
      'spec.conversion.strategy': 'None',
      'status.storedVersions': ['v2'],
    },
  ),
  of(
    definition,
    'a definition with a webhook',
    {
      spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: {} } } } },
    },
    { 'spec.conversion.webhook.clientConfig.service.port': 443 },
  ),
  of('apiregistration/v1.APIService', 'a version answered here', {}, {}),
  of(
    'apiregistration/v1.APIService',
    'a version answered elsewhere',
    { spec: { service: {} } },
    {
      'spec.service.port': 443,
    },
  ),
];

export const groupCases: readonly DefaultCase[] = [
  ...batch,
  ...autoscaling,
  ...networking,
  ...access,
  ...storage,
  ...admission,
  ...flowControl,
  ...devices,
  ...extensions,
];

// What pods and pod templates gain. For suites.
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { DefaultCase } from './default-case.ts';

type Adds = DefaultCase['adds'];

/** Of every pod spec. */
export const podSpecAdds = (path: string): Adds => ({
  [`${path}.dnsPolicy`]: 'ClusterFirst',
  [`${path}.restartPolicy`]: 'Always',
  [`${path}.securityContext`]: {},
  [`${path}.terminationGracePeriodSeconds`]: 30,
  [`${path}.schedulerName`]: 'default-scheduler',
});
const podAdds: Adds = { ...podSpecAdds('spec'), 'spec.enableServiceLinks': true };
const containerAdds = (path: string): Adds => ({
  [`${path}.imagePullPolicy`]: 'IfNotPresent',
  [`${path}.terminationMessagePath`]: '/dev/termination-log',
  [`${path}.terminationMessagePolicy`]: 'File',
});
const image = 'app:1';
const below = (path: string, adds: Readonly<Record<string, JsonValue>>): Adds =>
  Object.fromEntries(Object.entries(adds).map(([name, value]) => [`${path}.${name}`, value]));
const probeTimes = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};

/** A case of one container of a pod. */
const ofContainer = (claim: string, container: JsonObject, adds: Adds, spec = {}): DefaultCase => ({
  claim,
  type: 'core/v1.Pod',
  given: { spec: { containers: [{ name: 'c', image, ...container }], ...spec } },
  adds: { ...podAdds, ...containerAdds('spec.containers[0]'), ...adds },
});

/** A case of one volume of a pod. */
const ofVolume = (claim: string, volume: JsonObject, adds: Adds): DefaultCase => ({
  claim,
  type: 'core/v1.Pod',
  given: { spec: { containers: [], volumes: [{ name: 'v', ...volume }] } },
  adds: { ...podAdds, ...adds },
});
const volume = 'spec.volumes[0]';

const pulled = (given: string, policy: string): DefaultCase =>
  ofContainer(
    `the image ${JSON.stringify(given)} is pulled ${policy}`,
    { image: given },
    { 'spec.containers[0].imagePullPolicy': policy },
  );

const podStatusCase = (claim: string, status: JsonObject, adds: Adds): DefaultCase => ({
  claim,
  type: 'core/v1.PodStatus',
  given: status,
  adds,
});

/** Fields of which one is an older form of the other. */
const twinCases: readonly DefaultCase[] = [
  ofContainer(
    'the older name of a service account is taken',
    {},
    { 'spec.serviceAccountName': 'a' },
    {
      serviceAccount: 'a',
    },
  ),
  ofContainer(
    'the older name follows the service account',
    {},
    { 'spec.serviceAccount': 'b' },
    {
      serviceAccountName: 'b',
      serviceAccount: 'a',
    },
  ),
  podStatusCase('an address is the list', { podIP: '10.0.0.1' }, { podIPs: [{ ip: '10.0.0.1' }] }),
  podStatusCase(
    'an address wins over the list',
    { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }, { ip: 'fd00::1' }] },
    { podIPs: [{ ip: '10.0.0.1' }] },
  ),
  podStatusCase('an address is the first of the list', { podIPs: [{ ip: 'x' }] }, { podIP: 'x' }),
  podStatusCase('no address is none of a list', { podIPs: [{}] }, {}),
  {
    claim: 'a negative grace period of a pod is the shortest one',
    type: 'core/v1.Pod',
    given: { spec: { terminationGracePeriodSeconds: -1 } },
    adds: { ...podAdds, 'spec.terminationGracePeriodSeconds': 1 },
  },
  {
    claim: 'init containers as annotations of a pod are gone',
    type: 'core/v1.Pod',
    given: { metadata: { annotations: { 'pod.beta.kubernetes.io/init-containers': '[]' } } },
    adds: { ...podAdds, 'metadata.annotations': undefined },
  },
  {
    claim: 'init containers as annotations of a template are gone, others stay',
    type: 'core/v1.PodTemplateSpec',
    given: {
      metadata: { annotations: { 'pod.alpha.kubernetes.io/init-container-statuses': '', a: 'b' } },
    },
    adds: {
      ...podSpecAdds('spec'),
      'metadata.annotations["pod.alpha.kubernetes.io/init-container-statuses"]': undefined,
    },
  },
  {
    claim: 'a negative grace period of a template stays',
    type: 'core/v1.PodTemplateSpec',
    given: {
      spec: {
        dnsPolicy: 'Default',
        restartPolicy: 'Never',
        schedulerName: 'own',
        securityContext: {},
        terminationGracePeriodSeconds: -1,
      },
    },
    adds: {},
  },
];

const containerCases: readonly DefaultCase[] = [
  { claim: 'an empty pod', type: 'core/v1.Pod', given: {}, adds: podAdds },
  {
    claim: 'values that are given stay',
    type: 'core/v1.Pod',
    given: {
      spec: {
        containers: [],
        dnsPolicy: 'None',
        restartPolicy: 'Never',
        securityContext: { runAsUser: 5 },
        terminationGracePeriodSeconds: 0,
        schedulerName: 'own',
        enableServiceLinks: false,
      },
    },
    adds: {},
  },
  ofContainer('a container', {}, {}),
  {
    claim: 'init and ephemeral containers, too',
    type: 'core/v1.Pod',
    given: {
      spec: {
        containers: [],
        initContainers: [{ name: 'i', image }],
        ephemeralContainers: [{ name: 'e', image }],
      },
    },
    adds: {
      ...podAdds,
      ...containerAdds('spec.initContainers[0]'),
      ...containerAdds('spec.ephemeralContainers[0]'),
    },
  },
  pulled('app', 'Always'),
  pulled('app:latest', 'Always'),
  pulled('app:1', 'IfNotPresent'),
  pulled('host:5000/app', 'Always'),
  pulled('host:5000/app:1', 'IfNotPresent'),
  pulled(`app@sha256:${'0'.repeat(64)}`, 'IfNotPresent'),
  pulled(`app:latest@sha256:${'0'.repeat(64)}`, 'Always'),
  pulled('No_Image!', 'IfNotPresent'),
  ofContainer(
    'ports speak TCP',
    { ports: [{ containerPort: 80 }] },
    { 'spec.containers[0].ports[0].protocol': 'TCP' },
  ),
  ofContainer(
    'ports are those of the host in its network',
    {
      ports: [
        { containerPort: 80, protocol: 'UDP' },
        { containerPort: 81, hostPort: 82 },
      ],
    },
    {
      'spec.containers[0].ports[0].hostPort': 80,
      'spec.containers[0].ports[1].protocol': 'TCP',
    },
    { hostNetwork: true },
  ),
  ofContainer(
    'variables from fields and files',
    {
      env: [
        { name: 'A', valueFrom: { fieldRef: { fieldPath: 'x' } } },
        { name: 'B', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } },
      ],
    },
    {
      'spec.containers[0].env[0].valueFrom.fieldRef.apiVersion': 'v1',
      'spec.containers[0].env[1].valueFrom.fileKeyRef.optional': false,
    },
  ),
  ofContainer(
    'a limit without a request is the request; amounts have three decimals',
    { resources: { limits: { cpu: '100u', memory: '1Gi' }, requests: { memory: '1Mi' } } },
    {
      'spec.containers[0].resources.limits.cpu': '1m',
      'spec.containers[0].resources.requests.cpu': '1m',
    },
  ),
  ofContainer(
    'probes have times, and HTTP has a path and a scheme',
    {
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { grpc: { port: 1 } },
      startupProbe: { exec: {}, periodSeconds: 5 },
      lifecycle: { postStart: { httpGet: { port: 80 } }, preStop: { httpGet: { port: 80 } } },
    },
    {
      ...below('spec.containers[0].livenessProbe', probeTimes),
      ...below('spec.containers[0].readinessProbe', probeTimes),
      ...below('spec.containers[0].startupProbe', {
        timeoutSeconds: 1,
        successThreshold: 1,
        failureThreshold: 3,
      }),
      'spec.containers[0].readinessProbe.grpc.service': '',
      ...below('spec.containers[0].livenessProbe.httpGet', { path: '/', scheme: 'HTTP' }),
      ...below('spec.containers[0].lifecycle.postStart.httpGet', { path: '/', scheme: 'HTTP' }),
      ...below('spec.containers[0].lifecycle.preStop.httpGet', { path: '/', scheme: 'HTTP' }),
    },
  ),
];

const limited = (amount: string): JsonObject => ({
  limits: { cpu: amount, 'hugepages-2Mi': '4Mi' },
  requests: { cpu: amount, 'hugepages-2Mi': '4Mi' },
});
const podLevel = (resources: JsonObject): JsonObject => ({
  spec: {
    containers: [
      { name: 'c', image, resources: limited('1') },
      { name: 'd', image, resources: limited('500m') },
    ],
    initContainers: [{ name: 'i', image, resources: { requests: { cpu: '2' } } }],
    resources,
  },
});
const threeContainers: Adds = {
  ...podAdds,
  ...containerAdds('spec.containers[0]'),
  ...containerAdds('spec.containers[1]'),
  ...containerAdds('spec.initContainers[0]'),
};

const podLevelCases: readonly DefaultCase[] = [
  {
    claim: 'a limit of the whole pod is completed from its containers',
    type: 'core/v1.Pod',
    given: podLevel({ limits: { cpu: '4', memory: '1Gi' } }),
    adds: {
      ...threeContainers,
      'spec.resources.limits.hugepages-2Mi': '8Mi',
      'spec.resources.requests.cpu': '2',
      'spec.resources.requests.memory': '1Gi',
      'spec.resources.requests.hugepages-2Mi': '8Mi',
    },
  },
  {
    claim: 'as many huge pages of the whole pod are requested as it may use',
    type: 'core/v1.Pod',
    given: podLevel({ limits: { cpu: '4', 'hugepages-2Mi': '16Mi' } }),
    adds: {
      ...threeContainers,
      'spec.resources.requests.cpu': '2',
      'spec.resources.requests.hugepages-2Mi': '16Mi',
    },
  },
  {
    claim: 'a whole pod that says nothing gains nothing',
    type: 'core/v1.Pod',
    given: podLevel({}),
    adds: threeContainers,
  },
  {
    claim: 'a request of the whole pod without a limit gains the huge pages',
    type: 'core/v1.Pod',
    given: podLevel({ requests: { 'hugepages-2Mi': '8Mi' } }),
    adds: threeContainers,
  },
  {
    claim: 'nothing of the whole pod with the feature off',
    type: 'core/v1.Pod',
    given: podLevel({ limits: { cpu: '4' } }),
    adds: threeContainers,
    gates: { PodLevelResources: false },
  },
];

const mode = 420;
const volumeCases: readonly DefaultCase[] = [
  ofVolume('no source at all is an empty directory', {}, { [`${volume}.emptyDir`]: {} }),
  ofVolume('a secret', { secret: {} }, { [`${volume}.secret.defaultMode`]: mode }),
  ofVolume('a config map', { configMap: {} }, { [`${volume}.configMap.defaultMode`]: mode }),
  ofVolume(
    'fields of the pod',
    { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'x' } }] } },
    {
      [`${volume}.downwardAPI.defaultMode`]: mode,
      [`${volume}.downwardAPI.items[0].fieldRef.apiVersion`]: 'v1',
    },
  ),
  ofVolume(
    'projected sources',
    {
      projected: {
        sources: [
          { serviceAccountToken: { path: 't' } },
          { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'x' } }] } },
        ],
      },
    },
    {
      [`${volume}.projected.defaultMode`]: mode,
      [`${volume}.projected.sources[0].serviceAccountToken.expirationSeconds`]: 3600,
      [`${volume}.projected.sources[1].downwardAPI.items[0].fieldRef.apiVersion`]: 'v1',
    },
  ),
  ofVolume('a host path', { hostPath: { path: '/' } }, { [`${volume}.hostPath.type`]: '' }),
  ofVolume(
    'a disk over the network',
    { iscsi: { targetPortal: 't', iqn: 'i', lun: 0 } },
    { [`${volume}.iscsi.iscsiInterface`]: 'default' },
  ),
  ofVolume(
    'a block device of ceph',
    { rbd: { monitors: ['m'], image: 'i' } },
    below(`${volume}.rbd`, { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' }),
  ),
  ofVolume(
    'a disk of azure',
    { azureDisk: { diskName: 'd', diskURI: 'u' } },
    below(`${volume}.azureDisk`, {
      cachingMode: 'ReadWrite',
      fsType: 'ext4',
      readOnly: false,
      kind: 'Shared',
    }),
  ),
  ofVolume(
    'a disk of scaleio',
    { scaleIO: { gateway: 'g', system: 's', secretRef: {} } },
    below(`${volume}.scaleIO`, { storageMode: 'ThinProvisioned', fsType: 'xfs' }),
  ),
  ofVolume(
    'an image that moves',
    { image: { reference: 'data:latest' } },
    { [`${volume}.image.pullPolicy`]: 'Always' },
  ),
  ofVolume(
    'an image that stays',
    { image: { reference: 'data:1' } },
    { [`${volume}.image.pullPolicy`]: 'IfNotPresent' },
  ),
  ofVolume(
    'a claim of its own',
    { ephemeral: { volumeClaimTemplate: { spec: {} } } },
    { [`${volume}.ephemeral.volumeClaimTemplate.spec.volumeMode`]: 'Filesystem' },
  ),
];

export const podCases: readonly DefaultCase[] = [
  ...containerCases,
  ...twinCases,
  ...podLevelCases,
  ...volumeCases,
];

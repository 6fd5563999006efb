// What feature gates change in this server, and the test that shows it: one row for each gate that
// can be switched. Every other known gate is accepted without effect here.

export interface GateEffect {
  readonly changes: string;
  /** `file › title`, as they stand in the source. */
  readonly test: string;
}

const gatesTest = 'lib/registry/feature-gates.test.ts';
const fieldsTest = `${gatesTest} › fields of %s are dropped from new objects while it is off`;
const defaultsTest = `${gatesTest} › %s changes the defaults of %s`;
const rulesTest = `${gatesTest} › %s changes what is refused in %s`;
const declaredTest = `${gatesTest} › migrated rules, `;

const row = (changes: string, test: string): GateEffect => ({ changes, test });
/** Fields as `Type.field`; clients' values are dropped while the gate is off. */
const fields = (...names: readonly string[]): GateEffect =>
  row(`accepts ${names.join(', ')}`, fieldsTest);

export const effectiveGates = {
  APIResponseCompression: row(
    'gzip answers of get and list above the threshold',
    'lib/server/respond.test.ts › is not compressed with the gate off, and HEAD gets headers alone',
  ),
  AllowInsecureKubeletCertificateSigningRequests: row(
    "nodes may ask for certificates of other nodes' names",
    'lib/admission/plugins/node-restriction-requests.test.ts › with its gate it is not looked at',
  ),
  AllowParsingUserUIDFromCertAuth: row(
    'the uid attribute of a client certificate is the uid of its user',
    'lib/authn/client-cert.test.ts › a uid is read with its gate on alone',
  ),
  AllowUnsafeMalformedObjectDeletion: row(
    'delete objects whose stored bytes cannot be read',
    'lib/registry/delete.test.ts › ' +
      'of an unreadable object needs the unsafe option and its permission',
  ),
  CBORServingAndStorage: row(
    'bodies, answers and watches in CBOR, and --storage-media-type=application/cbor',
    'lib/server/serializers.test.ts › without the gate CBOR is neither offered nor taken',
  ),
  CRDObservedGenerationTracking: fields(
    'CustomResourceDefinitionCondition.observedGeneration',
    'CustomResourceDefinitionStatus.observedGeneration',
  ),
  ClearingNominatedNodeNameAfterBinding: row('no node is nominated for pods that run', rulesTest),
  ClusterTrustBundle: row(
    'trust bundles of a signer are written by who may attest for it',
    'lib/admission/plugins/certificates.test.ts › is left alone without its feature gate',
  ),
  ClusterTrustBundleProjection: fields('VolumeProjection.clusterTrustBundle'),
  ComponentFlagz: row(
    'serves /flagz: the flags and their values',
    'lib/server/z-pages.test.ts › without %s there are %j',
  ),
  ComponentStatusz: row(
    'serves /statusz: what the process is and since when it runs',
    'lib/server/z-pages.test.ts › without %s there are %j',
  ),
  ConstrainedImpersonation: row(
    'users may act as others for some requests: impersonate:MODE, impersonate-on:MODE:VERB',
    'lib/server/filters/impersonate.test.ts › without the gate only impersonate is asked for',
  ),
  ContainerRestartRules: fields('Container.restartPolicyRules'),
  ContainerStopSignals: fields('ContainerStatus.stopSignal', 'Lifecycle.stopSignal'),
  CoordinatedLeaderElection: fields('LeaseSpec.strategy', 'LeaseSpec.preferredHolder'),
  CrossNamespaceVolumeDataSource: row(
    'accepts TypedObjectReference.namespace in claims',
    'lib/kinds/core/persistent-volumes.test.ts › ' +
      'a source in another namespace is none without its feature, unless one is stored',
  ),
  DRAConsumableCapacity: fields(
    'Device.allowMultipleAllocations',
    'DeviceCapacity.requestPolicy',
    'DeviceConstraint.distinctAttribute',
    'capacity of device requests',
    'shareID and consumedCapacity of allocations',
  ),
  DRADeviceBindingConditions: fields(
    'AllocationResult.allocationTimestamp',
    'binding conditions of devices',
  ),
  DRADeviceTaints: fields('Device.taints', 'tolerations of device requests'),
  DRAExtendedResource: fields(
    'DeviceClassSpec.extendedResourceName',
    'PodStatus.extendedResourceClaimStatus',
  ),
  DRAListTypeAttributes: fields('lists as values of DeviceAttribute'),
  DRANodeAllocatableResources: fields(
    'Device.nodeAllocatableResourceMappings',
    'PodStatus.nodeAllocatableResourceClaimStatuses',
  ),
  DRAPartitionableDevices: fields(
    'Device.consumesCounters',
    'node selection of single devices',
    'ResourceSliceSpec.sharedCounters',
  ),
  DRAPrioritizedList: fields('DeviceRequest.firstAvailable'),
  DRAResourceClaimDeviceStatus: fields('ResourceClaimStatus.devices'),
  DRAResourceClaimGranularStatusAuthorization: row(
    "changes of a claim's status need permissions of their own",
    'lib/kinds/resource/claims.test.ts › one permission is enough',
  ),
  DRAWorkloadResourceClaims: fields('PodGroupSpec.resourceClaims'),
  DeclarativeValidation: row(
    'migrated rules run in both forms and are compared',
    `${declaredTest}in both forms, are compared`,
  ),
  DeclarativeValidationTakeover: row(
    'the declarative form of migrated rules decides',
    `${declaredTest}taken over, decide in their declarative form`,
  ),
  EnvFiles: fields('EnvVarSource.fileKeyRef'),
  GenericWorkload: fields('PodSpec.schedulingGroup'),
  HPAConfigurableTolerance: fields('HPAScalingRules.tolerance'),
  HPAScaleToZero: row('horizontal pod autoscalers may scale to zero', rulesTest),
  HostnameOverride: fields('PodSpec.hostnameOverride'),
  ImageVolumeWithDigest: fields('VolumeStatus.image'),
  InPlacePodLevelResourcesVerticalScaling: fields(
    'PodStatus.allocatedResources',
    'PodStatus.resources',
  ),
  InPlacePodVerticalScalingInitContainers: row(
    'init containers that end can be resized',
    'lib/registry/testdata/validation/pod-writes.txt › init containers that end need their gate',
  ),
  KubeletServiceAccountTokenForCredentialProviders: row(
    'nodes may read the service accounts of their pods',
    'lib/authz/node/node-authorizer.test.ts › without its gates accounts are not read',
  ),
  ListFromCacheSnapshot: row(
    'exact lists and continue tokens are answered from memory for a while',
    'lib/cacher/cache.test.ts › exact: the state at the revision, from memory and equal to etcd',
  ),
  ManifestBasedAdmissionControlConfig: row(
    'webhooks and policies of admission in files (staticManifestsDir)',
    'cmd/apiserver/static-manifests.test.ts › s.gate: without its gate no folder is taken',
  ),
  MatchLabelKeysInPodTopologySpreadSelectorMerge: row(
    'rules of spread may match labels of the pod that their selector names, too',
    rulesTest,
  ),
  MaxUnavailableStatefulSet: row(
    'accepts RollingUpdateStatefulSetStrategy.maxUnavailable, which defaults to 1',
    defaultsTest,
  ),
  MutablePVNodeAffinity: row('the node affinity of persistent volumes may change', rulesTest),
  MutablePodResourcesForSuspendedJobs: row(
    'jobs that are suspended and have no pods may change what their pods use',
    rulesTest,
  ),
  MutableSchedulingDirectivesForSuspendedJobs: row(
    'jobs that were started and suspended again may change where their pods run',
    rulesTest,
  ),
  NodeDeclaredFeatures: fields('NodeStatus.declaredFeatures'),
  OpenAPIEnums: row(
    'OpenAPI documents list the values of fields that have a closed set',
    'lib/discovery/openapi.test.ts › list no values when the gate is off',
  ),
  PodCertificateRequest: row(
    'accepts VolumeProjection.podCertificate; nodes ask for certificates of their pods',
    fieldsTest,
  ),
  PodLevelResources: row(
    "accepts PodSpec.resources and completes a pod's own resources from its containers'",
    defaultsTest,
  ),
  PodLogsQuerySplitStreams: row(
    'the stream of a log request can be chosen and defaults to all',
    defaultsTest,
  ),
  PodTopologyLabelsAdmission: row(
    'pods get the topology labels of their node',
    'lib/admission/plugins/pod-topology-labels.test.ts › ' +
      'p.PodTopologyLabels: not without its gate',
  ),
  RelaxedServiceNameValidation: row(
    'services that ingresses name may begin with digits',
    rulesTest,
  ),
  RemoteRequestHeaderUID: row(
    'accepts --requestheader-uid-headers',
    'cmd/apiserver/authentication.test.ts › uid headers need their gate',
  ),
  ResourceHealthStatus: fields('ContainerStatus.allocatedResourcesStatus'),
  ResourceHealthStatusMessage: fields('ResourceHealth.message'),
  RestartAllContainersOnContainerExits: row(
    'restart rules of containers may restart all of the pod',
    rulesTest,
  ),
  SELinuxMount: row('volumes of pods may be mounted with their labels', rulesTest),
  ServiceAccountNodeAudienceRestriction: row(
    'nodes are given tokens for audiences that their pods name alone',
    'lib/admission/plugins/node-restriction-tokens.test.ts › without its gate any is given',
  ),
  StructuredAuthenticationConfigurationEgressSelector: row(
    'accepts jwt[].issuer.egressSelectorType in the authentication configuration',
    'lib/authn/jwt/validate.test.ts › ' +
      'issuer.egressSelectorType: controlplane or cluster, needs its gate',
  ),
  StructuredAuthenticationConfigurationJWKSMetrics: row(
    'serves metrics of when the keys of issuers were read, and which they are',
    'cmd/apiserver/jwt-observer.test.ts › the keys of issuers are shown while they are in force',
  ),
  TaintTolerationComparisonOperators: row('tolerations may compare by Lt and Gt', rulesTest),
  TopologyAwareWorkloadScheduling: fields('PodGroupSpec.schedulingConstraints'),
  UserNamespacesHostNetworkSupport: row(
    'pods with users of their own may be in the network of the host',
    rulesTest,
  ),
  VolumeLimitScaling: row(
    'accepts CSIDriverSpec.preventPodSchedulingIfMissing, which defaults to false',
    defaultsTest,
  ),
  WatchList: row(
    'watches that begin with the current state (sendInitialEvents)',
    'lib/registry/read-mode.test.ts › streaming lists need their gate',
  ),
  WorkloadAwarePreemption: row(
    'pod groups have a priority and say how they are disrupted, by default pod by pod',
    defaultsTest,
  ),
  WorkloadWithJob: row(
    'the parallelism of jobs that are scheduled as a gang cannot change',
    'lib/admission/plugins/pod-groups.test.ts › ' +
      'p.PodGroupProtection, p.PodGroupWorkloadExists, p.JobValidation: not without a gate',
  ),
} as const satisfies Readonly<Record<string, GateEffect>>;

export type GateName = keyof typeof effectiveGates;

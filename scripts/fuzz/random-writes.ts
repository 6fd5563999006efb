// Random objects of the kinds that built-in admission plugins look at, and writes of them.
import type { AdmissionOperation, AdmissionRequest } from '../../lib/admission/plugin.ts';
import { naming, resourceOf } from '../../lib/admission/testing/asked.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import type { User } from '../../lib/base/user.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';
import type { Random } from './random.ts';

export interface RandomWrite {
  readonly resource: string;
  readonly group: string;
  /** Of what is served only behind a flag. */
  readonly record: AdmissionRequest['resource'] | undefined;
  readonly operation: AdmissionOperation;
  readonly subresource: string;
  readonly namespace: string;
  readonly object: ApiObject;
  readonly old: ApiObject | undefined;
}

const hostile = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'a/b',
  'é'.repeat(80),
  'x'.repeat(300),
];
const names = ['a', 'b', 'n', 'w', 'default', 'system-node-critical'];
const quantities = ['0', '1', '100m', '1Gi', '-1', '1e30', '1u', '99999999999999999999', 'no', ''];
const resources = [
  'cpu',
  'memory',
  'ephemeral-storage',
  'example.com/gpu',
  'hugepages-2Mi',
  '__proto__',
];

const half = (random: Random): boolean => random.below(2) === 0;
const textOf = (random: Random): string => random.of(random.below(4) === 0 ? hostile : names);
const maybe = <T>(random: Random, value: () => T): T | undefined =>
  half(random) ? value() : undefined;
const some = <T>(random: Random, most: number, one: () => T): T[] =>
  Array.from({ length: random.below(most + 1) }, one);

/** Without the members that are undefined. */
const made = (members: Record<string, unknown>): JsonObject =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as JsonObject; // Plain JSON, made here.

const mapOf = (random: Random, keys: readonly string[], value: () => string): JsonObject =>
  Object.fromEntries(some(random, 3, () => [random.of(keys), value()]));

const svc = (text: string): string => naming.resolve(text);
const annotationKeys = [
  'scheduler.alpha.{kubernetes}.io/node-selector',
  'scheduler.alpha.{kubernetes}.io/defaultTolerations',
  'scheduler.alpha.{kubernetes}.io/tolerationsWhitelist',
  '{kubernetes}.io/enforce-mountable-secrets',
  '{kubernetes}.io/config.mirror',
  'storageclass.{kubernetes}.io/is-default-class',
  'ingressclass.{kubernetes}.io/is-default-class',
  'volume.beta.{kubernetes}.io/storage-class',
  '__proto__',
].map(svc);
const annotationTexts = [
  'a=b',
  'a=b,c=d',
  '=',
  'true',
  '[{"key":"k","operator":"Exists"}]',
  '[{"key":"__proto__","tolerationSeconds":5,"effect":"NoExecute"}]',
  '[[[[',
  '[{"key":1}]',
  '',
];

function metaOf(random: Random, name: string): JsonObject {
  return made({
    name,
    namespace: 'a',
    uid: random.of(['u', 'v']),
    generation: random.below(3),
    generateName: maybe(random, () => 'g-'),
    labels: maybe(random, () => mapOf(random, [...labelKeys, ...hostile], () => textOf(random))),
    annotations: maybe(random, () =>
      mapOf(random, annotationKeys, () => random.of(annotationTexts)),
    ),
    finalizers: maybe(random, () => some(random, 2, () => textOf(random))),
    deletionTimestamp: random.below(6) === 0 ? '2026-01-01T00:00:00Z' : undefined,
    ownerReferences: maybe(random, () =>
      some(random, 2, () => ({
        apiVersion: random.of(['v1', 'apps/v1', 'x/y/z']),
        kind: random.of(['Node', 'Pod', 'Other']),
        name: textOf(random),
        uid: random.of(['u', 'v']),
        controller: half(random),
        blockOwnerDeletion: half(random),
      })),
    ),
  });
}
const labelKeys = ['a', 'topology.{kubernetes}.io/zone', '{kubernetes}.io/os'].map(svc);

const amountsOf = (random: Random): JsonObject =>
  mapOf(random, resources, () => random.of(quantities));
const requirementsOf = (random: Random): JsonObject =>
  made({
    requests: maybe(random, () => amountsOf(random)),
    limits: maybe(random, () => amountsOf(random)),
  });

const containerOf = (random: Random): JsonObject =>
  made({
    name: textOf(random),
    image: textOf(random),
    imagePullPolicy: maybe(random, () => random.of(['Always', 'Never', ''])),
    resources: maybe(random, () => requirementsOf(random)),
    restartPolicy: maybe(random, () => 'Always'),
    volumeMounts: maybe(random, () => some(random, 2, () => ({ name: 'v', mountPath: '/v' }))),
    env: maybe(random, () => [
      { name: 'E', valueFrom: { secretKeyRef: { name: textOf(random), key: 'k' } } },
    ]),
  });

const tolerationOf = (random: Random): JsonObject =>
  made({
    key: maybe(random, () =>
      random.of(['k', 'example.com/gpu', svc('node.{kubernetes}.io/not-ready')]),
    ),
    operator: maybe(random, () => random.of(['Exists', 'Equal', ''])),
    value: maybe(random, () => textOf(random)),
    effect: maybe(random, () => random.of(['NoSchedule', 'NoExecute', ''])),
    tolerationSeconds: maybe(random, () => random.below(100)),
  });

function podSpecOf(random: Random): JsonObject {
  const list = (): JsonObject[] => some(random, 3, () => containerOf(random));
  return made({
    containers: list(),
    initContainers: maybe(random, list),
    ephemeralContainers: maybe(random, list),
    nodeName: maybe(random, () => textOf(random)),
    nodeSelector: maybe(random, () => mapOf(random, ['a', 'c', '__proto__'], () => textOf(random))),
    tolerations: maybe(random, () => some(random, 4, () => tolerationOf(random))),
    priorityClassName: maybe(random, () => textOf(random)),
    priority: maybe(random, () => random.of([0, 5])),
    preemptionPolicy: maybe(random, () => random.of(['Never', 'PreemptLowerPriority'])),
    runtimeClassName: maybe(random, () => textOf(random)),
    overhead: maybe(random, () => amountsOf(random)),
    resources: maybe(random, () => requirementsOf(random)),
    serviceAccountName: maybe(random, () => textOf(random)),
    automountServiceAccountToken: maybe(random, () => half(random)),
    imagePullSecrets: maybe(random, () => [{ name: textOf(random) }]),
    schedulingGroup: maybe(random, () => ({ podGroupName: textOf(random) })),
    volumes: maybe(random, () => [
      { name: 'v', image: { reference: 'r', pullPolicy: random.of(['Never', 'Always']) } },
      { name: 'w', secret: { secretName: textOf(random) } },
    ]),
    affinity: maybe(random, () => ({
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: textOf(random) }],
      },
    })),
  });
}

const template = (random: Random): JsonObject => ({ metadata: {}, spec: podSpecOf(random) });
const classRef = (random: Random): string | undefined => maybe(random, () => textOf(random));
const policyOf = (random: Random): JsonObject =>
  random.of<JsonObject>([{ gang: { minCount: 2 } }, { basic: {} }]);

/** What follows the metadata, by resource. */
const bodies: Readonly<Record<string, (random: Random) => JsonObject>> = {
  pods: (random) => ({ spec: podSpecOf(random), status: {} }),
  nodes: (random) => ({
    spec: made({ taints: maybe(random, () => [{ key: 'k', effect: 'NoSchedule' }]) }),
    status: made({
      allocatable: maybe(random, () => amountsOf(random)),
      declaredFeatures: maybe(random, () => ['InPlacePodLevelResourcesVerticalScaling']),
    }),
  }),
  namespaces: () => ({ spec: {}, status: {} }),
  services: (random) => ({ spec: made({ externalIPs: maybe(random, () => ['192.0.2.1']) }) }),
  serviceaccounts: (random) =>
    made({
      secrets: maybe(random, () => [{ name: textOf(random) }]),
      imagePullSecrets: maybe(random, () => [{ name: textOf(random) }]),
      automountServiceAccountToken: maybe(random, () => half(random)),
    }),
  limitranges: (random) => ({
    spec: {
      limits: some(random, 3, () =>
        made({
          type: random.of(['Container', 'Pod', 'PersistentVolumeClaim', '']),
          default: maybe(random, () => amountsOf(random)),
          defaultRequest: maybe(random, () => amountsOf(random)),
          min: maybe(random, () => amountsOf(random)),
          max: maybe(random, () => amountsOf(random)),
          maxLimitRequestRatio: maybe(random, () => amountsOf(random)),
        }),
      ),
    },
  }),
  persistentvolumeclaims: (random) => ({
    spec: made({
      storageClassName: classRef(random),
      resources: { requests: made({ storage: maybe(random, () => random.of(quantities)) }) },
    }),
    status: { phase: random.of(['Bound', 'Pending']) },
  }),
  persistentvolumes: () => ({ spec: {} }),
  events: (random) => ({
    source: { component: textOf(random), host: textOf(random) },
    involvedObject: { kind: 'Pod', name: textOf(random) },
  }),
  storageclasses: (random) => ({ allowVolumeExpansion: half(random) }),
  priorityclasses: (random) =>
    made({
      value: random.of([0, 5, -5]),
      globalDefault: half(random),
      preemptionPolicy: maybe(random, () => 'Never'),
    }),
  runtimeclasses: (random) =>
    made({
      overhead: maybe(random, () => ({ podFixed: amountsOf(random) })),
      scheduling: maybe(random, () =>
        made({
          nodeSelector: maybe(random, () => mapOf(random, ['a', 'c'], () => textOf(random))),
          tolerations: maybe(random, () => some(random, 2, () => tolerationOf(random))),
        }),
      ),
    }),
  ingresses: (random) => ({ spec: made({ ingressClassName: classRef(random) }) }),
  ingressclasses: () => ({ spec: {} }),
  jobs: (random) => ({ spec: { parallelism: random.below(3), template: template(random) } }),
  podgroups: (random) => ({
    spec: made({
      schedulingPolicy: policyOf(random),
      podGroupTemplateRef: maybe(random, () => ({
        workload: { workloadName: textOf(random), podGroupTemplateName: textOf(random) },
      })),
      priorityClassName: maybe(random, () => textOf(random)),
    }),
  }),
  workloads: (random) => ({ spec: { podGroupTemplates: [{ name: textOf(random) }] } }),
  certificatesigningrequests: (random) => ({
    spec: {
      signerName: random.of([svc('{kubernetes}.io/{kube}-apiserver-client'), 'a/b', '']),
      request: textOf(random),
    },
    status: made({ certificate: maybe(random, () => textOf(random)) }),
  }),
  replicasets: (random) => ({ spec: { template: template(random) } }),
};

const objectOf = (random: Random, resource: string, name: string): ApiObject => ({
  metadata: metaOf(random, name),
  ...bodies[resource]?.(random),
}); // JSON

/** By plural name. */
export function clusterOf(random: Random): Record<string, ApiObject[]> {
  return Object.fromEntries(
    Object.keys(bodies).map((resource) => [
      resource,
      [...new Set(some(random, 5, () => textOf(random)))].map((name) => {
        const object = objectOf(random, resource, name);
        if (!namespaced.has(resource)) delete object.metadata?.namespace;
        return object;
      }),
    ]),
  );
}
const namespaced = new Set([
  'pods',
  'services',
  'serviceaccounts',
  'limitranges',
  'persistentvolumeclaims',
  'events',
  'ingresses',
  'jobs',
  'podgroups',
  'workloads',
  'replicasets',
]);

const groups: Readonly<Record<string, string>> = {
  storageclasses: 'storage.{v}',
  ingresses: 'networking.{v}',
  jobs: 'batch',
  podgroups: 'scheduling.{v}',
  priorityclasses: 'scheduling.{v}',
  certificatesigningrequests: 'certificates.{v}',
  replicasets: 'apps',
};
const subresources: Readonly<Record<string, readonly string[]>> = {
  pods: ['', '', '', 'status', 'resize', 'ephemeralcontainers', 'binding', 'eviction'],
  certificatesigningrequests: ['', 'approval', 'status'],
  nodes: ['', 'status'],
  persistentvolumeclaims: ['', 'status'],
};
const written = [
  ...Array.from({ length: 6 }, () => 'pods'),
  'nodes',
  'namespaces',
  'services',
  'persistentvolumeclaims',
  'persistentvolumes',
  'events',
  'ingresses',
  'jobs',
  'podgroups',
  'priorityclasses',
  'certificatesigningrequests',
  'replicasets',
];

export function writeOf(random: Random): RandomWrite {
  const resource = random.of(written);
  const group = groups[resource] ?? '';
  const operation = random.of(['CREATE', 'CREATE', 'UPDATE', 'UPDATE', 'DELETE'] as const);
  const subresource = random.of(subresources[resource] ?? ['']);
  const object =
    subresource === 'binding'
      ? ({
          metadata: metaOf(random, 'x'),
          target: { kind: random.of(['Node', '']), name: textOf(random) },
        } as ApiObject) // JSON
      : objectOf(random, resource, 'x');
  const old = operation === 'CREATE' ? undefined : objectOf(random, resource, 'x');
  const hidden = { ...resourceOf('configmaps'), group: svc(group), resource };
  const record = resource === 'podgroups' ? hidden : undefined;
  const namespace = namespaced.has(resource) ? random.of(['a', 'a', 'b', 'gone']) : '';
  return { resource, group, record, operation, subresource, namespace, object, old };
}

export const userOf = (random: Random): User =>
  random.of<User>([
    { name: 'jane', uid: '', groups: [], extra: {} },
    { name: 'system:node:n', uid: '', groups: ['system:nodes'], extra: {} },
  ]);

/** Of plugins that have one. */
export function configurations(random: Random): Record<string, object> {
  const tolerations = (): JsonObject[] => [{ key: 'k', operator: 'Exists' }];
  return {
    EventRateLimit: {
      kind: 'Configuration',
      apiVersion: svc('eventratelimit.admission.{v}/v1alpha1'),
      limits: ['Server', 'Namespace', 'User', 'SourceAndObject'].map((type) => ({
        type,
        qps: 1,
        burst: 1 + random.below(2),
      })),
    },
    PodTolerationRestriction: {
      kind: 'Configuration',
      apiVersion: svc('podtolerationrestriction.admission.{v}/v1alpha1'),
      default: half(random) ? tolerations() : [],
      whitelist: random.below(4) === 0 ? tolerations() : [],
    },
    PodNodeSelector: {
      podNodeSelectorPluginConfig: {
        clusterDefaultNodeSelector: 'a=b',
        a: half(random) ? '' : 'a=b',
      },
    },
  };
}

// Random clusters and histories of them, followed by the graph and judged by an evaluator that
// looks at every pod and volume for each question. Both must always agree.
import { recordAt } from '../../../api/json-access.ts';
import type { JsonObject } from '../../../api/type-info.ts';
import { namingProfile } from '../../../api/vendor.ts';
import type { Item } from '../../../cacher/resource-view.ts';
import { podFollower, volumeFollower } from '../follow-graph.ts';
import { NodeGraph } from '../node-graph.ts';
import type { TargetKind } from '../node-graph.ts';

/** What draws: the same numbers for the same seed. */
export interface Draw {
  below(below: number): number;
  of<T>(choices: readonly T[]): T;
}

interface Reference {
  readonly kind: TargetKind;
  readonly namespace: string;
  readonly name: string;
}

interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** Of a pod that its node runs by itself: none. */
  readonly references: readonly Reference[];
  readonly object: JsonObject;
}

interface Volume {
  readonly name: string;
  /** Key of the claim; undefined: unbound. */
  readonly claim: Reference | undefined;
  readonly secrets: readonly Reference[];
  readonly object: JsonObject;
}

const naming = namingProfile('svc');
const namespaces = ['a', 'b'] as const;
const nodes = ['n0', 'n1', 'n2'] as const;
const names = ['x', 'y', 'z'] as const;
const podNames = ['p0', 'p1', 'p2', 'p3', 'p4'] as const;
const volumeNames = ['v0', 'v1', 'v2', 'v3'] as const;
const kinds: readonly TargetKind[] = [
  'secret',
  'configMap',
  'serviceAccount',
  'volumeClaim',
  'resourceClaim',
];

type Mention = (name: string, at: PodParts, pod: string) => string;

interface PodParts {
  readonly spec: Record<string, JsonObject[]>;
  readonly status: JsonObject;
  account: string;
}

const volume =
  (source: (name: string) => JsonObject): Mention =>
  (name, { spec }) => {
    (spec['volumes'] ??= []).push({ name: `vol-${name}`, ...source(name) });
    return name;
  };
const container =
  (list: string, part: (name: string) => JsonObject): Mention =>
  (name, { spec }) => {
    (spec[list] ??= []).push({ name: 'c', ...part(name) });
    return name;
  };
const env =
  (member: string) =>
  (name: string): JsonObject => ({ env: [{ name: 'E', valueFrom: { [member]: { name } } }] });
const envFrom =
  (member: string) =>
  (name: string): JsonObject => ({ envFrom: [{ [member]: { name } }] });

/** Every way for a pod to name an object; each returns the name that it gave. */
const mentions: Readonly<Record<TargetKind, readonly Mention[]>> = {
  secret: [
    container('containers', env('secretKeyRef')),
    container('initContainers', envFrom('secretRef')),
    container('ephemeralContainers', env('secretKeyRef')),
    volume((name) => ({ secret: { secretName: name } })),
    volume((name) => ({ projected: { sources: [{ downwardAPI: {} }, { secret: { name } }] } })),
    volume((name) => ({ csi: { driver: 'd', nodePublishSecretRef: { name } } })),
    volume((name) => ({ azureFile: { secretName: name } })),
    ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map((source) =>
      volume((name) => ({ [source]: { secretRef: { name } } })),
    ),
    (name, { spec }) => {
      (spec['imagePullSecrets'] ??= []).push({ name });
      return name;
    },
  ],
  configMap: [
    container('containers', envFrom('configMapRef')),
    container('initContainers', env('configMapKeyRef')),
    container('ephemeralContainers', envFrom('configMapRef')),
    volume((name) => ({ configMap: { name } })),
    volume((name) => ({ projected: { sources: [{ configMap: { name } }] } })),
  ],
  serviceAccount: [
    (name, at) => {
      if (at.account === '') at.account = name;
      return at.account;
    },
  ],
  volumeClaim: [
    volume((name) => ({ persistentVolumeClaim: { claimName: name } })),
    (name, { spec }, pod) => {
      (spec['volumes'] ??= []).push({ name, ephemeral: { volumeClaimTemplate: {} } });
      return `${pod}-${name}`;
    },
  ],
  resourceClaim: [
    (name, { spec }) => {
      (spec['resourceClaims'] ??= []).push({ name: 'named', resourceClaimName: name });
      return name;
    },
    (name, { spec, status }) => {
      const entry = `made-${name}`;
      (spec['resourceClaims'] ??= []).push({ name: entry, resourceClaimTemplateName: 't' });
      const made = (status['resourceClaimStatuses'] ??= []) as JsonObject[];
      made.push({ name: entry, resourceClaimName: name });
      return name;
    },
    (name, { status }) => {
      const old = status['extendedResourceClaimStatus'] as { resourceClaimName: string } | null;
      if (old) return old.resourceClaimName;
      status['extendedResourceClaimStatus'] = { resourceClaimName: name };
      return name;
    },
  ],
};

function drawPod(draw: Draw): Pod {
  const namespace = draw.of(namespaces);
  const name = draw.of(podNames);
  const node = draw.of([...nodes, '']);
  const parts: PodParts = { spec: {}, status: {}, account: '' };
  const references: Reference[] = [];
  for (let count = draw.below(6); count > 0; count -= 1) {
    const kind = draw.of(kinds);
    references.push({
      kind,
      namespace,
      name: draw.of(mentions[kind])(draw.of(names), parts, name),
    });
  }
  const isMirror = draw.below(8) === 0;
  const annotations = isMirror ? { [naming.resolve('{kubernetes}.io/config.mirror')]: '' } : {};
  const account = parts.account === '' ? {} : { serviceAccountName: parts.account };
  const object: JsonObject = {
    metadata: { namespace, name, annotations },
    spec: { ...parts.spec, ...account, ...(node === '' ? {} : { nodeName: node }) },
    status: parts.status,
  };
  return { namespace, name, node, references: isMirror ? [] : references, object };
}

type SecretPlace = (secret: JsonObject) => { source: JsonObject; isForNodes: boolean };

const places: readonly SecretPlace[] = [
  ...['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'].map(
    (member): SecretPlace =>
      (secret) => ({ source: { csi: { driver: 'd', [member]: secret } }, isForNodes: true }),
  ),
  ...['controllerPublishSecretRef', 'controllerExpandSecretRef'].map(
    (member): SecretPlace =>
      (secret) => ({ source: { csi: { driver: 'd', [member]: secret } }, isForNodes: false }),
  ),
  ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map(
    (source): SecretPlace =>
      (secret) => ({ source: { [source]: { secretRef: secret } }, isForNodes: true }),
  ),
  ({ namespace = '', name = '' }) => ({
    source: { azureFile: { secretNamespace: namespace, secretName: name } },
    isForNodes: true,
  }),
];
const ofClaimsNamespace = ['cephfs', 'flexVolume', 'iscsi', 'rbd', 'scaleIO'] as const;

function drawVolume(draw: Draw): Volume {
  const name = draw.of(volumeNames);
  const claimName = draw.of([...names, ...podNames.map((pod) => `${pod}-x`)]);
  const claim: Reference | undefined =
    draw.below(5) === 0
      ? undefined
      : { kind: 'volumeClaim', namespace: draw.of(namespaces), name: claimName };
  const secret = { namespace: draw.of(namespaces), name: draw.of(names) };
  const claimRef = claim && { namespace: claim.namespace, name: claim.name };
  if (claim !== undefined && draw.below(4) === 0) {
    const source = { [draw.of(ofClaimsNamespace)]: { secretRef: { name: secret.name } } };
    const secrets = [{ kind: 'secret', namespace: claim.namespace, name: secret.name }] as const;
    return { name, claim, secrets, object: { metadata: { name }, spec: { ...source, claimRef } } };
  }
  const { source, isForNodes } = draw.of(places)(secret);
  const spec = { ...source, ...(claimRef === undefined ? {} : { claimRef }) };
  const secrets = isForNodes ? [{ kind: 'secret' as const, ...secret }] : [];
  return { name, claim, secrets, object: { metadata: { name }, spec } };
}

/** What a follower reads of an item. */
const itemOf = (namespace: string, name: string, object: JsonObject, node = ''): Item =>
  ({
    namespace,
    name,
    field: () => node,
    json: () => Buffer.from(JSON.stringify(object)),
    objectOnce: () => object,
  }) as unknown as Item;

const podItem = ({ namespace, name, object, node }: Pod): Item =>
  itemOf(namespace, name, object, node);
const volumeItem = ({ name, object }: Volume): Item => itemOf('', name, object);

/** What nodes write of it. */
const withPhase = (pod: Pod, draw: Draw): Pod => ({
  ...pod,
  object: {
    ...pod.object,
    status: { ...recordAt(pod.object, 'status'), phase: draw.of(['Running', 'Failed']) },
  },
});

class Cluster {
  readonly graph = new NodeGraph(naming);
  readonly #pods = new Map<string, Pod>();
  readonly #volumes = new Map<string, Volume>();
  readonly #ofPods = podFollower(this.graph);
  readonly #ofVolumes = volumeFollower(this.graph);

  step(draw: Draw): void {
    switch (draw.below(8)) {
      case 0:
        return this.#removePod(draw);
      case 1:
        return this.#removeVolume(draw);
      case 2:
        return this.#restart(draw);
      case 3:
      case 4: {
        const volume = drawVolume(draw);
        this.#volumes.set(volume.name, volume);
        return this.#ofVolumes.present(volumeItem(volume));
      }
      default: {
        const drawn = drawPod(draw);
        const key = `${drawn.namespace}/${drawn.name}`;
        const old = this.#pods.get(key);
        const pod = old !== undefined && draw.below(2) === 0 ? withPhase(old, draw) : drawn;
        this.#pods.set(key, pod);
        return this.#ofPods.present(podItem(pod), old && podItem(old));
      }
    }
  }

  /** Changes that nobody sees, then the whole state. */
  #restart(draw: Draw): void {
    const isOfPods = draw.below(2) === 0;
    const [all, follower] = isOfPods
      ? [this.#pods, this.#ofPods]
      : [this.#volumes, this.#ofVolumes];
    for (const key of [...all.keys()]) if (draw.below(2) === 0) all.delete(key);
    if (isOfPods) {
      const pod = drawPod(draw);
      this.#pods.set(`${pod.namespace}/${pod.name}`, pod);
    }
    follower.restarted();
    if (isOfPods) for (const pod of this.#pods.values()) this.#ofPods.present(podItem(pod));
    else for (const one of this.#volumes.values()) this.#ofVolumes.present(volumeItem(one));
    follower.synced();
  }

  #removePod(draw: Draw): void {
    const [key, pod] = [...this.#pods][draw.below(this.#pods.size)] ?? [];
    if (key === undefined || pod === undefined) return;
    this.#pods.delete(key);
    this.#ofPods.absent(podItem(pod));
  }

  #removeVolume(draw: Draw): void {
    const [key, volume] = [...this.#volumes][draw.below(this.#volumes.size)] ?? [];
    if (key === undefined || volume === undefined) return;
    this.#volumes.delete(key);
    this.#ofVolumes.absent(volumeItem(volume));
  }

  removeAll(): void {
    for (const pod of this.#pods.values()) this.#ofPods.absent(podItem(pod));
    for (const volume of this.#volumes.values()) this.#ofVolumes.absent(volumeItem(volume));
  }

  needs(node: string, of: Reference): boolean {
    const isNamed = [...this.#pods.values()].some(
      (pod) => node !== '' && pod.node === node && pod.references.some((one) => isSame(one, of)),
    );
    if (isNamed || of.kind !== 'secret') return isNamed;
    return [...this.#volumes.values()].some(
      ({ name, secrets }) => secrets.some((one) => isSame(one, of)) && this.mounts(node, name),
    );
  }

  mounts(node: string, name: string): boolean {
    const claim = this.#volumes.get(name)?.claim;
    return claim !== undefined && this.needs(node, claim);
  }
}

const isSame = (one: Reference, other: Reference): boolean =>
  one.kind === other.kind && one.namespace === other.namespace && one.name === other.name;

/** The first difference of a history of `stepCount` events; undefined: they always agree. */
export function findInCluster(draw: Draw, stepCount: number): string | undefined {
  const cluster = new Cluster();
  for (let step = 0; step < stepCount; step += 1) {
    cluster.step(draw);
    // Some pods change again, or go, before their node is asked about.
    if (draw.below(3) === 0) continue;
    const finding = differenceOf(cluster, draw);
    if (finding !== undefined) return `after event ${String(step)}: ${finding}`;
  }
  cluster.removeAll();
  return cluster.graph.isEmpty ? undefined : 'something is left when all objects are gone';
}

const questionCount = 12;

function differenceOf(cluster: Cluster, draw: Draw): string | undefined {
  for (let count = 0; count < questionCount; count += 1) {
    const node = draw.of([...nodes, 'n3', '']);
    const kind = draw.of(kinds);
    const drawn = draw.of(names);
    const isMade = kind === 'volumeClaim' && draw.below(2) === 0;
    const name = isMade ? `${draw.of(podNames)}-${drawn}` : drawn;
    const of = { kind, namespace: draw.of(namespaces), name };
    const needed = cluster.needs(node, of);
    if (cluster.graph.needs(node, kind, of) !== needed) {
      return `${node} needs ${kind} ${of.namespace}/${of.name}: ${String(needed)}`;
    }
    const volumeName = draw.of(volumeNames);
    const mounted = cluster.mounts(node, volumeName);
    if (cluster.graph.needsVolume(node, volumeName) !== mounted) {
      return `${node} mounts ${volumeName}: ${String(mounted)}`;
    }
  }
  return undefined;
}

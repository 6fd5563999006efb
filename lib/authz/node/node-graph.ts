// Which objects the pods of each node need, each held once and counted by node: a question costs
// the same on a node of any size, but the first after a change, which reads the pods anew.
//   node ── counts ──▶ target (secret, config map, claim, …) ◀── volume (its claim, its secrets)
import { recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { StatusError } from '../../base/status.ts';
import { objectKey } from '../../cacher/followed-objects.ts';
import { isMirrored } from '../../kinds/core/pod-annotations.ts';
import {
  configMapNames,
  resourceClaimNames,
  secretNames,
  volumeClaimNames,
} from '../../kinds/core/pod-references.ts';
import { nodeSecretsOf } from '../../kinds/core/volume-references.ts';

type Holder = Readonly<JsonObject>;

/** What pods name, by the letter that begins its key. */
const letters = {
  secret: 's',
  configMap: 'm',
  serviceAccount: 'a',
  volumeClaim: 'v',
  resourceClaim: 'r',
} as const;
export type TargetKind = keyof typeof letters;

interface Named {
  readonly namespace: string;
  readonly name: string;
}

/** An object that something names; there need be no such object. */
interface Target {
  readonly key: string;
  /** Mentions in pods and volumes: without any it is forgotten. */
  useCount: number;
  /** Of a claim: volumes that say they are bound to it. Of a secret: volumes that name it. */
  volumes: Set<Volume> | undefined;
}

/** Mentions by target. Claims stand apart, since volumes are reached through them. */
interface Node {
  readonly name: string;
  readonly claims: Map<Target, number>;
  readonly others: Map<Target, number>;
  /** Pods whose mentions are not counted yet. */
  readonly unread: Map<Pod, () => Holder>;
  podCount: number;
}

interface Pod {
  readonly node: Node;
  /** undefined: not read yet. */
  targets: readonly Target[] | undefined;
}

interface Volume {
  readonly claim: Target;
  readonly secrets: readonly Target[];
}

export class NodeGraph {
  readonly #naming: NamingProfile;
  readonly #nodes = new Map<string, Node>();
  readonly #targets = new Map<string, Target>();
  readonly #pods = new Map<string, Pod>();
  readonly #volumes = new Map<string, Volume>();

  constructor(naming: NamingProfile) {
    this.#naming = naming;
  }

  /** Nothing is held, or left over from what was. */
  get isEmpty(): boolean {
    return [this.#nodes, this.#targets, this.#pods, this.#volumes].every(({ size }) => size === 0);
  }

  /**
   * `key`: as `objectKey` has it, here and below. `node`: '' while the pod is bound to none. `pod`
   * is called when the node is asked about, so that a start reads none; one that it cannot read
   * names nothing.
   */
  setPod(key: string, node: string, pod: () => Holder): void {
    let held = this.#pods.get(key);
    if (held?.node.name !== node) {
      this.removePod(key);
      if (node === '') return;
      held = { node: this.#withPod(node), targets: undefined };
      this.#pods.set(key, held);
    }
    this.#uncount(held);
    held.node.unread.set(held, pod);
  }

  /** Whether what it names is counted. */
  hasRead(key: string): boolean {
    return this.#pods.get(key)?.targets !== undefined;
  }

  removePod(key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    this.#uncount(pod);
    const { node } = pod;
    node.unread.delete(pod);
    node.podCount -= 1;
    if (node.podCount === 0) this.#nodes.delete(node.name);
  }

  setVolume(key: string, object: Holder): void {
    const old = this.#volumes.get(key);
    const claim = recordAt(recordAt(object, 'spec'), 'claimRef');
    if (claim === undefined) this.#volumes.delete(key);
    else {
      const of = { namespace: textAt(claim, 'namespace'), name: textAt(claim, 'name') };
      const volume: Volume = {
        claim: this.#use('volumeClaim', of),
        secrets: nodeSecretsOf(object).map((secret) => this.#use('secret', secret)),
      };
      this.#volumes.set(key, volume);
      for (const target of [volume.claim, ...volume.secrets]) {
        (target.volumes ??= new Set()).add(volume);
      }
    }
    if (old !== undefined) this.#unlink(old);
  }

  removeVolume(key: string): void {
    const volume = this.#volumes.get(key);
    if (volume === undefined) return;
    this.#volumes.delete(key);
    this.#unlink(volume);
  }

  /** Whether a pod of the node names it, or (a secret) a volume of a claim of such a pod does. */
  needs(node: string, kind: TargetKind, of: Named): boolean {
    const needed = this.#readNode(node);
    const target = this.#targets.get(keyOf(kind, of));
    if (target === undefined || needed === undefined) return false;
    if (kind === 'volumeClaim') return needed.claims.has(target);
    if (needed.others.has(target)) return true;
    return kind === 'secret' && namedByVolume(target, needed);
  }

  /** Whether the claim that the persistent volume is bound to is one of the node's pods'. */
  needsVolume(node: string, name: string): boolean {
    const volume = this.#volumes.get(objectKey({ namespace: '', name }));
    return volume !== undefined && this.#readNode(node)?.claims.has(volume.claim) === true;
  }

  /** The node, with the mentions of all its pods. */
  #readNode(name: string): Node | undefined {
    const node = this.#nodes.get(name);
    if (node === undefined || node.unread.size === 0) return node;
    for (const [pod, read] of node.unread) {
      pod.targets = this.#targetsOf(read);
      for (const target of pod.targets) {
        const counts = countsOf(node, target);
        counts.set(target, (counts.get(target) ?? 0) + 1);
      }
    }
    node.unread.clear();
    return node;
  }

  /** A pod that the node runs by itself gives it nothing: it could name what it likes. */
  #targetsOf(read: () => Holder): Target[] {
    const pod = readable(read);
    if (pod === undefined) return [];
    const metadata = recordAt(pod, 'metadata');
    if (isMirrored(metadata, this.#naming)) return [];
    const spec = recordAt(pod, 'spec');
    const namespace = textAt(metadata, 'namespace');
    const account = textAt(spec, 'serviceAccountName');
    const targets: Target[] = [];
    const use = (kind: TargetKind, names: readonly string[]): void => {
      for (const name of new Set(names)) targets.push(this.#use(kind, { namespace, name }));
    };
    use('serviceAccount', account === '' ? [] : [account]);
    use('secret', secretNames(spec));
    use('configMap', configMapNames(spec));
    use('volumeClaim', volumeClaimNames(pod));
    use('resourceClaim', resourceClaimNames(pod));
    return targets;
  }

  #use(kind: TargetKind, of: Named): Target {
    const key = keyOf(kind, of);
    const known = this.#targets.get(key);
    if (known !== undefined) {
      known.useCount += 1;
      return known;
    }
    const target = { key, useCount: 1, volumes: undefined };
    this.#targets.set(key, target);
    return target;
  }

  #release(target: Target): void {
    target.useCount -= 1;
    if (target.useCount === 0) this.#targets.delete(target.key);
  }

  /** The node, which has one pod more. */
  #withPod(name: string): Node {
    let node = this.#nodes.get(name);
    if (node === undefined) {
      node = { name, claims: new Map(), others: new Map(), unread: new Map(), podCount: 0 };
      this.#nodes.set(name, node);
    }
    node.podCount += 1;
    return node;
  }

  #uncount(pod: Pod): void {
    for (const target of pod.targets ?? []) {
      const counts = countsOf(pod.node, target);
      const left = (counts.get(target) ?? 1) - 1;
      if (left === 0) counts.delete(target);
      else counts.set(target, left);
      this.#release(target);
    }
    pod.targets = undefined;
  }

  #unlink(volume: Volume): void {
    for (const target of [volume.claim, ...volume.secrets]) {
      target.volumes?.delete(volume);
      if (target.volumes?.size === 0) target.volumes = undefined;
      this.#release(target);
    }
  }
}

/** Namespaces hold no slash, so that no two objects have one key. */
const keyOf = (kind: TargetKind, { namespace, name }: Named): string =>
  `${letters[kind]}${namespace}/${name}`;

const countsOf = ({ claims, others }: Node, { key }: Target): Map<Target, number> =>
  key.startsWith(letters.volumeClaim) ? claims : others;

/** undefined: it is stored in a form that cannot be read. */
function readable(read: () => Holder): Holder | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}

/** Goes through the volumes that name the secret, or the claims of the node: the fewer of both. */
function namedByVolume(secret: Target, { claims }: Node): boolean {
  const { volumes } = secret;
  if (volumes === undefined) return false;
  if (volumes.size <= claims.size) {
    for (const { claim } of volumes) if (claims.has(claim)) return true;
    return false;
  }
  for (const claim of claims.keys()) {
    for (const volume of claim.volumes ?? []) if (volume.secrets.includes(secret)) return true;
  }
  return false;
}

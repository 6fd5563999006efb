// Pods and budgets of one replica, evicted through it or another one, and what admission saw of it:
// for suites.
import { admissionChain } from '../../admission/chain.ts';
import type { AdmissionPlugin } from '../../admission/plugin.ts';
import { StatusError } from '../../base/status.ts';
import type { ResourceStore } from '../resource-store.ts';
import { RegistryOnEtcd } from './registry-on-etcd.ts';
import type { Replica } from './registry-on-etcd.ts';
import { fresh, scope, VerbDriver } from './verb-driver.ts';
import type { Sent } from './verb-driver.ts';

const condition = (type: string, status: string): object => ({ type, status });
export const ready = { phase: 'Running', conditions: [condition('Ready', 'True')] };
export const unready = { phase: 'Running', conditions: [condition('Ready', 'False')] };
export const success = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
};

export interface EvictionTexts {
  readonly options?: object;
  readonly query?: string;
  readonly metadata?: object;
  readonly on?: Replica;
}

export class PodEvictions {
  readonly registry: RegistryOnEtcd;
  readonly replica: Replica;
  readonly verbs: VerbDriver;
  readonly pods: ResourceStore;
  readonly budgets: ResourceStore;
  /** What admission saw of pods and budgets. */
  readonly admitted: string[];
  readonly #hook: Hook;

  private constructor(registry: RegistryOnEtcd, replica: Replica, hook: Hook) {
    this.registry = registry;
    this.replica = replica;
    this.verbs = new VerbDriver(replica);
    this.pods = replica.store('pods');
    this.budgets = replica.store('policy/poddisruptionbudgets');
    this.admitted = hook.admitted;
    this.#hook = hook;
  }

  static async start(): Promise<PodEvictions> {
    const hook: Hook = { admitted: [], meanwhile: undefined };
    const registry = await RegistryOnEtcd.start();
    const replica = await registry.replica({ admission: admissionChain([watching(hook)]) });
    return new PodEvictions(registry, replica, hook);
  }

  /** Happens once, while a budget is being charged. */
  meanwhile(action: () => Promise<unknown>): void {
    this.#hook.meanwhile = action;
  }

  /** A pod on a node, with a label. */
  async newPod(
    app: string,
    { status = ready, spec = {}, metadata = {} }: Record<string, object> = {},
  ): Promise<Sent> {
    const containers = [{ name: 'c', image: 'i' }];
    const { metadata: made } = await this.verbs.create(this.pods, {
      metadata: { name: fresh(), labels: { app }, ...metadata },
      spec: { nodeName: 'n', terminationGracePeriodSeconds: 20, containers, ...spec },
    });
    return this.verbs.patch(this.pods, made.name, { status }, { subresource: 'status' });
  }

  async newBudget(app: string, status: object, spec: object = {}): Promise<string> {
    const name = fresh();
    const selector = { matchLabels: { app } };
    await this.verbs.create(this.budgets, {
      metadata: { name },
      spec: { minAvailable: 1, selector, ...spec },
    });
    await this.patchBudget(name, { observedGeneration: 1, ...status });
    return name;
  }

  patchBudget(name: string, status: object): Promise<Sent> {
    return this.verbs.patch(this.budgets, name, { status }, { subresource: 'status' });
  }

  evict(
    name: string,
    { options, query = '', metadata = {}, on = this.replica }: EvictionTexts = {},
  ): Promise<unknown> {
    const deleteOptions = options === undefined ? {} : { deleteOptions: options };
    const body = { metadata: { name, ...metadata }, ...deleteOptions };
    const by = new VerbDriver(on);
    return by.act(on.store('pods'), name, body, { subresource: 'eviction', query });
  }

  async isGone(name: string): Promise<boolean> {
    const key = { namespace: 'ns', name };
    return (await this.pods.view.get(key, { mode: 'latest' }, scope().signal)) === undefined;
  }

  async statusOf(budget: string): Promise<Record<string, unknown>> {
    return (await this.verbs.get(this.budgets, budget))['status'] as Record<string, unknown>;
  }
}

interface Hook {
  readonly admitted: string[];
  meanwhile: (() => Promise<unknown>) | undefined;
}

/** Refuses what has the label `deny`. */
const watching = (hook: Hook): AdmissionPlugin => ({
  name: 'Watching',
  sideEffects: false,
  handles: ({ resource }) => ['pods', 'poddisruptionbudgets'].includes(resource.resource),
  async validate({ operation, resource, subresource, user, dryRun }, object) {
    const mode = dryRun ? ', dry run' : '';
    hook.admitted.push(`${operation} ${resource.resource}/${subresource} by ${user.name}${mode}`);
    if (object?.metadata?.labels?.['deny'] !== undefined) {
      throw new StatusError(403, 'Forbidden', 'not this one');
    }
    if (resource.group !== 'policy' || user.name !== 'system:apiserver') return;
    const action = hook.meanwhile;
    hook.meanwhile = undefined;
    await action?.();
  },
});

// A cluster of plain objects with validating policies in it, and writes that these judge.
import type { GroupVersionKind, ResourceInfo } from '../../../api/type-info.ts';
import type { Attributes } from '../../../authz/authorizer.ts';
import { createLogger } from '../../../base/log.ts';
import { StatusError } from '../../../base/status.ts';
import type { ApiObject } from '../../../codec/codec.ts';
import type { Item } from '../../../cacher/resource-view.ts';
import { testMetrics } from '../../../telemetry/testing/test-metrics.ts';
import type { Metrics } from '../../../telemetry/metrics.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugin.ts';
import type { ServedResource } from '../../served-resources.ts';
import type { StaticManifest } from '../../static-manifests.ts';
import { asked, resourceOf } from '../../testing/asked.ts';
import type { Asked } from '../../testing/asked.ts';
import { partsOf } from '../../testing/cluster.ts';
import { validatingPolicies } from '../validating-policies.ts';

export interface Answer extends Pick<Asked, 'warnings' | 'annotations'> {
  readonly refused: StatusError | undefined;
}

const never = new AbortController().signal;

export class PolicyWorld {
  readonly metrics: Metrics = testMetrics();
  readonly logged: Readonly<Record<string, unknown>>[] = [];
  /** Questions to the authorizer, which allows what `allows` says. */
  readonly questions: Attributes[] = [];
  allows: (attributes: Attributes) => boolean = () => true;
  /** Of the kind that `paramKind` names; undefined: nobody serves it. */
  params: object[] | undefined;
  isParamNamespaced = true;
  /** What the proof of the map of resources shows. */
  proof: () => void = () => undefined;
  policiesOfFiles: readonly StaticManifest[] = [];
  bindingsOfFiles: readonly StaticManifest[] = [];
  namespaces: object[] = [{ metadata: { name: 'a', labels: { team: 'x' }, uid: 'u' }, spec: {} }];
  readonly plugin: AdmissionPlugin;
  #policies: readonly Item[] = [];
  #bindings: readonly Item[] = [];

  constructor() {
    const parts = partsOf({});
    const list = (all: () => readonly Item[]) => ({
      view: {
        all,
        peek: ({ name }: { readonly name: string }) => all().find((one) => one.name === name),
        list: () => Promise.reject(new Error('nothing lists')),
      },
      lookUp: () => Promise.resolve(undefined),
    });
    const lists: Readonly<Record<string, ReturnType<typeof list>>> = {
      validatingadmissionpolicies: list(() => this.#policies),
      validatingadmissionpolicybindings: list(() => this.#bindings),
      namespaces: list(() => this.namespaces.map(itemOf)),
    };
    this.plugin = validatingPolicies({
      ...parts,
      metrics: this.metrics,
      log: createLogger(
        'debug',
        (line) => void this.logged.push(JSON.parse(line) as Readonly<Record<string, unknown>>),
      ),
      objects: (_group, resource) => lists[resource],
      manifests: {
        of: (name) => (name.endsWith('bindings') ? this.bindingsOfFiles : this.policiesOfFiles),
      },
      authorizer: {
        name: 'test',
        authorize: (attributes) => {
          this.questions.push(attributes);
          const effect = this.allows(attributes) ? 'allow' : 'noOpinion';
          return Promise.resolve({ effect, reason: 'because' });
        },
      },
      served: {
        version: 0,
        find: () => undefined,
        equivalentsOf: (resource) => [resource],
        ofKind: (kind) => this.#paramsOf(kind),
        proven: () => {
          this.proof();
          return Promise.resolve();
        },
      },
    });
  }

  /** With a binding of its own, but for what `binding` says; null: without one. */
  add(name: string, spec: object, ...bindings: readonly (object | null)[]): void {
    const matchConstraints = { resourceRules: [everyPod] };
    const policy = { metadata: { name }, spec: { matchConstraints, ...spec } };
    this.#policies = [...this.#policies, itemOf(policy)].sort(byName);
    const given = bindings.length === 0 ? [{}] : bindings;
    for (const [index, binding] of given.entries()) {
      if (binding === null) continue;
      const own = { policyName: name, validationActions: ['Deny'], ...binding };
      const item = itemOf({ metadata: { name: `${name}-${String(index)}` }, spec: own });
      this.#bindings = [...this.#bindings, item].sort(byName);
    }
  }

  remove(name: string): void {
    this.#policies = this.#policies.filter((item) => item.name !== name);
  }

  unbind(): void {
    this.#bindings = [];
  }

  rebind(name: string, binding: object): void {
    this.#bindings = [itemOf({ metadata: { name }, spec: { policyName: name, ...binding } })];
  }

  async judge(object: object, change: Partial<AdmissionRequest> = {}): Promise<Answer> {
    const { request, warnings, annotations } = asked({
      name: (object as ApiObject).metadata?.name ?? 'x',
      ...change,
    });
    const judged = request.operation === 'DELETE' ? undefined : (object as ApiObject);
    try {
      if (this.plugin.handles(request)) await this.plugin.validate?.(request, judged, never);
      return { refused: undefined, warnings, annotations };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return { refused: error, warnings, annotations };
    }
  }

  /** What violations say, without what comes before; each is a cause. */
  async violations(object: object, change: Partial<AdmissionRequest> = {}): Promise<string[]> {
    const { refused } = await this.judge(object, change);
    const causes = refused?.details?.causes ?? [];
    return causes.map(({ message = '' }) => message.replace(/^.*?denied request: /s, ''));
  }

  async countOf(name: string, ...labels: readonly string[]): Promise<number> {
    const { body } = await this.metrics.text();
    const line = body
      .split('\n')
      .find((one) => one.startsWith(`${name}{`) && labels.every((label) => one.includes(label)));
    return Number(line?.split(' ').at(-1) ?? 0);
  }

  #paramsOf(kind: GroupVersionKind): ServedResource | undefined {
    const { params } = this;
    if (params === undefined) return undefined;
    const resource = {
      ...resourceOf('configmaps'),
      namespaced: this.isParamNamespaced,
    } as ResourceInfo;
    const of = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind };
    const all = (params as ApiObject[]).map((param) => ({ ...of, ...param }));
    const isIn = (one: ApiObject, namespace: string): boolean =>
      !this.isParamNamespaced || one.metadata?.namespace === namespace;
    return {
      resource,
      read: ({ namespace, name }) =>
        all.find((one) => one.metadata?.name === name && isIn(one, namespace)),
      list: (namespace, labels) => {
        const found = all.filter((one) => isIn(one, namespace));
        const [key = '', value] = labels.split('=');
        return Promise.resolve(
          found.filter(({ metadata }) => labels === '' || metadata?.labels?.[key] === value),
        );
      },
    };
  }
}

export const everyPod = {
  operations: ['*'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['pods'],
};

const byName = (one: Item, other: Item): number => (one.name < other.name ? -1 : 1);

/** What plugins read of an item. */
export const itemOf = (object: object): Item => {
  const { metadata } = object as ApiObject;
  return {
    name: metadata?.name ?? '',
    namespace: metadata?.namespace ?? '',
    corrupted: false,
    object: () => object,
  } as unknown as Item;
};

export const pod = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a' },
  spec: { containers: [] },
  ...more,
});

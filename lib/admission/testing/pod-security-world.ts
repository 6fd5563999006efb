// The plugin PodSecurity over a world that a test describes: one namespace, and the pods in it.
import type { JsonObject } from '../../api/type-info.ts';
import { StatusError } from '../../base/status.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import type { Item, ListResult } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { parsePodSecurityConfiguration } from '../pod-security/configuration.ts';
import { policyText } from '../pod-security/policy.ts';
import { admissionChain } from '../chain.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { podSecurityPlugin } from '../plugins/pod-security.ts';
import { asked, naming, scheme } from './asked.ts';

export const podSecurityPrefix = 'pod-security.svc.io/';

export interface World {
  /** Labels of the namespace `a`, without their prefix; undefined: memory has none. */
  labels?: Readonly<Record<string, string>> | undefined;
  /** Of the namespace as the store has it. */
  storedLabels?: Readonly<Record<string, string>>;
  isUnreadable?: boolean;
  readonly configuration?: object;
  readonly pods?: readonly ApiObject[] | StatusError;
  /** Called at each pod that is read. */
  readonly onPod?: (clock: ManualClock) => void;
}

interface Asked extends Partial<Omit<AdmissionRequest, 'resource'>> {
  readonly resource?: string;
  readonly object?: ApiObject | undefined;
}

export interface Told {
  outcome: string;
  readonly warnings: string[];
  readonly annotations: Record<string, string>;
  readonly counted: string[];
  /** Whether the plugin answered without waiting. */
  atOnce: boolean;
}

const resourceNamed = (resource: string): AdmissionRequest['resource'] => {
  const found = scheme.resources.find((one) => one.resource === resource && one.version === 'v1');
  if (found === undefined) throw new Error(`no resource ${resource}`);
  return found;
};

const prefixed = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).map(([key, value]): [string, string] => [
      podSecurityPrefix + key,
      value,
    ]),
  );

// What the plugin reads of an item.
const itemOf = (object: ApiObject, more: Partial<Item> = {}): Item =>
  ({
    name: object.metadata?.name ?? '',
    corrupted: false,
    labels: object.metadata?.labels ?? {},
    object: () => object,
    ...more,
  }) as unknown as Item;

export const namespaceWith = (labels: Readonly<Record<string, string>>): ApiObject => ({
  metadata: { name: 'a', labels: prefixed(labels) },
});

export const podWith = (spec: JsonObject = {}, metadata: JsonObject = {}): ApiObject => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
export const workloadWith = (spec: JsonObject = {}): ApiObject => ({
  metadata: { name: 'w' },
  spec: { template: podWith(spec) },
});

/** What the plugin makes of a write, in the namespace `a` by `tester`. */
export async function ask(world: World, { object, ...ofWrite }: Asked = {}): Promise<Told> {
  const clock = new ManualClock();
  const { labels, storedLabels, pods = [] } = world;
  const item = itemOf(namespaceWith(labels ?? {}), { corrupted: world.isUnreadable === true });
  const told: Told = {
    outcome: 'admitted',
    warnings: [],
    annotations: {},
    counted: [],
    atOnce: false,
  };
  const count = (request: AdmissionRequest, ...of: readonly string[]): void =>
    void told.counted.push([...of, request.resource.resource].join(' '));
  const plugin = podSecurityPlugin({
    namespaces: { peek: ({ name }) => (labels === undefined || name !== 'a' ? undefined : item) },
    lookUp: () =>
      Promise.resolve(storedLabels === undefined ? undefined : itemOf(namespaceWith(storedLabels))),
    pods: {
      list: () =>
        pods instanceof StatusError
          ? Promise.reject(pods)
          : Promise.resolve({ items: pods.map((one) => read(one)) } as unknown as ListResult),
    },
    naming,
    clock,
    configuration: parsePodSecurityConfiguration(world.configuration, naming),
    observer: {
      onEvaluation: (request, mode, policy, decision) =>
        count(request, mode, policyText(policy), decision),
      onExemption: (request) => count(request, 'exempt'),
      onError: (request, isFatal) => count(request, isFatal ? 'fatal' : 'error'),
    },
  });
  const read = (one: ApiObject): Item =>
    itemOf(one, {
      object: () => {
        world.onPod?.(clock);
        return one;
      },
    });
  const { resource = 'pods', ...change } = ofWrite;
  const { request } = asked({
    name: 'p',
    ...change,
    resource: resourceNamed(resource),
    warn: (text) => void told.warnings.push(text),
    annotate: (key, value) => void (told.annotations[key.replace(podSecurityPrefix, '')] = value),
  });
  const given = 'object' in ofWrite || object !== undefined ? object : podWith();
  try {
    const { signal } = new AbortController();
    const done = admissionChain([plugin]).validate(request, given, signal);
    told.atOnce = !(done instanceof Promise);
    await done;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    told.outcome = `${String(error.code)} ${error.message}`;
  }
  return told;
}

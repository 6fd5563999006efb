// A cluster of plain objects, and plugins that are asked about writes into it.
import { expect } from '@jest/globals';
import { cloneJson } from '../../api/json-value.ts';
import { StatusError } from '../../base/status.ts';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { clientParts, metrics } from '../../client/testing/open-calls.ts';
import type { Attributes, Authorizer } from '../../authz/authorizer.ts';
import type { Item, ItemKey } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { readObject } from '../../codec/normalise.ts';
import { admissionChain } from '../chain.ts';
import type { Objects } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { StaticManifests } from '../static-manifests.ts';
import { CallMetrics } from '../webhooks/call-metrics.ts';
import { openWebhookCaller } from '../webhooks/open-caller.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { asked, naming, scheme } from './asked.ts';

/** What memory holds, by plural name; `store` has more, or something newer. */
export interface Known {
  readonly memory?: Readonly<Record<string, readonly object[]>>;
  readonly store?: Readonly<Record<string, readonly object[]>>;
  /** Gates that are off. */
  readonly gatesOff?: readonly string[];
  /** What the user may do, besides nothing. */
  readonly allows?: (attributes: Attributes) => boolean;
  readonly configuration?: object;
  /** Objects in files, by plural name. */
  readonly manifests?: Readonly<Record<string, readonly object[]>>;
  readonly clock?: Clock;
  readonly tolerationSeconds?: number;
  /** Told of what a plugin makes. */
  readonly onCreate?: (object: ApiObject) => Promise<unknown>;
}

export function partsOf(known: Known): PluginParts {
  const authorizer: Authorizer = {
    name: 'test',
    authorize: (attributes) => ({
      effect: known.allows?.(attributes) === true ? 'allow' : 'noOpinion',
      reason: '',
    }),
  };
  const seconds = known.tolerationSeconds ?? 300;
  return {
    naming,
    scheme,
    authorizer,
    clock: known.clock ?? { nowMs: () => 0, monotonicMs: () => 0, after: soon },
    gates: { isEnabled: (gate) => known.gatesOff?.includes(gate) !== true },
    flags: {
      'default-not-ready-toleration-seconds': seconds,
      'default-unreachable-toleration-seconds': seconds,
    },
    objects: (_group, resource) => objectsOf(known, resource),
    configurationOf: () => known.configuration,
    create: (_of, object) => known.onCreate?.(object) ?? Promise.resolve(),
    atEnd: () => undefined,
    served: {
      version: 0,
      ofKind: () => undefined,
      find: () => undefined,
      equivalentsOf: (resource) => [resource],
      proven: () => Promise.resolve(),
    },
    manifests: manifestsOf(known),
    calls: clientParts(),
    openWebhookCaller: (kubeconfigFile) =>
      openWebhookCaller({
        calls: clientParts(),
        clock: known.clock ?? systemClock,
        log: createLogger('error'),
        metrics: new CallMetrics(metrics),
        userAgent: 'admission-tests',
        breaksCircuits: true,
        own: () => undefined,
        kubeconfigFile,
      }),
    metrics,
    log: createLogger('error'),
    podSecurityObserver: {
      onEvaluation: () => undefined,
      onExemption: () => undefined,
      onError: () => undefined,
    },
  };
}

function manifestsOf({ manifests = {} }: Known): StaticManifests {
  const lists = new Map(
    Object.entries(manifests).map(([name, list]) => [name, (list as ApiObject[]).map(asItem)]),
  );
  return { of: (resource) => lists.get(resource) ?? none };
}

const none: readonly never[] = [];

function soon(_delayMs: number, run: () => void): () => void {
  const immediate = setImmediate(run);
  return () => clearImmediate(immediate);
}

function objectsOf({ memory = {}, store = {} }: Known, resource: string): Objects {
  let known = (memory[resource] ?? []) as readonly ApiObject[];
  const newer = (store[resource] ?? known) as readonly ApiObject[];
  return {
    view: {
      peek: (key) => itemOf(known, key),
      all: (namespace) =>
        known
          .filter((one) => namespace === undefined || one.metadata?.namespace === namespace)
          .map(asItem),
      list: ({ namespace }, { mode }) => {
        if (mode === 'latest') known = newer; // memory waits until it has everything
        const items = known
          .filter((one) => namespace === undefined || one.metadata?.namespace === namespace)
          .map(asItem);
        const more = { more: false, remainingCount: undefined };
        return Promise.resolve({ items, revision: 1, history: 0, ...more });
      },
    },
    lookUp: (key) => Promise.resolve(itemOf(newer, key)),
  };
}

function itemOf(objects: readonly ApiObject[], key: ItemKey): Item | undefined {
  const found = objects.find(
    ({ metadata }) => metadata?.name === key.name && (metadata.namespace ?? '') === key.namespace,
  );
  return found && asItem(found);
}

/** What plugins read of an item. */
const asItem = (object: ApiObject): Item =>
  ({
    name: object.metadata?.name ?? '',
    corrupted: false,
    object: () => object,
  }) as unknown as Item;

export interface Admitted {
  /** `403 text` of a refusal; undefined: it was admitted. */
  readonly refused: string | undefined;
  /** As mutation has left it. */
  readonly object: ApiObject;
  /** What the mutation said of itself. */
  readonly isChanged: boolean;
}

/** Objects are written as literals. */
type AdmissionChange = Partial<Omit<AdmissionRequest, 'old'>> & {
  readonly old?: object | undefined;
};

/** Mutates and validates as a write does. `object` stays as it is. */
export async function admit(
  make: (parts: PluginParts) => AdmissionPlugin | undefined,
  known: Known,
  object: object,
  change: AdmissionChange = {},
): Promise<Admitted> {
  const plugin = make(partsOf(known));
  if (plugin === undefined) throw new Error('there is nothing for the plugin to do');
  const chain = admissionChain([plugin]);
  const { signal } = new AbortController();
  const made = cloneJson(object as ApiObject);
  const { request } = asked({ ...change, old: change.old as ApiObject | undefined });
  let isChanged = false;
  try {
    const isDeletion = request.operation === 'DELETE';
    if (isDeletion) await chain.beforeDelete(request, signal);
    else isChanged = (await chain.mutate(request, made, signal)) !== 'no';
    // What is not read again has to be what a body could hold.
    const isRead = isChanged && request.subresource === '';
    if (isRead) expect(readObject(made, request.form.type).problems).toEqual([]);
    await chain.validate(request, isDeletion ? undefined : made, signal);
    return { refused: undefined, object: made, isChanged };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { refused: `${String(error.code)} ${error.message}`, object: made, isChanged };
  }
}

// Counts a namespace anew: what all its stored objects take at one revision, and which quotas do not
// say so. A quota that was charged meanwhile has another version, and is not written over.
import { amountText } from '../../admission/quota/charges.ts';
import type { Measure, UsageParts } from '../../admission/quota/measure.ts';
import { endOfGraceMs } from '../../admission/quota/pod-usage.ts';
import { scopesOf } from '../../admission/quota/scopes.ts';
import type { ScopeRequirement } from '../../admission/quota/scopes.ts';
import { measureOf } from '../../admission/quota/usage.ts';
import { entriesAt, recordAt } from '../../api/json-access.ts';
import { compareQuantities, wholeQuantity } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import { isLongTurn, nextTurn } from '../../base/turn.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import { amountsIn } from '../../kinds/core/container-totals.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';

/** A resource of which quotas count the objects. */
interface Counted {
  readonly view: ResourceView;
  readonly measure: Measure;
}

export interface RecountOptions {
  readonly quotas: ResourceView;
  /** All that is served now. */
  readonly stores: readonly ResourceStore[];
  readonly parts: UsageParts;
}

export interface Recounted {
  readonly quota: Item;
  readonly status: JsonObject;
  /** It holds for something that it did not hold for. */
  readonly isNewlyHeld: boolean;
  /** It said less than there is of something that it held for. */
  readonly wasTooLow: boolean;
}

export interface RecountResult {
  /** Those whose status has to be another. */
  readonly changes: readonly Recounted[];
  /** When time alone will change the count; undefined: never. */
  readonly changesAtMs: number | undefined;
}

/** Quotas with the same scopes count the same objects. */
interface Group {
  readonly scopes: readonly ScopeRequirement[];
  readonly names: Set<string>;
  readonly sums: Map<string, Quantity>;
}

export async function recount(
  namespace: string,
  { quotas, stores, parts }: RecountOptions,
  signal: AbortSignal,
): Promise<RecountResult> {
  const select = { namespace, showsUnreadable: true };
  const listed = await quotas.list(select, { mode: 'latest' }, everything, signal);
  const { revision, history } = listed;
  const readable = listed.items.filter((item) => !item.corrupted);
  const groups = groupsOf(readable);
  const counting = new Counting(parts, [...groups.values()]);
  const at = { mode: 'exact', revision, history } as const;
  const counted = countedOf(stores, parts).filter(({ measure }) => counting.needs(measure));
  const lists = await Promise.all(
    counted.map(({ view }) => view.list(select, at, everything, signal)),
  );
  for (const [index, { measure }] of counted.entries()) {
    await counting.add(measure, lists[index]?.items ?? []);
  }
  const changes: Recounted[] = [];
  for (const quota of readable) {
    const group = groups.get(groupKey(quota));
    const change = group === undefined ? undefined : changeOf(quota, group.sums);
    if (change !== undefined) changes.push(change);
    if (isLongTurn(limits.workSliceMs)) await nextTurn();
  }
  return { changes, changesAtMs: counting.changesAtMs };
}

const everything = { limitCount: 0 };

/** Each stored resource once. */
function countedOf(stores: readonly ResourceStore[], parts: UsageParts): readonly Counted[] {
  const found = new Map<ResourceView, Measure>();
  for (const { view, resource } of stores) {
    const measure = found.has(view) ? undefined : measureOf(resource, parts.naming);
    if (measure !== undefined) found.set(view, measure);
  }
  return [...found].map(([view, measure]) => ({ view, measure }));
}

const groupKey = (quota: Item): string => JSON.stringify(scopesOf(quota.object()));

const hardOf = (quota: Item): JsonObject =>
  recordAt(recordAt(quota.object(), 'spec'), 'hard') ?? {};

function groupsOf(quotas: readonly Item[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const quota of quotas) {
    const key = groupKey(quota);
    let group = groups.get(key);
    if (group === undefined) {
      group = { scopes: scopesOf(quota.object()), names: new Set(), sums: new Map() };
      groups.set(key, group);
    }
    for (const name of Object.keys(hardOf(quota))) group.names.add(name);
  }
  return groups;
}

const nothing = wholeQuantity(0);
/** Of an object that cannot be read nothing is known but that it is there. */
const unreadable: Readonly<ApiObject> = {};
/** What items take that the next count will find again. */
const kept = new WeakMap<Item, Amounts>();

class Counting {
  readonly #parts: UsageParts;
  readonly #groups: readonly Group[];
  changesAtMs: number | undefined;

  constructor(parts: UsageParts, groups: readonly Group[]) {
    this.#parts = parts;
    this.#groups = groups;
  }

  needs(measure: Measure): boolean {
    return this.#groups.some((group) => this.#namesOf(group, measure).length > 0);
  }

  /** All objects of a resource. Takes as many turns as it needs. */
  async add(measure: Measure, items: readonly Item[]): Promise<void> {
    const groups = this.#groups
      .map((group) => ({ group, names: this.#namesOf(group, measure) }))
      .filter(({ names }) => names.length > 0);
    for (const { group, names } of groups) for (const name of names) addTo(group, name, nothing);
    if (measure.ofEach !== undefined) {
      const count = wholeQuantity(items.length);
      const unscoped = groups.filter(({ group }) => group.scopes.length === 0);
      for (const { group, names } of unscoped) for (const name of names) addTo(group, name, count);
      return;
    }
    for (const item of items) {
      const object = item.corrupted ? unreadable : item.object();
      const usage = this.#usageOf(measure, item, object);
      for (const { group, names } of groups) {
        if (!group.scopes.every((scope) => measure.matches(scope, object))) continue;
        for (const name of names) addTo(group, name, usage.get(name));
      }
      if (isLongTurn(limits.workSliceMs)) await nextTurn();
    }
  }

  #namesOf({ names }: Group, measure: Measure): readonly string[] {
    return [...names].filter((name) => measure.isName(name, this.#parts));
  }

  #usageOf(measure: Measure, item: Item, object: Readonly<ApiObject>): Amounts {
    const known = kept.get(item);
    if (known !== undefined) return known;
    const usage = measure.usage(object, this.#parts);
    if (isDeleting(object)) this.#noteEnd(endOfGraceMs(object));
    else if (measure.dependsOnOthers !== true) kept.set(item, usage);
    return usage;
  }

  #noteEnd(endMs: number | undefined): void {
    if (endMs === undefined || endMs < this.#parts.nowMs()) return;
    this.changesAtMs = Math.min(this.changesAtMs ?? endMs, endMs);
  }
}

function addTo({ sums }: Group, name: string, amount: Quantity | undefined): void {
  const known = sums.get(name);
  if (amount === undefined) return;
  const format = known === undefined || known.nano === 0n ? amount.format : known.format;
  sums.set(name, { nano: (known?.nano ?? 0n) + amount.nano, format });
}

/** undefined: its status says it all. Names that nobody can count keep what they had. */
function changeOf(quota: Item, sums: Amounts): Recounted | undefined {
  const hard = hardOf(quota);
  const status = recordAt(quota.object(), 'status');
  const before = recordAt(status, 'used') ?? {};
  const used = Object.fromEntries(
    Object.keys(hard).flatMap((name) => {
      const sum = sums.get(name);
      if (sum !== undefined) return [[name, amountText(sum)]];
      return Object.hasOwn(before, name) ? [[name, before[name] ?? null]] : [];
    }),
  );
  const held = amountsIn(recordAt(status, 'hard'));
  const had = amountsIn(before);
  const isNewlyHeld = Object.keys(hard).some((name) => !held.has(name));
  if (isSame(held, hard) && isSame(had, used)) return undefined;
  const wasTooLow = [...had].some(([name, amount]) => {
    const sum = sums.get(name);
    return held.has(name) && sum !== undefined && compareQuantities(amount, sum) < 0;
  });
  return { quota, status: { hard, used }, isNewlyHeld, wasTooLow };
}

/** The same amounts, however they are written. */
function isSame(before: Amounts, list: JsonObject): boolean {
  const now = amountsIn(list);
  if (now.size !== before.size || now.size !== entriesAt({ list }, 'list').length) return false;
  return [...now].every(([name, { nano }]) => before.get(name)?.nano === nano);
}

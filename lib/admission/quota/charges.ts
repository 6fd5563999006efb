// THE judgement of quotas: what a write adds to which quotas of its namespace, or why it is
// refused. Pure and synchronous; who commits the write stores the result with it.
import { entriesAt, recordAt } from '../../api/json-access.ts';
import { compareQuantities, formatQuantity } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import type { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { nameOf } from '../../codec/object-meta.ts';
import { addAmounts, amountsIn } from '../../kinds/core/container-totals.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import { limitedNames, limitedScopes, scopeText } from './limited-resources.ts';
import type { LimitedResource } from './limited-resources.ts';
import type { Measure, UsageParts } from './measure.ts';
import { scopesOf } from './scopes.ts';
import type { ScopeRequirement } from './scopes.ts';
import { measureOf } from './usage.ts';

/** A create or an update, of the object or of a subresource. */
export interface QuotaWrite extends Pick<
  AdmissionRequest,
  'operation' | 'resource' | 'subresource' | 'name'
> {
  /** As it would be stored, in its storage version. */
  readonly object: Readonly<ApiObject>;
  /** As it is stored; undefined for CREATE. */
  readonly old: Readonly<ApiObject> | undefined;
}

export interface ChargeParts extends UsageParts {
  readonly limited: readonly LimitedResource[];
}

export interface Charge {
  /** As it was given. */
  readonly quota: Readonly<ApiObject>;
  /** The same with `status.used` as it has to be once the write is stored. */
  readonly charged: ApiObject;
}

type Quota = Readonly<ApiObject>;

/**
 * Whether quotas, or their absence, have a say in the write. Asked before anything is read: of most
 * writes this is all.
 */
export const isCounted = (write: QuotaWrite, parts: UsageParts): boolean =>
  handledBy(write, parts) !== undefined;

/**
 * @param quotas all of the namespace; the first in this order that does not fit is the one named
 * @returns those that change: empty when the write takes nothing of them
 * @throws StatusError 403
 */
export function chargesOf(
  write: QuotaWrite,
  quotas: readonly Quota[],
  parts: ChargeParts,
): readonly Charge[] {
  const measure = handledBy(write, parts);
  if (measure === undefined) return [];
  const { object, old } = write;
  const { limited } = parts;
  if (quotas.length === 0 && limited.length === 0) return [];
  const covered: Covered = { names: new Set(), scopes: new Set() };
  const matching = quotas.filter((quota) => isMatching(quota, measure, write, parts, covered));
  if (matching.length === 0 && limited.length === 0) return [];
  const usage = measure.usage(object, parts);
  const negative = [...usage].filter(([, { nano }]) => nano < 0n).map(([name]) => name);
  if (negative.length > 0) {
    throw refused(write, `quota usage is negative for resource(s): ${joined(negative)}`);
  }
  const added = old === undefined ? usage : increase(usage, measure.usage(old, parts));
  const charges = matching
    .map((quota) => {
      const isNew = old === undefined || isMatched(quota, measure, old, parts);
      return { quota, delta: positive(isNew ? added : usage) };
    })
    .filter(({ delta }) => delta.size > 0);
  const isFree = matching.length > 0 ? charges.length === 0 : positive(added).size === 0;
  if (isFree) return [];
  checkLimited(write, usage, measure, parts, covered);
  return charges.flatMap(({ quota, delta }) => {
    const charged = chargedQuota(quota, delta, write);
    return charged === undefined ? [] : [{ quota, charged }];
  });
}

const refused = (write: QuotaWrite, text: string): StatusError =>
  refusal(write, write.object, text);

const joined = (names: readonly string[]): string => [...names].sort().join(',');

/** undefined: what is written takes no more of any quota than before. */
function handledBy(write: QuotaWrite, { naming }: UsageParts): Measure | undefined {
  const measure = measureOf(write.resource, naming);
  if (measure === undefined) return undefined;
  const isHandled =
    write.operation === 'CREATE'
      ? write.subresource === ''
      : write.operation === 'UPDATE' && measure.isMeasuredAgain?.(write) === true;
  return isHandled ? measure : undefined;
}

/** What the quotas of a namespace say of themselves, read once for each. */
interface Known {
  readonly scopes: readonly ScopeRequirement[];
  readonly hard: Amounts;
  readonly used: Amounts;
  /** Names of `hard` that are those of a resource. */
  readonly names: Map<Measure, readonly string[]>;
}

const known = new WeakMap<Quota, Known>();

function knownOf(quota: Quota): Known {
  let found = known.get(quota);
  if (found === undefined) {
    const status = recordAt(quota, 'status');
    const [hard, used] = [recordAt(status, 'hard'), recordAt(status, 'used')];
    const [scopes, names] = [scopesOf(quota), new Map<Measure, readonly string[]>()];
    found = { scopes, hard: amountsIn(hard), used: amountsIn(used), names };
    known.set(quota, found);
  }
  return found;
}

function namesOf({ hard, names }: Known, measure: Measure, parts: UsageParts): readonly string[] {
  let found = names.get(measure);
  if (found === undefined) {
    found = [...hard.keys()].filter((name) => measure.isName(name, parts));
    names.set(measure, found);
  }
  return found;
}

/** Names and scopes that quotas of the namespace have for this write. */
interface Covered {
  readonly names: Set<string>;
  readonly scopes: Set<string>;
}

/**
 * Whether the quota counts what is written; adds to `covered`.
 * @throws StatusError where it cannot say, or wants more to be stated
 */
function isMatching(
  quota: Quota,
  measure: Measure,
  write: QuotaWrite,
  parts: UsageParts,
  covered: Covered,
): boolean {
  const said = knownOf(quota);
  const { scopes, used } = said;
  let isInScope = true;
  for (const scope of scopes) {
    if (measure.matches(scope, write.object)) covered.scopes.add(scope.scopeName);
    else isInScope = false;
  }
  if (!isInScope) return false;
  const names = namesOf(said, measure, parts);
  if (names.length === 0) return false;
  const missing = measure.missing?.(write.object, names, parts);
  if (missing !== undefined) throw refused(write, `failed quota: ${nameOf(quota)}: ${missing}`);
  if (names.some((name) => !used.has(name))) {
    const text = `status unknown for quota: ${nameOf(quota)}, resources: ${joined(names)}`;
    throw refused(write, text);
  }
  for (const name of names) covered.names.add(name);
  return true;
}

const isMatched = (
  quota: Quota,
  measure: Measure,
  object: Readonly<ApiObject>,
  parts: UsageParts,
): boolean => {
  const said = knownOf(quota);
  const isInScope = said.scopes.every((scope) => measure.matches(scope, object));
  return isInScope && namesOf(said, measure, parts).length > 0;
};

/** What is more now; less is given back by who counts anew. */
function increase(now: Amounts, before: Amounts): Amounts {
  const more = new Map<string, Quantity>();
  for (const [name, amount] of now) {
    const nano = amount.nano - (before.get(name)?.nano ?? 0n);
    more.set(name, { nano: nano > 0n ? nano : 0n, format: amount.format });
  }
  return more;
}

const positive = (amounts: Amounts): Amounts =>
  new Map([...amounts].filter(([, { nano }]) => nano > 0n));

/** @throws StatusError for what may only be used where a quota says how much */
function checkLimited(
  write: QuotaWrite,
  usage: Amounts,
  measure: Measure,
  { limited }: ChargeParts,
  covered: Covered,
): void {
  const names = limitedNames(limited, write.resource, usage);
  const uncovered = names.filter((name) => !covered.names.has(name));
  if (uncovered.length > 0) {
    throw refused(write, `insufficient quota to consume: ${joined(uncovered)}`);
  }
  const scopes = limitedScopes(limited)
    .filter((scope) => measure.matches(scope, write.object))
    .filter(({ scopeName }) => !covered.scopes.has(scopeName));
  if (scopes.length > 0) {
    const text = `[${scopes.map(scopeText).join(' ')}]`;
    throw refused(write, `insufficient quota to match these scopes: ${text}`);
  }
}

/** undefined: it counts nothing of this. @throws StatusError when it is exceeded */
function chargedQuota(quota: Quota, delta: Amounts, write: QuotaWrite): ApiObject | undefined {
  const { hard, used } = knownOf(quota);
  const requested = new Map([...delta].filter(([name]) => hard.has(name)));
  if (requested.size === 0) return undefined;
  const total = new Map(used);
  addAmounts(total, requested);
  if (write.subresource !== 'status') {
    const exceeded = [...requested.keys()].filter((name) => isAbove(total, hard, name)).sort();
    if (exceeded.length > 0) {
      const shown = (amounts: Amounts): string => exceeded.map(shownIn(amounts)).join(',');
      const [wants, has, may] = [shown(requested), shown(used), shown(hard)];
      const text = `requested: ${wants}, used: ${has}, limited: ${may}`;
      throw refused(write, `exceeded quota: ${nameOf(quota)}, ${text}`);
    }
  }
  return withUsed(quota, usedTexts(recordAt(recordAt(quota, 'status'), 'used'), total, requested));
}

function isAbove(total: Amounts, hard: Amounts, name: string): boolean {
  const [sum, most] = [total.get(name), hard.get(name)];
  return sum !== undefined && most !== undefined && compareQuantities(sum, most) > 0;
}

const shownIn =
  (amounts: Amounts) =>
  (name: string): string => {
    const amount = amounts.get(name);
    return amount === undefined ? '' : `${name}=${formatQuantity(amount)}`;
  };

/** Texts that do not change stay as they are. */
function usedTexts(before: JsonObject | undefined, total: Amounts, changed: Amounts): JsonObject {
  const texts: [string, string][] = [...changed.keys()].flatMap((name) => {
    const sum = total.get(name);
    return sum === undefined ? [] : [[name, amountText(sum)]];
  });
  return Object.fromEntries([...entriesAt({ used: before ?? {} }, 'used'), ...texts]);
}

/** The quota with another `status.used`. */
export const withUsed = (quota: Quota, used: JsonObject): ApiObject => ({
  ...quota,
  status: { ...recordAt(quota, 'status'), used },
});

/**
 * A text that can be read again: of amounts beyond what a text may say the leading digits, rounded
 * up, so that never less is charged.
 */
export function amountText(amount: Quantity): string {
  const text = formatQuantity(amount);
  if (text.length <= limits.quantityLengthMax) return text;
  const digits = String(amount.nano);
  const kept = digits.slice(0, keptDigits);
  const exponent = digits.length - keptDigits - 9;
  return formatQuantity({
    nano: (BigInt(kept) + 1n) * 10n ** BigInt(exponent + 9),
    format: 'exponent',
  });
}

const keptDigits = 30;

// anyOf, oneOf, allOf and not: conditions on the same value, without a type of their own. Nothing
// below them has an old value.
import type { MaybePromise } from '../base/maybe-promise.ts';
import { whenThere } from '../base/maybe-promise.ts';
import { eachInTurns } from '../base/each-in-turns.ts';
import { FailureList } from './failure-list.ts';
import type { JsonValue, ValueInfo, ValueSchema } from './type-info.ts';
import { invalidWhole } from './value-checks.ts';
import type { Check, Checking } from './value-checks.ts';

/** In the order in which their failures come. */
export function junctorChecks(
  { anyOf, oneOf, allOf, not }: ValueSchema,
  compile: (branch: ValueInfo) => Check,
): readonly Check[] {
  return [
    ...(anyOf.length === 0 ? [] : [anyOfCheck(anyOf.map(compile))]),
    ...(oneOf.length === 0 ? [] : [oneOfCheck(oneOf.map(compile))]),
    ...(allOf.length === 0 ? [] : [allOfCheck(allOf.map(compile))]),
    ...(not === undefined ? [] : [notCheck(compile(not))]),
  ];
}

interface Outcome {
  readonly isValid: boolean;
  readonly errors: FailureList;
  readonly matchCount: number;
}

interface Tried {
  readonly value: JsonValue;
  readonly path: string;
  readonly into: Checking;
}

/** `take` is told of each branch; true: the rest is not tried. */
function tryEach(
  branches: readonly Check[],
  { value, path, into }: Tried,
  take: (outcome: Outcome) => boolean,
): MaybePromise<void> {
  const { pace } = into;
  let isEnough = false;
  return eachInTurns(
    branches,
    (branch) => {
      if (isEnough) return undefined;
      const own: Checking = { errors: new FailureList(), matchCount: 0, pace, stored: undefined };
      return whenThere(branch(value, undefined, path, own), () => {
        const { errors, matchCount } = own;
        isEnough = take({ isValid: errors.count === 0, errors, matchCount });
      });
    },
    pace,
  );
}

/** Of several failures the one that fits best, the first among equals. */
const better = (best: Outcome | undefined, other: Outcome): Outcome =>
  best === undefined || other.matchCount > best.matchCount ? other : best;

/** Adds what was found below a branch to what was found in the value. */
function addOutcome({ errors, matchCount }: Outcome, into: Checking): void {
  into.errors.add(errors);
  into.matchCount += matchCount;
}

const anyOfCheck =
  (branches: readonly Check[]): Check =>
  (value, _old, path, into) => {
    let best: Outcome | undefined;
    let isAny = false;
    const take = (outcome: Outcome): boolean => {
      isAny = outcome.isValid;
      if (!isAny) best = better(best, outcome);
      return isAny;
    };
    return whenThere(tryEach(branches, { value, path, into }, take), () => {
      if (isAny) return;
      invalidWhole(into, `"${path}" must validate at least one schema (anyOf)`);
      if (best !== undefined) addOutcome(best, into);
    });
  };

const oneOfCheck =
  (branches: readonly Check[]): Check =>
  (value, _old, path, into) => {
    let best: Outcome | undefined;
    let validCount = 0;
    const take = (outcome: Outcome): boolean => {
      if (outcome.isValid) validCount += 1;
      else best = better(best, outcome);
      return false;
    };
    return whenThere(tryEach(branches, { value, path, into }, take), () => {
      if (validCount === 1) return;
      const found = validCount === 0 ? 'none valid' : `${String(validCount)} valid alternatives`;
      invalidWhole(into, `"${path}" must validate one and only one schema (oneOf). Found ${found}`);
      if (validCount === 0 && best !== undefined) addOutcome(best, into);
    });
  };

const allOfCheck =
  (branches: readonly Check[]): Check =>
  (value, _old, path, into) => {
    let failedCount = 0;
    const take = (outcome: Outcome): boolean => {
      if (!outcome.isValid) failedCount += 1;
      addOutcome(outcome, into);
      return false;
    };
    return whenThere(tryEach(branches, { value, path, into }, take), () => {
      if (failedCount === 0) return;
      const none = failedCount === branches.length ? '. None validated' : '';
      invalidWhole(into, `"${path}" must validate all the schemas (allOf)${none}`);
    });
  };

const notCheck =
  (branch: Check): Check =>
  (value, _old, path, into) => {
    const take = ({ isValid }: Outcome): boolean => {
      if (isValid) invalidWhole(into, `"${path}" must not validate the schema (not)`);
      return true;
    };
    return tryEach([branch], { value, path, into }, take);
  };

// Tolerations of pods as plugins add them.
import { numberAt, textAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import type { JsonObject } from '../api/type-info.ts';

/** Both, without those that another one covers; of two that are alike the first stays. */
export function mergeTolerations(
  first: readonly JsonObject[],
  second: readonly JsonObject[],
): readonly JsonObject[] {
  const all = [...first, ...second];
  const merged: JsonObject[] = [];
  for (const [at, one] of all.entries()) {
    const isKnown = merged.some((other) => covers(other, one));
    const comes = all.slice(at + 1).some((other) => covers(other, one) && !sameJson(other, one));
    if (!isKnown && !comes) merged.push(one);
  }
  return merged;
}

/** Whether `wide` tolerates every taint that `narrow` does, and for as long. */
export function covers(wide: JsonObject, narrow: JsonObject): boolean {
  if (sameJson(wide, narrow)) return true;
  const [key, effect] = [textAt(wide, 'key'), textAt(wide, 'effect')];
  const operator = textAt(wide, 'operator');
  const isOfAllKeys = key === '' && operator === 'Exists';
  if (!isOfAllKeys && textAt(narrow, 'key') !== key) return false;
  if (effect !== '' && textAt(narrow, 'effect') !== effect) return false;
  if (effect === 'NoExecute' && isShorter(wide, narrow)) return false;
  if (operator === 'Exists') return true;
  return (
    isEqual(operator) &&
    textAt(narrow, 'operator') === operator &&
    textAt(narrow, 'value') === textAt(wide, 'value')
  );
}

const isEqual = (operator: string): boolean => operator === 'Equal' || operator === '';

function isShorter(wide: JsonObject, narrow: JsonObject): boolean {
  const [longest, asked] = [seconds(wide), seconds(narrow)];
  return longest !== undefined && (asked === undefined || asked > longest);
}

const seconds = (toleration: JsonObject): number | undefined =>
  numberAt(toleration, 'tolerationSeconds');

// The contract of defaults that depend on other fields, so that no `(default_value)` option can
// hold them, and steps that they share. A rule changes nothing but the object that it completes.
import { asRecord, asText, listAt, recordAt, textAt } from './json-access.ts';
import { cloneJson, isObject } from './json-value.ts';
import { isAbsent, isEmpty } from './presence.ts';
import { newRecord } from './record.ts';
import type { JsonObject, JsonValue } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

export interface DefaultsContext {
  readonly profile: NamingProfile;
  /** Feature gates, by name; one that no table lists has graduated. */
  readonly isOn: (gate: string) => boolean;
  readonly nowMs: () => number;
}

/** Runs after the options' defaults of the same object and everything below it. */
export interface DefaultRule {
  /** Raised when the rule sets other values: objects stored before then get defaults again. */
  readonly version: number;
  /** Gates that it reads; a switched gate counts as another version. */
  readonly gates?: readonly string[];
  /**
   * Paths of members, each without its indexes: all that the rule reads and changes. Where they are
   * as it has left them before, it does nothing. Not given: anything below the object.
   */
  readonly parts?: readonly (readonly string[])[];
  complete(object: JsonObject, context: DefaultsContext): void;
}

/** By type id: `core/v1.Pod`. */
export type DefaultRules = Readonly<Record<string, DefaultRule>>;

/** The message at `name`; an absent one is made. */
export function ensureRecord(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : (object[name] = newRecord());
}

/** Sets what is absent. */
export function fillUnset(object: JsonObject, values: Readonly<Record<string, JsonValue>>): void {
  for (const name of Object.keys(values)) {
    if (isAbsent(object[name])) object[name] = cloneJson(values[name] ?? null);
  }
}

interface Mirrored {
  readonly single: string;
  readonly list: string;
  /** What holds the text in each element of the list; absent: elements are texts. */
  readonly member?: string;
}

/**
 * A text that is also the first of a list: where the two differ, the text is meant and is the whole
 * list; one that is empty shows what is first.
 */
export function mirrorFirst(object: JsonObject, { single, list, member }: Mirrored): void {
  const value = textAt(object, single);
  const [element] = listAt(object, list);
  const first = member === undefined ? asText(element) : textAt(asRecord(element), member);
  if (value === first) return;
  if (value === '') object[single] = first;
  else object[list] = [member === undefined ? value : { [member]: value }];
}

/** A copy of the labels of the pod template in `spec`; undefined: it has none. */
export function templateLabels(object: JsonObject): JsonObject | undefined {
  const template = recordAt(recordAt(object, 'spec'), 'template');
  const labels = recordAt(recordAt(template, 'metadata'), 'labels');
  return labels === undefined || isEmpty(labels) ? undefined : cloneJson(labels);
}

/** An object without labels takes those of its pod template. */
export function labelLikeTemplate(object: JsonObject): void {
  const labels = templateLabels(object);
  if (labels !== undefined && isEmpty(recordAt(object, 'metadata')?.['labels'])) {
    ensureRecord(object, 'metadata')['labels'] = labels;
  }
}

/** An absent label selector selects the pods of the template. */
export function selectTemplate(object: JsonObject): void {
  const spec = ensureRecord(object, 'spec');
  const labels = templateLabels(object);
  if (labels === undefined || !isAbsent(spec['selector'])) return;
  ensureRecord(spec, 'selector')['matchLabels'] = labels;
}

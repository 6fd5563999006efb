// Validation of one write, besides metadata: the rules beside the fields, the strategy's own, and
// the migrated ones, which exist in both forms and are compared as gates say (specification 2).
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { asRecord, valueAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import { dropDisabledFields } from '../api/gated-fields.ts';
import type { DropDisabledFields } from '../api/gated-fields.ts';
import { hasMigratedRules, validateDeclared } from '../api/validate.ts';
import { featureGates } from '../config/gates.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { FieldError } from '../base/status.ts';
import { fieldErrorMessage } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { ResourceStrategy, WriteContext } from '../kinds/strategy.ts';

type Stored = Readonly<ApiObject>;

export interface ValidationOptions {
  /** A gate's value; gates that no longer exist count as on. */
  readonly isOn: (gate: string) => boolean;
  /** The two forms of a migrated rule differ: `difference` says how. */
  readonly onMismatch: (resource: ResourceInfo, difference: string) => void;
}

export interface ObjectRules {
  /** Drops fields of switched-off features that are not in use. Changes `object`. */
  readonly dropDisabled: DropDisabledFields;
  /** What the kind does to an object before it is validated. Changes `object`. */
  prepare(object: ApiObject, old: Stored | undefined, context: WriteContext): void;
  /** Failures of rules that ask others. */
  authorize(
    object: Stored,
    old: Stored | undefined,
    context: WriteContext,
    signal: AbortSignal,
  ): MaybePromise<readonly FieldError[]>;
  /**
   * Every other failure, in a fixed order. `earlier`: those of the object's metadata. Of large
   * objects it may take several turns.
   */
  validate(
    object: Stored,
    old: Stored | undefined,
    context: WriteContext,
    earlier: readonly FieldError[],
  ): MaybePromise<readonly FieldError[]>;
  /** Adds what is to be said of a valid object to the warnings of its request. */
  warn(object: Stored, old: Stored | undefined, context: WriteContext): void;
}

/** Rules that look at an object in one turn. */
export interface PromptRules extends ObjectRules {
  validate(object: Stored, old: Stored | undefined, context: WriteContext): readonly FieldError[];
}

const defaultGates = featureGates(new Map());

/** Gates at their defaults, nobody told of differences: for stores made without gates. */
export const defaultValidation: ValidationOptions = {
  isOn: (gate) => defaultGates.isEnabled(gate),
  onMismatch: () => undefined,
};

export function objectRules(
  resource: ResourceInfo,
  strategy: ResourceStrategy,
  options: ValidationOptions,
): PromptRules {
  const { type } = resource;
  const { isOn } = options;
  const isDeclared = strategy.rulesByHand !== true;
  const isMigrated =
    isDeclared && (hasMigratedRules(type) || strategy.validateMigrated !== undefined);
  const compares = isMigrated && isOn('DeclarativeValidation');
  const takesOver = compares && isOn('DeclarativeValidationTakeover');
  const migrated = (
    object: Stored,
    old: Stored | undefined,
    context: WriteContext,
  ): readonly FieldError[] => {
    if (!isMigrated) return [];
    const byHand = strategy.validateMigrated?.(object, old, context, isOn) ?? [];
    if (!compares) return byHand;
    const declared = validateDeclared(object, old, type, { stage: 'migrated', isOn });
    const difference = differenceOf(declared, byHand);
    if (difference !== undefined) options.onMismatch(resource, difference);
    return takesOver ? declared : byHand;
  };
  return {
    dropDisabled: dropDisabledFields(type, isOn),
    prepare(object, old, context) {
      strategy.prepare?.(object, old, context, isOn);
    },
    authorize: (object, old, context, signal) =>
      strategy.authorize?.(object, old, context, { isOn, signal }) ?? [],
    validate(given, stored, context) {
      const object = strategy.asValidated?.(given) ?? given;
      const old = stored === undefined ? undefined : (strategy.asValidated?.(stored) ?? stored);
      const declared = [
        ...(isDeclared ? validateDeclared(object, old, type, { stage: 'plain', isOn }) : []),
        ...migrated(object, old, context),
      ];
      const byKind = strategy.validate?.(object, old, context, isOn, declared) ?? [];
      if (strategy.validatesUnchanged === true) return [...declared, ...byKind];
      return [...declared, ...unlessStored(byKind, object, old, type)];
    },
    warn(object, old, context) {
      for (const text of strategy.warnings?.(object, old, context) ?? []) {
        if (!context.warnings.includes(text)) context.warnings.push(text);
      }
    },
  };
}

/** `objectRules` with those of the strategy that may take several turns. */
export function storedRules(
  resource: ResourceInfo,
  strategy: ResourceStrategy,
  options: ValidationOptions,
): ObjectRules {
  const prompt = objectRules(resource, strategy, options);
  if (strategy.validateInTurns === undefined) return prompt;
  return {
    ...prompt,
    validate(object, old, context) {
      const found = [...prompt.validate(object, old, context)];
      const more = strategy.validateInTurns?.(object, old, context, options.isOn, found) ?? [];
      return whenThere(more, (errors) => [...found, ...errors]);
    },
  };
}

/** Parts of an object whose rules look at nothing outside them. */
const closedParts: readonly (readonly string[])[] = [
  ['spec', 'template', 'spec'],
  ['spec', 'jobTemplate', 'spec'],
];

/**
 * What a strategy finds in a part that is stored just so is accepted: an object that was valid once
 * can be changed elsewhere.
 */
function unlessStored(
  errors: readonly FieldError[],
  object: Stored,
  old: Stored | undefined,
  type: TypeInfo,
): readonly FieldError[] {
  if (errors.length === 0 || old === undefined) return errors;
  const same = new Map<string, boolean>();
  const isStored = (path: readonly string[]): boolean => {
    const key = path.join('.');
    let known = same.get(key);
    if (known === undefined) {
      known = sameJson(memberAt(object, path), memberAt(old, path));
      same.set(key, known);
    }
    return known;
  };
  return errors.filter(({ field }) => {
    const top = /^[^.[]+/.exec(field)?.[0] ?? '';
    const isMember = top !== 'metadata' && type.fieldByJsonName.has(top);
    if (isMember && isStored([top])) return false;
    return !closedParts.some((part) => field.startsWith(`${part.join('.')}.`) && isStored(part));
  });
}

function memberAt(object: Stored, path: readonly string[]): ApiObject[string] {
  let value: ApiObject[string] = object;
  for (const name of path) value = valueAt(asRecord(value), name);
  return value;
}

/** undefined: both found the same failures. */
function differenceOf(
  declared: readonly FieldError[],
  byHand: readonly FieldError[],
): string | undefined {
  if (declared.length === 0 && byHand.length === 0) return undefined;
  const texts = (errors: readonly FieldError[]): string[] =>
    errors.map((error) => `${error.field}: ${error.reason}`).sort();
  const left = texts(declared);
  const right = texts(byHand);
  if (left.length === right.length && left.every((text, at) => text === right[at])) {
    return undefined;
  }
  const say = (errors: readonly FieldError[]): string =>
    errors.map((error) => `${error.field}: ${fieldErrorMessage(error)}`).join('; ') || 'nothing';
  return `declarative validation found ${say(declared)}; by hand ${say(byHand)}`;
}

// Code for variables with their selections and indexes. Costs: one for the whole, one for each
// step; inside a ternary or as an index the one for the whole is not charged. Steps after an
// optional one charge only when they find something.
import type { Code, Frame } from './frame.ts';
import { noSuchOverloadError } from './frame.ts';
import { CelError, OptionalValue, isError, isMap, readField, typeNameOf } from '../model/value.ts';
import type { RecordField, RecordShape, Value } from '../model/value.ts';
import { isKey, lookUp, none, qualify } from './qualify.ts';

/** One step: a constant key, or code that computes it. */
export interface Qualifier {
  readonly key: Value | Code;
  readonly isOptional: boolean;
  /** Only asks whether the key is there. */
  readonly isTest: boolean;
}

export type Attribute =
  | { readonly kind: 'variable'; readonly slot: number; readonly qualifiers: readonly Qualifier[] }
  | { readonly kind: 'relative'; readonly code: Code; readonly qualifiers: readonly Qualifier[] }
  | {
      readonly kind: 'conditional';
      readonly condition: Code;
      readonly whenTrue: Attribute;
      readonly whenFalse: Attribute;
    };

/** The attribute with one more step; a choice takes it on both sides. */
export function withQualifier(attribute: Attribute, qualifier: Qualifier): Attribute {
  if (attribute.kind !== 'conditional') {
    return { ...attribute, qualifiers: [...attribute.qualifiers, qualifier] };
  }
  return {
    ...attribute,
    whenTrue: withQualifier(attribute.whenTrue, qualifier),
    whenFalse: withQualifier(attribute.whenFalse, qualifier),
  };
}

/** Code for an attribute that stands for itself. */
export function attributeCode(attribute: Attribute, isTest: boolean): Code {
  const resolve = resolveCode(attribute);
  if (isTest) return (frame) => testResult(resolve(frame));
  if (attribute.kind === 'conditional') return resolve;
  const name = onlyName(attribute);
  if (name !== undefined && attribute.kind === 'variable') return fieldCode(attribute.slot, name);
  return (frame) => {
    const value = resolve(frame);
    frame.charge(1);
    return value;
  };
}

function testResult(value: Value): Value {
  return value instanceof OptionalValue ? value.value !== undefined : value;
}

/** Code for an attribute within another: without the charge for the whole. */
export function resolveCode(attribute: Attribute): Code {
  if (attribute.kind === 'conditional') return conditionalCode(attribute);
  const { qualifiers } = attribute;
  const root = rootCode(attribute);
  if (qualifiers.length === 0) return root;
  const [first] = qualifiers;
  const isPlain = qualifiers.every((q) => !q.isOptional && !q.isTest && typeof q.key === 'string');
  if (first !== undefined && isPlain)
    return plainCode(
      root,
      qualifiers.map((q) => q.key as string),
    );
  return (frame) => {
    const value = root(frame);
    return isError(value) ? value : applyQualifiers(frame, value, qualifiers);
  };
}

function rootCode(attribute: Exclude<Attribute, { kind: 'conditional' }>): Code {
  if (attribute.kind === 'relative') return attribute.code;
  const { slot } = attribute;
  return (frame) => frame.variable(slot);
}

/** The one plain name that is selected, if that is all. */
function onlyName(attribute: Exclude<Attribute, { kind: 'conditional' }>): string | undefined {
  const [first, ...rest] = attribute.qualifiers;
  if (first === undefined || rest.length > 0 || first.isOptional || first.isTest) return undefined;
  return typeof first.key === 'string' ? first.key : undefined;
}

/**
 * `variable.name`, the most frequent of all. Objects of one shape have their field looked up once.
 */
function fieldCode(slot: number, name: string): Code {
  let shape: RecordShape | undefined;
  let field: RecordField | undefined;
  return (frame) => {
    const value = frame.slots[slot] ?? frame.variable(slot);
    if (isMap(value) && value.shape !== undefined && value.raw !== undefined) {
      if (value.shape !== shape) {
        shape = value.shape;
        field = shape.fields.get(name);
      }
      const found = field === undefined ? undefined : readField(value.raw, field);
      if (found !== undefined) {
        frame.chargeTwo();
        return found;
      }
    }
    const selected = selectName(frame, value, name);
    frame.charge(1);
    return selected;
  };
}

/** Names only, nothing optional. */
function plainCode(root: Code, names: readonly string[]): Code {
  const [name] = names;
  if (names.length === 1 && name !== undefined)
    return (frame) => selectName(frame, root(frame), name);
  return (frame) => {
    let value = root(frame);
    if (value instanceof OptionalValue) return selectOptional(frame, value, names);
    for (const next of names) {
      if (isError(value)) return value;
      value = qualify(value, next);
      frame.charge(1);
    }
    return value;
  };
}

function selectName(frame: Frame, value: Value, name: string): Value {
  if (isError(value)) return value;
  if (value instanceof OptionalValue) return selectOptional(frame, value, [name]);
  const found = qualify(value, name);
  frame.charge(1);
  return found;
}

function selectOptional(frame: Frame, value: OptionalValue, names: readonly string[]): Value {
  const qualifiers = names.map((key): Qualifier => ({ key, isOptional: false, isTest: false }));
  return applyQualifiers(frame, value, qualifiers);
}

function conditionalCode(attribute: Attribute & { kind: 'conditional' }): Code {
  const { condition } = attribute;
  const whenTrue = resolveCode(attribute.whenTrue);
  const whenFalse = resolveCode(attribute.whenFalse);
  return (frame) => {
    const choice = condition(frame);
    if (choice === true) return whenTrue(frame);
    if (choice === false) return whenFalse(frame);
    return isError(choice) ? choice : noSuchOverloadError;
  };
}

function applyQualifiers(frame: Frame, start: Value, qualifiers: readonly Qualifier[]): Value {
  let value = start;
  let isOptional = false;
  if (value instanceof OptionalValue) {
    if (value.value === undefined) return value;
    isOptional = true;
    value = value.value;
  }
  for (const qualifier of qualifiers) {
    isOptional ||= qualifier.isOptional;
    const key = typeof qualifier.key === 'function' ? keyOf(qualifier.key(frame)) : qualifier.key;
    if (isOptional) {
      const found = isError(key) ? key : lookUp(value, key);
      if (found === undefined) return none;
      if (isError(found)) return found;
      frame.charge(1);
      value = qualifier.isTest ? null : found;
    } else {
      value = step(value, key, qualifier.isTest);
      frame.charge(1);
      if (isError(value)) return value;
    }
  }
  return isOptional ? new OptionalValue(value) : value;
}

function step(value: Value, key: Value, isTest: boolean): Value {
  if (isError(key)) return key;
  if (!isTest) return qualify(value, key);
  const found = lookUp(value, key);
  if (found === undefined) return false;
  return isError(found) ? found : true;
}

function keyOf(value: Value): Value {
  if (isError(value) || isKey(value)) return value;
  return new CelError(`invalid qualifier type: ${typeNameOf(value)}`);
}

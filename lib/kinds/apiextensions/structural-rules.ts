// The structural form of a schema: every value has a type, and conditions say nothing of structure.
// Failures are in the order of their texts.
import {
  entriesAt,
  flagAt,
  isSet,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { isObject, without } from '../../api/json-value.ts';
import { isZero } from '../../api/presence.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import { compilePattern } from '../../base/pattern.ts';
import { patternSize } from '../../base/pattern-size.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import type { FieldError } from '../../base/status.ts';
import { longStep } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import type { Holder } from '../validator.ts';
import { SchemaReport } from './schema-report.ts';

interface Structure {
  readonly report: SchemaReport;
  readonly patterns: Patterns;
  readonly errors: FieldErrors;
  /** Of the product's own words: `x-…-`. */
  readonly prefix: string;
}

/** Of a schema that can be read as structure. */
export function* structuralErrors(
  schema: JsonObject,
  path: string,
  prefix: string,
): Steps<readonly FieldError[]> {
  const report = new SchemaReport(new Set());
  const structure = { errors: report.errors, prefix, report, patterns: new Patterns() };
  yield* validateStructure(schema, path, 'root', structure);
  yield* validateCompleteness(schema, path, structure);
  const texts = report.errors.list.map(
    (error) => [`${error.field}: ${fieldErrorMessage(error)}`, error] as const,
  );
  yield;
  return texts.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, error]) => error);
}

const junctors = ['allOf', 'anyOf', 'oneOf'] as const;

const missingTypes = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};
type Level = keyof typeof missingTypes;

function* validateStructure(
  schema: JsonObject,
  path: string,
  level: Level,
  structure: Structure,
): Steps<void> {
  const { prefix, errors, report } = structure;
  yield;
  if (report.isFull) return;
  const items = recordAt(schema, 'items');
  if (items !== undefined) yield* validateStructure(items, `${path}.items`, 'item', structure);
  const properties = recordAt(schema, 'properties') ?? {};
  for (const name of Object.keys(properties)) {
    const property = properties[name];
    if (!isObject(property)) continue;
    yield* validateStructure(property, `${path}.properties[${name}]`, 'field', structure);
  }
  const additional = recordAt(schema, 'additionalProperties');
  if (level === 'root' && isSet(schema, 'additionalProperties')) {
    errors.forbidden(`${path}.additionalProperties`, 'must not be used at the root');
  }
  if (additional !== undefined) {
    yield* validateStructure(additional, `${path}.additionalProperties`, 'field', structure);
  }
  validateIntOrString(schema, path, structure);
  const isText = flagAt(schema, `${prefix}int-or-string`);
  const inFirst = isText && isIntOrStringPair(recordsAt(schema, 'allOf')[0]);
  const skips = { ownAnyOf: isText && isIntOrStringPair(schema), firstAnyOf: inFirst };
  yield* validateConditions(schema, path, skips, structure);
  validateType(schema, path, level, structure);
  if (textAt(schema, 'type') === 'array' && !isSet(schema, 'items')) {
    errors.required(`${path}.items`, 'must be specified');
  }
  validateResourceMembers(schema, path, level === 'root', structure);
}

function validateIntOrString(
  schema: JsonObject,
  path: string,
  { prefix, errors }: Structure,
): void {
  if (!flagAt(schema, `${prefix}int-or-string`)) return;
  for (const word of ['preserve-unknown-fields', 'embedded-resource']) {
    if (!flagAt(schema, prefix + word)) continue;
    const detail = `must be false if ${prefix}int-or-string is true`;
    errors.invalid(`${path}.${prefix}${word}`, true, detail);
  }
}

/** `anyOf: [{type: integer}, {type: string}]`, which says what the word for it says. */
const isIntOrStringPair = (schema: Holder): boolean =>
  sameJson(valueAt(schema, 'anyOf'), [{ type: 'integer' }, { type: 'string' }]);

function validateType(
  schema: JsonObject,
  path: string,
  level: Level,
  { prefix, errors }: Structure,
): void {
  const type = textAt(schema, 'type');
  const embedded = `${prefix}embedded-resource`;
  const isEmbedded = flagAt(schema, embedded);
  const isFree =
    flagAt(schema, `${prefix}int-or-string`) || flagAt(schema, `${prefix}preserve-unknown-fields`);
  if (isEmbedded && type !== 'object') {
    const detail = `must be object if ${embedded} is true`;
    if (type === '') errors.required(`${path}.type`, detail);
    else errors.invalid(`${path}.type`, type, detail);
  } else if (type === '' && !isFree) errors.required(`${path}.type`, missingTypes[level]);
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.invalid(`${path}.type`, type, 'must be object at the root');
  }
  if (!isEmbedded) return;
  if (isSet(schema, 'additionalProperties')) {
    const detail = `must not be used if ${embedded} is set`;
    errors.forbidden(`${path}.additionalProperties`, detail);
  }
  const preserves = `${prefix}preserve-unknown-fields`;
  if (!flagAt(schema, preserves) && entriesAt(schema, 'properties').length === 0) {
    const detail = `must not be empty if ${embedded} is true without ${preserves}`;
    errors.required(`${path}.properties`, detail);
  }
}

const resourceMembers = [
  ['kind', 'string'],
  ['apiVersion', 'string'],
  ['metadata', 'object'],
] as const;

/** What a schema may say of the members that every resource has. */
function validateResourceMembers(
  schema: JsonObject,
  path: string,
  isRoot: boolean,
  { prefix, errors }: Structure,
): void {
  if (!isRoot && !flagAt(schema, `${prefix}embedded-resource`)) return;
  const properties = recordAt(schema, 'properties');
  for (const [name, type] of resourceMembers) {
    const member = recordAt(properties, name);
    const given = textAt(member, 'type');
    if (member === undefined || given === type) continue;
    errors.invalid(`${path}.properties[${name}].type`, given, `must be ${type}`);
  }
  const metadata = recordAt(properties, 'metadata');
  if (!isRoot || metadata === undefined) return;
  const rest = without(metadata, 'type', 'default', 'properties');
  const others = without(recordAt(metadata, 'properties') ?? {}, 'name', 'generateName');
  if (Object.keys(rest).every((word) => isZero(rest[word])) && Object.keys(others).length === 0)
    return;
  const detail =
    'must not specify anything other than name and generateName, but metadata is ' +
    'implicitly specified';
  errors.forbidden(`${path}.properties[metadata]`, detail);
}

interface SkippedConditions {
  readonly ownAnyOf: boolean;
  /** `anyOf` of the first condition of `allOf`. */
  readonly firstAnyOf: boolean;
}
const skipsNothing: SkippedConditions = { ownAnyOf: false, firstAnyOf: false };

/** Conditions on a value: allOf and its like, and the pattern of a text. */
function* validateConditions(
  schema: JsonObject,
  path: string,
  skips: SkippedConditions,
  structure: Structure,
): Steps<void> {
  for (const junctor of junctors) {
    if (junctor === 'anyOf' && skips.ownAnyOf) continue;
    for (const [at, part] of recordsAt(schema, junctor).entries()) {
      const ownAnyOf = junctor === 'allOf' && at === 0 && skips.firstAnyOf;
      const where = `${path}.${junctor}[${String(at)}]`;
      yield* validateCondition(part, where, { ownAnyOf, firstAnyOf: false }, structure);
    }
  }
  const not = recordAt(schema, 'not');
  if (not !== undefined) yield* validateCondition(not, `${path}.not`, skipsNothing, structure);
  const pattern = textAt(schema, 'pattern');
  if (pattern === '') return;
  const problem = structure.patterns.problemOf(pattern);
  yield longStep; // A pattern may be compiled for milliseconds.
  if (problem === undefined) return;
  const detail = `must be a valid regular expression, but isn't: ${problem}`;
  structure.errors.invalid(`${path}.pattern`, pattern, detail);
}

/** The regular expressions of one schema, which together may be so large. */
class Patterns {
  readonly #problems = new Map<string, string | undefined>();
  #stepCount = 0;

  /** Why one is refused. */
  problemOf(pattern: string): string | undefined {
    if (this.#problems.has(pattern)) return this.#problems.get(pattern);
    this.#stepCount += patternSize(pattern).steps;
    const problem = this.#judge(pattern);
    this.#problems.set(pattern, problem);
    return problem;
  }

  #judge(pattern: string): string | undefined {
    if (this.#stepCount > limits.schemaPatternStepsMax) {
      return 'error parsing regexp: expressions of the schema are too large together';
    }
    const compiled = compilePattern(pattern);
    return 'error' in compiled ? compiled.error : undefined;
  }
}

const emptyInConditions = ['type', 'title', 'description'];
const undefinedInConditions = ['default', 'additionalProperties'];
const ownEmpty = ['list-map-keys', 'validations'];
const ownUndefined = ['list-type', 'map-type'];
const ownFalse = ['preserve-unknown-fields', 'embedded-resource', 'int-or-string'];

/** A condition, which may say nothing of structure, and those in it. */
function* validateCondition(
  schema: JsonObject,
  path: string,
  skips: SkippedConditions,
  structure: Structure,
): Steps<void> {
  const { prefix, errors, report } = structure;
  yield;
  if (report.isFull) return;
  yield* validateConditions(schema, path, skips, structure);
  const items = recordAt(schema, 'items');
  if (items !== undefined)
    yield* validateCondition(items, `${path}.items`, skipsNothing, structure);
  for (const [name, property] of entriesAt(schema, 'properties')) {
    if (!isObject(property)) continue;
    yield* validateCondition(property, `${path}.properties[${name}]`, skipsNothing, structure);
  }
  const own = (words: readonly string[]): readonly string[] => words.map((word) => prefix + word);
  const forbid = (words: readonly string[], state: string): void => {
    for (const word of words) {
      const value = valueAt(schema, word);
      const isWrong = state === 'undefined' ? value !== undefined : !isZero(value);
      if (isWrong) errors.forbidden(`${path}.${word}`, `must be ${state} to be structural`);
    }
  };
  forbid([...emptyInConditions, ...own(ownEmpty)], 'empty');
  forbid([...undefinedInConditions, ...own(ownUndefined)], 'undefined');
  forbid(['nullable', ...own(ownFalse)], 'false');
  if (isSet(recordAt(schema, 'properties'), 'metadata')) {
    const detail = 'must not be specified in a nested context';
    errors.forbidden(`${path}.properties[metadata]`, detail);
  }
}

/** What the conditions of the root speak of is part of the structure. */
function* validateCompleteness(
  schema: JsonObject,
  path: string,
  structure: Structure,
): Steps<void> {
  yield* completeJunctors(schema, { from: path, own: schema, at: path }, structure);
}

/** A condition's place, and the part of the structure that it speaks of. */
interface Spoken {
  readonly from: string;
  readonly own: Holder;
  readonly at: string;
}

function* completeJunctors(of: JsonObject, spoken: Spoken, structure: Structure): Steps<void> {
  const { from } = spoken;
  for (const junctor of junctors) {
    for (const [index, part] of recordsAt(of, junctor).entries()) {
      const place = `${from}.${junctor}[${String(index)}]`;
      yield* completeCondition(part, { ...spoken, from: place }, structure);
    }
  }
  const not = recordAt(of, 'not');
  if (not === undefined) return;
  yield* completeCondition(not, { ...spoken, from: `${from}.not` }, structure);
}

function* completeCondition(
  condition: JsonObject,
  { from, own, at }: Spoken,
  structure: Structure,
): Steps<void> {
  yield;
  if (structure.report.isFull) return;
  const items = recordAt(condition, 'items');
  const properties = entriesAt(condition, 'properties');
  const ownProperties = recordAt(own, 'properties');
  const parts = [
    ...(items === undefined ? [] : [[items, 'items', recordAt(own, 'items')] as const]),
    ...properties.map(
      ([name, part]) => [part, `properties[${name}]`, recordAt(ownProperties, name)] as const,
    ),
  ];
  for (const [part, step, ownPart] of parts) {
    if (!isObject(part)) continue;
    const spoken = { from: `${from}.${step}`, own: ownPart, at: `${at}.${step}` };
    if (ownPart !== undefined) yield* completeCondition(part, spoken, structure);
    else structure.errors.required(spoken.at, `because it is defined in ${spoken.from}`);
  }
  yield* completeJunctors(condition, { from, own, at }, structure);
}

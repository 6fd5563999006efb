// What a schema has anywhere in it, found in one walk: words that cannot be read as structure,
// defaults, words of the product's own, expressions, formats that nobody checks.
import {
  flagAt,
  isSet,
  listAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { isZero } from '../../api/presence.ts';
import { schemaFormats } from '../../api/schema-formats.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { Steps } from '../../base/steps.ts';

export interface SchemaSurvey {
  /** The first word that structure does not have. */
  readonly unreadable: string | undefined;
  readonly hasDefaults: boolean;
  /** Words of the product's own that only structural schemas may have. */
  readonly hasOwnWords: boolean;
  readonly rules: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
  readonly unknownFormats: ReadonlySet<string>;
}

/** `prefix`: of the product's own words, `x-…-`. */
export function* surveySchema(schema: JsonObject, prefix: string): Steps<SchemaSurvey> {
  let unreadable: string | undefined;
  let hasDefaults = false;
  let hasOwnWords = false;
  const rules = new Set<string>();
  const messages = new Set<string>();
  const unknownFormats = new Set<string>();
  const waiting = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield;
    unreadable ??= unreadableWord(node);
    hasDefaults ||= isSet(node, 'default');
    hasOwnWords ||= hasOwnWord(node, prefix);
    if (!isKnownFormat(node, prefix)) unknownFormats.add(textAt(node, 'format'));
    for (const rule of recordsAt(node, `${prefix}validations`)) {
      rules.add(textAt(rule, 'rule'));
      messages.add(textAt(rule, 'messageExpression'));
    }
    pushChildren(node, waiting);
  }
  return { unreadable, hasDefaults, hasOwnWords, rules, messages, unknownFormats };
}

/** The last is looked at first. */
function pushChildren(schema: JsonObject, waiting: JsonObject[]): void {
  const push = (child: JsonValue | undefined): void => {
    if (isObject(child)) waiting.push(child);
  };
  const properties = recordAt(schema, 'properties') ?? {};
  for (const name in properties) push(properties[name]);
  for (const word of ['oneOf', 'anyOf', 'allOf', 'items']) {
    for (const part of listAt(schema, word)) push(part);
  }
  for (const word of ['not', 'additionalProperties', 'items']) push(valueAt(schema, word));
}

/** Words that structure does not have, and whether an empty one is as good as none. */
const unreadableWords = [
  ['id', true],
  ['$ref', true],
  ['patternProperties', true],
  ['definitions', true],
  ['dependencies', true],
  ['additionalItems', false],
] as const;

function unreadableWord(schema: JsonObject): string | undefined {
  for (const [word, mayBeEmpty] of unreadableWords) {
    const value = valueAt(schema, word);
    if (value === undefined || (mayBeEmpty && isZero(value))) continue;
    return word;
  }
  return Array.isArray(schema['items']) ? 'items' : undefined;
}

const ownFlags = ['embedded-resource', 'int-or-string'];
const ownWords = ['preserve-unknown-fields', 'list-type'];
const ownLists = ['list-map-keys', 'validations'];

const hasOwnWord = (schema: JsonObject, prefix: string): boolean =>
  ownFlags.some((word) => flagAt(schema, prefix + word)) ||
  ownWords.some((word) => isSet(schema, prefix + word)) ||
  ownLists.some((word) => listAt(schema, prefix + word).length > 0);

const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

function isKnownFormat(node: JsonObject, prefix: string): boolean {
  const format = textAt(node, 'format');
  const type = textAt(node, 'type');
  if (format === '') return true;
  if (Object.hasOwn(numberFormats, type)) return numberFormats[type]?.includes(format) === true;
  const isText = type === 'string' || type === '' || flagAt(node, `${prefix}int-or-string`);
  return isText && schemaFormats.has(format.replaceAll('-', ''));
}

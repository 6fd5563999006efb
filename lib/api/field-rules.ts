// The rules in the options of fields in the .proto files, compiled once into checks of one value.
// `(rule)` without a stage is migrated: it is also handwritten, and gates choose one of the two.
// `(check)`, `(member)` and rules still in alpha exist here alone.
import { immutableDetail } from './field-errors.ts';
import type { FieldErrors } from './field-errors.ts';
import { formatOf } from './formats.ts';
import type { Format } from './formats.ts';
import { sameJson } from './json-equal.ts';
import { isAbsent, isUnset } from './presence.ts';
import { parseQuantity } from './quantity.ts';
import type { FieldInfo, JsonValue } from './type-info.ts';

/** One validation of one object. */
export interface Run {
  readonly errors: FieldErrors;
  /** There is a stored object, whose values stay acceptable where they are unchanged. */
  readonly isUpdate: boolean;
  readonly isOn: (gate: string) => boolean;
  readonly stage: RuleStage;
}

export type Value = JsonValue | undefined;
/** Reports into `errors`; false: the value is absent or so wrong that other rules say nothing. */
export type FieldCheck = (value: Value, old: Value, path: string, run: Run) => boolean;
export type RuleStage = 'plain' | 'migrated';

/** Terms that describe a list's keys or what other terms imply; nothing is checked for them. */
const silent: ReadonlySet<string> = new Set(['listType=atomic', 'discriminator', 'unionMember']);
const foreign = /^(kubebuilder:|deprecated=|isSubresource|supportsSubresource|subfield\()/;

/** The name of a field in paths of failures, where it is not its own; '': those of its holder. */
export function reportedNameOf(field: FieldInfo): string | undefined {
  const name = field.options['reportedAs'];
  if (typeof name !== 'string') return undefined;
  return name === '.' ? '' : name;
}

/** Terms that others look at. */
const withoutCheck: ReadonlySet<string> = new Set([
  ...['optional', 'listMapKey', 'oneOf', 'zeroOrOneOf', 'source', 'customUnique'],
]);

interface Term {
  readonly stage: RuleStage;
  readonly text: string;
}

/** The terms of a field's rules in one stage, prefixes removed. */
function termsOf(field: FieldInfo, stage: RuleStage): readonly string[] {
  return allTerms(field.options).flatMap((term) => (term.stage === stage ? [term.text] : []));
}

export function allTerms(options: Readonly<Record<string, unknown>>): readonly Term[] {
  const strings = (name: string): readonly string[] => {
    const value = options[name];
    return Array.isArray(value) ? (value as string[]) : [];
  };
  return [
    ...strings('rule').map((text): Term => {
      const alpha = /^alpha\([\d.]+\):/.exec(text)?.[0];
      if (alpha !== undefined) return { stage: 'plain', text: text.slice(alpha.length) };
      return { stage: foreign.test(text) ? 'plain' : 'migrated', text };
    }),
    ...strings('check').map((text): Term => ({ stage: 'plain', text })),
  ].filter(({ text }) => !silent.has(text) && !foreign.test(text) && text !== 'unionDiscriminator');
}

/** Checks of a field's terms; undefined: there are none. @throws Error on unknown terms. */
export function compileTerms(
  field: FieldInfo,
  stage: RuleStage,
  where: string,
): FieldCheck | undefined {
  const terms = termsOf(field, stage);
  if (terms.length === 0) return undefined;
  const isOptional = terms.includes('optional');
  const checks = [...terms]
    .sort((one, other) => rank(one) - rank(other))
    .flatMap((term) => {
      const check = compileTerm(field, term, terms, where);
      if (check === undefined) return [];
      return stage === 'plain' && isImmutability(term) ? [andOn(check)] : [check];
    });
  if (checks.length === 0) return undefined;
  return (value, old, path, run) => {
    if (isOptional && isUnset(field, value) && isUnset(field, old)) return true;
    const before = run.errors.list.length;
    const isRight = checks.every((check) => check(value, old, path, run));
    if (run.errors.list.length === before) return true;
    // What is stored stays acceptable while it is unchanged.
    if (!run.isUpdate || !sameJson(value, old)) return isRight;
    run.errors.list.length = before;
    return true;
  };
}

const bodyOf = (term: string): string => term.replace(/^if(En|Dis)abled\([^)]*\):/, '');
const isImmutability = (term: string): boolean => /^(immutable|update=)/.test(bodyOf(term));

/** What is wrong with the value itself is told, too. */
const andOn =
  (check: FieldCheck): FieldCheck =>
  (value, old, path, run) => {
    check(value, old, path, run);
    return true;
  };

/** Presence first, then the bounds of lists, then values. */
function rank(term: string): number {
  const body = bodyOf(term);
  if (isImmutability(term)) return 0;
  if (body === 'required' || body === 'forbidden') return 1;
  return body.startsWith('maxItems') ? 2 : 3;
}

function compileTerm(
  field: FieldInfo,
  term: string,
  terms: readonly string[],
  where: string,
): FieldCheck | undefined {
  const gated = /^if(En|Dis)abled\("?(\w+)"?\):(.*)$/.exec(term);
  if (gated !== null) {
    const check = compileTerm(field, gated[3] ?? '', terms, where);
    if (check === undefined) return undefined;
    const gate = gated[2] ?? '';
    const wanted = gated[1] === 'En';
    return (value, old, path, run) =>
      run.isOn(gate) === wanted ? check(value, old, path, run) : true;
  }
  const equals = term.indexOf('=');
  const name = equals < 0 ? term : term.slice(0, equals);
  const argument = equals < 0 ? '' : term.slice(equals + 1).replaceAll('"', '');
  if (withoutCheck.has(name)) return undefined;
  if (name === 'listType') {
    return terms.includes('customUnique') ? undefined : uniqueCheck(argument, terms);
  }
  if (name.startsWith('item(') || name.startsWith('member(')) return undefined; // validate.ts
  const make = makers.get(name);
  if (make === undefined) throw new Error(`${where}: unknown rule ${term}`);
  return make(field, argument, terms);
}

type Maker = (field: FieldInfo, argument: string, terms: readonly string[]) => FieldCheck;

const numeric =
  (isRight: (value: number | bigint) => boolean, detail: string): FieldCheck =>
  (value, _old, path, run) => {
    const number = isAbsent(value) ? undefined : numberOf(value);
    if (number === undefined || isRight(number)) return true;
    run.errors.invalid(path, shown(value), detail);
    return false;
  };

/** Where presence is tracked, and of lists and maps, what is absent is null. */
const shownOf = (field: FieldInfo, value: Value): unknown =>
  value === undefined && (field.pointer || field.cardinality !== 'single') ? null : shown(value);

const shown = (value: Value): unknown => (typeof value === 'bigint' ? Number(value) : value);

/** Numbers, and quantities in billionths of one. */
function numberOf(value: JsonValue): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value !== 'string') return undefined;
  const quantity = parseQuantity(value);
  return quantity === undefined ? undefined : Number(quantity.nano) / 1e9;
}

/** A field without tracked presence counts as zero when it is unset. */
const orZero =
  (check: FieldCheck): Maker =>
  (field) => {
    if (field.pointer || field.message !== undefined || field.cardinality !== 'single') {
      return check;
    }
    return (value, old, path, run) => check(value ?? 0, old, path, run);
  };

type TextCheck = (text: string, path: string, errors: FieldErrors) => void;

/** Elements of a list have their index in the path, unless the field is reported otherwise. */
const eachText = (field: FieldInfo, check: TextCheck, { emptyIsUnset = true } = {}): FieldCheck => {
  const hasIndex = reportedNameOf(field) === undefined;
  return (value, old, path, run) => {
    if (typeof value === 'string') {
      if (value !== '' || !emptyIsUnset) check(value, path, run.errors);
      return true;
    }
    if (!Array.isArray(value)) return true;
    const stored = run.isUpdate && Array.isArray(old) ? new Set(old) : undefined;
    for (const [at, element] of value.entries()) {
      if (typeof element !== 'string') continue;
      if (stored?.has(element) === true) continue;
      check(element, hasIndex ? `${path}[${String(at)}]` : path, run.errors);
    }
    return true;
  };
};

function knownFormat(name: string): Format {
  const format = formatOf(name);
  if (format === undefined) throw new Error(`unknown format ${name}`);
  return format;
}

function enumCheck(field: FieldInfo, argument: string): FieldCheck {
  const supported = argument === '' ? (field.enumValues ?? []) : argument.split('|');
  if (supported.length === 0) throw new Error(`${field.jsonName}: no values to choose from`);
  const known = new Set(supported);
  const check = eachText(field, (text, path, errors) => {
    if (!known.has(text))
      errors.notSupported(
        path,
        text,
        supported.filter((one) => one !== ''),
      );
  });
  if (!field.pointer || known.has('')) return check;
  return (value, old, path, run) => {
    if (value === '') run.errors.notSupported(path, '', supported);
    return check(value, old, path, run);
  };
}

/** `set`: of scalars; `map`: of records told apart by the keys of `listMapKey`. */
function uniqueCheck(kind: string, terms: readonly string[]): FieldCheck | undefined {
  if (kind === 'atomic') return undefined;
  const keys = terms.flatMap((term) => /^listMapKey=(.*)$/.exec(term)?.[1] ?? []);
  return (value, _old, path, run) => {
    if (!Array.isArray(value) || value.length < 2) return true;
    const seen = new Set<string>();
    for (const [at, element] of value.entries()) {
      const identity = kind === 'set' ? element : keyOf(element, keys);
      const text = JSON.stringify(identity);
      if (seen.has(text)) run.errors.duplicate(`${path}[${String(at)}]`, identity);
      seen.add(text);
    }
    return true;
  };
}

/** Records told apart by one member; the member of the second one is the duplicate. */
const uniqueByCheck =
  (key: string): FieldCheck =>
  (value, _old, path, run) => {
    if (!Array.isArray(value) || value.length < 2) return true;
    const seen = new Set<JsonValue>();
    for (const [at, element] of value.entries()) {
      const identity = keyOf(element, [key])[key] ?? '';
      const isNamed = identity !== '' || key === 'audience';
      if (isNamed && seen.has(identity)) {
        run.errors.duplicate(`${path}[${String(at)}].${key}`, identity);
      }
      seen.add(identity);
    }
    return true;
  };

function keyOf(element: JsonValue, keys: readonly string[]): Record<string, JsonValue> {
  const record = typeof element === 'object' && !Array.isArray(element) ? element : null;
  return Object.fromEntries(keys.map((key) => [key, record?.[key] ?? '']));
}

const lengthCheck =
  (measure: (text: string) => number, max: number): FieldCheck =>
  (value, _old, path, run) => {
    const texts = typeof value === 'string' ? [value] : [];
    if (!texts.every((text) => measure(text) <= max)) run.errors.tooLong(path, max);
    return true;
  };

const makers: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  [
    'required',
    (field) => (value, old, path, run) => {
      if (!isUnset(field, value)) return true;
      if (!run.isUpdate || !isUnset(field, old)) run.errors.required(path);
      return false;
    },
  ],
  [
    'forbidden',
    (field, argument) => (value, _old, path, run) => {
      if (isUnset(field, value)) return true;
      run.errors.forbidden(path, argument || 'must not be set');
      return false;
    },
  ],
  [
    'immutable',
    (field, argument) => (value, old, path, run) => {
      if (!run.isUpdate || sameJson(value, old)) return true;
      if (argument === 'Forbidden') run.errors.forbidden(path, immutableDetail);
      else run.errors.invalid(path, shownOf(field, value), immutableDetail);
      return run.stage !== 'migrated'; // whose handwritten form says no more
    },
  ],
  [
    // NoModify: may be set and unset, not changed.
    'update',
    (field) => (value, old, path, run) => {
      if (!run.isUpdate || isUnset(field, value) || isUnset(field, old)) return true;
      if (sameJson(value, old)) return true;
      run.errors.invalid(path, shown(value), immutableDetail);
      return false;
    },
  ],
  [
    'minimum',
    (field, argument, terms) => {
      const bound = Number(argument);
      const detail = `must be greater than or equal to ${argument}`;
      return orZero(numeric((value) => value >= bound, detail))(field, argument, terms);
    },
  ],
  [
    'maximum',
    (field, argument, terms) => {
      const bound = Number(argument);
      const detail = `must be less than or equal to ${argument}`;
      return orZero(numeric((value) => value <= bound, detail))(field, argument, terms);
    },
  ],
  [
    'above',
    (field, argument, terms) => {
      const bound = Number(argument);
      const detail = `must be greater than ${argument}`;
      return orZero(numeric((value) => value > bound, detail))(field, argument, terms);
    },
  ],
  [
    'range',
    (field, argument, terms) => {
      const [low = NaN, high = NaN] = argument.split('..').map(Number);
      const detail = `must be between ${String(low)} and ${String(high)}, inclusive`;
      const isRight = (value: number | bigint): boolean => value >= low && value <= high;
      return orZero(numeric(isRight, detail))(field, argument, terms);
    },
  ],
  ['maxLength', (_field, argument) => lengthCheck((text) => [...text].length, Number(argument))],
  [
    'maxBytes',
    (_field, argument) => lengthCheck((text) => Buffer.byteLength(text), Number(argument)),
  ],
  [
    'maxItems',
    (_field, argument) => (value, _old, path, run) => {
      const count = Array.isArray(value)
        ? value.length
        : typeof value === 'object' && value !== null
          ? Object.keys(value).length
          : 0;
      if (count <= Number(argument)) return true;
      run.errors.tooMany(path, count, Number(argument));
      return false;
    },
  ],
  [
    'format',
    // Where presence is tracked, an empty text is there, unless it is what an absent one becomes.
    (field, argument) => {
      const format = knownFormat(argument);
      const emptyIsUnset = !field.pointer || field.options['defaultValue'] === '';
      const check: TextCheck = (text, path, errors) => {
        errors.problems(path, text, format(text));
      };
      return eachText(field, check, { emptyIsUnset });
    },
  ],
  [
    'eachKey:format',
    (_field, argument) => {
      const format = knownFormat(argument);
      return (value, _old, path, run) => {
        if (typeof value !== 'object' || value === null) return true;
        for (const key of Object.keys(value)) run.errors.problems(path, key, format(key));
        return true;
      };
    },
  ],
  ['enum', enumCheck],
  ['uniqueBy', (_field, argument) => uniqueByCheck(argument)],
  ['unique', (_field, argument, terms) => uniqueCheck(argument, terms) ?? (() => true)],
]);

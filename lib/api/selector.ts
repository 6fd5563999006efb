// Label and field selectors: text → requirements → predicate; errors are 400s, Kubernetes' words.
// Requests use parseLabelSelector(text) and parseFieldSelector(text, selectable); '' selects all.
import { badRequest } from '../base/status.ts';
import { labelValueProblems, qualifiedNameProblems } from './name-rules.ts';
import type { ResourceInfo } from './type-info.ts';

export type LabelOperator = 'in' | 'notIn' | 'exists' | 'notExists' | 'greaterThan' | 'lessThan';
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** `in`, `notIn`: the values (equality is a set of one); comparisons: one integer; else none. */
  readonly values: readonly string[];
}
export type LabelPredicate = (labels: Readonly<Record<string, string>>) => boolean;

/** One term of a field selector; all terms must hold. */
export interface FieldRequirement {
  readonly path: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/**
 * The predicate of a label selector; undefined when it selects everything. @throws StatusError
 * 400
 */
export const parseLabelSelector = (text: string): LabelPredicate | undefined =>
  labelPredicate(parseLabelRequirements(text));

/** @throws StatusError 400 */
export function parseLabelRequirements(text: string): readonly LabelRequirement[] {
  const tokens = new Tokens(text);
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const first = tokens.peek();
    if (first === '') return requirements;
    if (first !== '!' && !isIdentifier(first)) {
      throw badRequest(`found '${first}', expected: !, identifier, or 'end of string'`);
    }
    requirements.push(parseRequirement(tokens));
    const separator = tokens.take();
    if (separator === '') return requirements;
    if (separator !== ',')
      throw badRequest(`found '${separator}', expected: ',' or 'end of string'`);
    const after = tokens.peek();
    if (after !== '!' && !isIdentifier(after))
      throw badRequest(`found '${after}', expected: identifier after ','`);
  }
}

const tokenPattern = /[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+)/y;
const isIdentifier = (token: string): boolean => token !== '' && !/^[=!(),<>]/.test(token);

/** Tokens of a label selector; '' is the end. */
class Tokens {
  readonly #tokens: string[] = [];
  #next = 0;

  constructor(text: string) {
    const pattern = new RegExp(tokenPattern);
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      this.#tokens.push(match[1] ?? '');
    }
  }

  peek(): string {
    return this.#tokens[this.#next] ?? '';
  }

  take(): string {
    const token = this.peek();
    this.#next += 1;
    return token;
  }
}

const refuse = (reason: string): never => {
  throw badRequest(`unable to parse requirement: ${reason}`);
};

function parseRequirement(tokens: Tokens): LabelRequirement {
  const isNegated = tokens.peek() === '!';
  if (isNegated) tokens.take();
  const key = tokens.take();
  if (!isIdentifier(key)) refuse(`found '${key}', expected: identifier`);
  const keyProblems = qualifiedNameProblems(key);
  if (keyProblems.length > 0)
    refuse(`key: Invalid value: ${JSON.stringify(key)}: ${keyProblems.join('; ')}`);
  if (isNegated) return { key, operator: 'notExists', values: [] };
  const next = tokens.peek();
  if (next === '' || next === ',') return { key, operator: 'exists', values: [] };
  const symbol = tokens.take();
  switch (symbol) {
    case 'in':
    case 'notin':
      return checked(key, symbol === 'in' ? 'in' : 'notIn', parseValues(tokens));
    case '=':
    case '==':
      return checked(key, 'in', [parseExactValue(tokens)]);
    case '!=':
      return checked(key, 'notIn', [parseExactValue(tokens)]);
    case '>':
    case '<':
      return checked(key, symbol === '>' ? 'greaterThan' : 'lessThan', [parseExactValue(tokens)]);
    default:
      return refuse(`found '${symbol}', expected: in, notin, =, ==, !=, gt, lt`);
  }
}

function checked(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  for (const [index, value] of values.entries()) {
    const at = `values[${String(index)}]`;
    const isComparison = operator === 'greaterThan' || operator === 'lessThan';
    if (isComparison && integerOf(value) === undefined) {
      refuse(
        `${at}: Invalid value: ${JSON.stringify(value)}: ` +
          "for 'Gt', 'Lt' operators, the value must be an integer",
      );
    }
    const problems = labelValueProblems(value);
    if (problems.length > 0)
      refuse(`${at}[${key}]: Invalid value: ${JSON.stringify(value)}: ${problems.join('; ')}`);
  }
  return { key, operator, values };
}

/** `env=` and `env=,…`: the empty value. */
function parseExactValue(tokens: Tokens): string {
  const next = tokens.peek();
  if (next === '' || next === ',') return '';
  const value = tokens.take();
  return isIdentifier(value) ? value : refuse(`found '${value}', expected: identifier`);
}

/** `(a, b)`; nothing between commas or parentheses is the empty value. */
function parseValues(tokens: Tokens): readonly string[] {
  const open = tokens.take();
  if (open !== '(') refuse(`found '${open}' expected: '('`);
  const values = new Set<string>();
  for (;;) {
    let token = tokens.peek();
    if (isIdentifier(token)) {
      values.add(tokens.take());
      token = tokens.peek();
      if (token !== ',' && token !== ')') refuse(`found '${token}', expected: ',' or ')'`);
    } else if (token === ',' || token === ')') values.add('');
    else refuse(`found '${token}', expected: ',', ')' or identifier`);
    if (tokens.take() === ')') return [...values];
  }
}

const int64Max = 2n ** 63n - 1n;
function integerOf(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]{1,25}$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value <= int64Max && value >= -int64Max - 1n ? value : undefined;
}

const valueOf = (labels: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

/**
 * Requirements as one function; made once per request, called per object. undefined: everything is
 * selected.
 */
export function labelPredicate(
  requirements: readonly LabelRequirement[],
): LabelPredicate | undefined {
  const tests = requirements.map(requirementPredicate);
  const [first, second] = tests;
  if (first === undefined) return undefined;
  if (second === undefined) return first;
  return (labels) => {
    for (const holds of tests) if (!holds(labels)) return false;
    return true;
  };
}

function requirementPredicate({ key, operator, values }: LabelRequirement): LabelPredicate {
  const [only] = values;
  const set = new Set(values);
  switch (operator) {
    case 'exists':
      return (labels) => valueOf(labels, key) !== undefined;
    case 'notExists':
      return (labels) => valueOf(labels, key) === undefined;
    case 'in':
      if (values.length === 1) return (labels) => valueOf(labels, key) === only;
      return (labels) => {
        const value = valueOf(labels, key);
        return value !== undefined && set.has(value);
      };
    case 'notIn':
      return (labels) => {
        const value = valueOf(labels, key);
        return value === undefined || !set.has(value);
      };
    case 'greaterThan':
    case 'lessThan': {
      const bound = integerOf(only ?? '') ?? 0n;
      return (labels) => {
        const value = integerOf(valueOf(labels, key) ?? '');
        return value !== undefined && (operator === 'greaterThan' ? value > bound : value < bound);
      };
    }
  }
}

type Selectable = Pick<ResourceInfo, 'fieldSelectors' | 'declaresFields'>;

/**
 * Terms of a field selector over the fields that a resource offers.
 * @throws StatusError 400 for bad syntax and for fields that are not selectable
 */
export function parseFieldSelector(text: string, of: Selectable): readonly FieldRequirement[] {
  const requirements = parseFieldRequirements(text);
  for (const { path } of requirements) {
    if (!of.fieldSelectors.includes(path)) throw badRequest(unknownField(path, of));
  }
  return requirements;
}

/** Terms over any fields. @throws StatusError 400 */
export const parseFieldRequirements = (text: string): readonly FieldRequirement[] =>
  splitTerms(text).map((term) => parseTerm(text, term));

// Kinds with selectable fields of their own and those with the common ones answer in different
// words.
function unknownField(path: string, { fieldSelectors, declaresFields }: Selectable): string {
  const hasOwn = fieldSelectors.some((one) => !one.startsWith('metadata.'));
  if (hasOwn || declaresFields === true) return `field label not supported: ${path}`;
  return `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** Terms between commas that no backslash escapes; empty terms are dropped. */
function splitTerms(text: string): readonly string[] {
  const terms: string[] = [];
  let start = 0;
  for (let index = 0; index <= text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (index === text.length || text[index] === ',') {
      if (index > start) terms.push(text.slice(start, index));
      start = index + 1;
    }
  }
  if (start < text.length) terms.push(text.slice(start));
  return terms;
}

function parseTerm(selector: string, term: string): FieldRequirement {
  const match = /^((?:[^\\!=]|\\[^]|!(?!=))*)(!=|==|=)([^]*)$/.exec(term);
  if (match === null)
    throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  const [, path = '', symbol, escaped = ''] = match;
  return { path, operator: symbol === '!=' ? '!=' : '=', value: unescape(escaped) };
}

function unescape(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = '';
  for (let index = 0; index < text.length; index += 1) {
    let letter = text[index] ?? '';
    if (letter === '=' || letter === ',') {
      throw badRequest(`invalid field selector: unescaped character in value: ${letter}`);
    }
    if (letter === '\\') {
      index += 1;
      letter = text[index] ?? '';
      if (letter !== '\\' && letter !== ',' && letter !== '=') {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${letter}`);
      }
    }
    value += letter;
  }
  return value;
}

// The format strings of string.format: clauses %s %d %f %e %b %x %X %o, with a precision for %f and
// %e. Used at compile time for constant formats (types of the arguments) and at run time (values).
import { CelError } from '../model/value.ts';

export type ClauseLetter = 's' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o';

export interface Clause {
  readonly letter: ClauseLetter;
  /** Digits after the point. */
  readonly precision: number;
}

/** A format split into literal texts and clauses. */
export type FormatPart = string | Clause;

const defaultPrecision = 6;
const precisionMax = 1000;

const isLetter = (letter: string): letter is ClauseLetter => 'sdfebxXo'.includes(letter);

const refused = (problem: string): CelError =>
  new CelError(`could not parse formatting clause: ${problem}`);

/** The parts of a format, or what is wrong with it. */
export function parseFormat(format: string, argCount: number): readonly FormatPart[] | CelError {
  const parts: FormatPart[] = [];
  let literal = '';
  let index = 0;
  let used = 0;
  while (index < format.length) {
    const character = format[index++] as string;
    if (character !== '%') {
      literal += character;
      continue;
    }
    if (index >= format.length) return new CelError('unexpected end of string');
    if (format[index] === '%') {
      literal += '%';
      index++;
      continue;
    }
    if (used >= argCount) return new CelError(`index ${String(used)} out of range`);
    const precision = /^\.(\d*)/.exec(format.slice(index));
    if (precision !== null) index += precision[0].length;
    const letter = format[index++];
    if (letter === undefined) {
      return refused('error while parsing precision: could not find end of precision specifier');
    }
    if (!isLetter(letter))
      return refused(`unrecognized formatting clause ${JSON.stringify(letter)}`);
    const digits = precision === null ? defaultPrecision : Number(precision[1]);
    if (digits > precisionMax) return refused('precision is too large');
    parts.push(literal, { letter, precision: digits });
    literal = '';
    used++;
  }
  if (used < argCount) {
    const counts = `(expected ${String(used)}, got ${String(argCount)})`;
    return new CelError(`too many arguments supplied to string.format ${counts}`);
  }
  return [...parts, literal];
}

const subjects: Readonly<Record<ClauseLetter, string>> = {
  s:
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, ' +
    'durations, and timestamps',
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
  o: 'octal clause can only be used on integers',
};

const accepted: Readonly<Record<ClauseLetter, readonly string[]>> = {
  s: [
    'string',
    'bool',
    'bytes',
    'int',
    'uint',
    'double',
    'map',
    'list',
    'type',
    'null_type',
    'google.protobuf.Duration',
    'google.protobuf.Timestamp',
  ],
  d: ['int', 'uint'],
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'bytes', 'string'],
  X: ['int', 'uint', 'bytes', 'string'],
  o: ['int', 'uint'],
};

/** Why a clause cannot show values of a type; undefined: it can. */
export function clauseProblem(clause: Clause, typeName: string): CelError | undefined {
  return accepted[clause.letter].includes(typeName) ? undefined : wrongType(clause, typeName);
}

export function wrongType(clause: Clause, typeName: string): CelError {
  return new CelError(`error during formatting: ${subjects[clause.letter]}, was given ${typeName}`);
}

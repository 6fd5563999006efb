// The strings library (version 2): positions count code points.
import { intType, listType, stringType } from '../model/cel-type.ts';
import type {
  CostEstimate,
  FunctionDeclaration,
  Implementation,
  Library,
} from '../model/declarations.ts';
import { scaleRange, stringTraversalFactor } from '../model/range.ts';
import { ArrayList, CelError, codePointCount, costSizeOf, listItems } from '../model/value.ts';
import type { Int, ListValue, Value } from '../model/value.ts';
import { arg, declare, member, traversalOf } from './declare.ts';
import {
  joinEstimate,
  replaceEstimate,
  sequenceEstimate,
  sequenceTraversalCost,
} from './string-costs.ts';
import { firstPosition, lastPosition } from './text-search.ts';

const outOfRange = (index: Int): CelError => new CelError(`index out of range: ${String(index)}`);

/** Code points of a text; the text itself when each of its units is one. */
function pointsOf(text: string): string | readonly string[] {
  return codePointCount(text) === text.length ? text : [...text];
}

const slice = (points: string | readonly string[], from: number, to?: number): string =>
  typeof points === 'string' ? points.slice(from, to) : points.slice(from, to).join('');

const charAt: Implementation = (args) => {
  const points = pointsOf(arg(args, 0) as string);
  const index = arg(args, 1) as Int;
  if (index < 0 || index > points.length) return outOfRange(index);
  return points[Number(index)] ?? '';
};

/** Position of `part` at or after `from`, in code points. */
function search(text: string, part: string, from: number): number {
  const points = pointsOf(text);
  if (typeof points === 'string') return points.indexOf(part, from);
  return firstPosition(points, [...part], from);
}

const indexOf: Implementation = (args) => {
  const [text, part] = [arg(args, 0) as string, arg(args, 1) as string];
  const from = args.length > 2 ? (arg(args, 2) as Int) : 0;
  if (part === '') return from;
  if (from < 0) return outOfRange(from);
  return search(text, part, Number(from));
};

const lastIndexOf: Implementation = (args) => {
  const [text, part] = [arg(args, 0) as string, arg(args, 1) as string];
  const points = [...text];
  const wanted = [...part];
  if (args.length === 2) {
    if (part === '') return points.length;
    if (wanted.length > points.length) return -1;
  }
  const offset = args.length > 2 ? (arg(args, 2) as Int) : points.length - 1;
  if (part === '') return offset;
  if (offset < 0) return points.length === 0 ? -1 : outOfRange(offset);
  if (offset >= points.length) return -1;
  return lastPosition(points, wanted, Number(offset));
};

const substring: Implementation = (args) => {
  const points = pointsOf(arg(args, 0) as string);
  const start = arg(args, 1) as Int;
  if (args.length === 2) {
    if (start < 0 || start > points.length) return outOfRange(start);
    return slice(points, Number(start));
  }
  const end = arg(args, 2) as Int;
  if (start > end) {
    return new CelError(`invalid substring range. start: ${String(start)}, end: ${String(end)}`);
  }
  if (start < 0 || start > points.length) return outOfRange(start);
  if (end < 0 || end > points.length) return outOfRange(end);
  return slice(points, Number(start), Number(end));
};

/** The pieces of a text, and how they were separated, as far as `limit` separations. */
function splitAt(text: string, separator: string, limit: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  if (separator === '') {
    const points = [...text];
    if (limit < 0 || points.length <= limit + 1) return points;
    return [...points.slice(0, limit), points.slice(limit).join('')];
  }
  for (let count = 0; limit < 0 || count < limit; count++) {
    const found = rest.indexOf(separator);
    if (found < 0) break;
    pieces.push(rest.slice(0, found));
    rest = rest.slice(found + separator.length);
  }
  pieces.push(rest);
  return pieces;
}

const split: Implementation = (args) => {
  const limit = args.length > 2 ? Number(arg(args, 2)) : -1;
  if (limit === 0) return new ArrayList([]);
  const pieces = splitAt(
    arg(args, 0) as string,
    arg(args, 1) as string,
    limit < 0 ? -1 : limit - 1,
  );
  return new ArrayList(pieces);
};

const replace: Implementation = (args, context) => {
  const [text, old, next] = [0, 1, 2].map((index) => arg(args, index) as string) as [
    string,
    string,
    string,
  ];
  const limit = args.length > 3 ? Number(arg(args, 3)) : -1;
  if (limit === 0 || old === next) return text;
  if (old !== '') {
    const pieces = splitAt(text, old, limit);
    context.allocate(text.length + pieces.length * next.length);
    return pieces.join(next);
  }
  context.allocate((text.length + 1) * (next.length + 1));
  // An empty text is found before each character and at the end.
  let count = limit < 0 ? Infinity : limit;
  const surrounded = [...text].map((point) => (count-- > 0 ? next + point : point)).join('');
  return count > 0 ? surrounded + next : surrounded;
};

const joinCost = (length: number): number => Math.ceil(length * 2 * stringTraversalFactor);

const join: Implementation = (args, context) => {
  const items = listItems(arg(args, 0) as ListValue);
  const separator = args.length > 1 ? (arg(args, 1) as string) : '';
  const wrong = items.find((item) => typeof item !== 'string');
  if (wrong !== undefined) return new CelError('no such overload');
  const texts = items as readonly string[];
  // Counting the characters of very long texts takes its time too; two units are at least one.
  const units = texts.reduce((sum, item) => sum + item.length, 0);
  context.afford(joinCost(Math.floor(units / 2)));
  const between = codePointCount(separator) * Math.max(texts.length - 1, 0);
  context.afford(joinCost(texts.reduce((sum, item) => sum + codePointCount(item), between)));
  return texts.join(separator);
};

const mapText =
  (transform: (text: string) => string): Implementation =>
  (args) =>
    transform(arg(args, 0) as string);

const space = String.raw`\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
const outerSpace = new RegExp(`^[${space}]+|[${space}]+$`, 'g');

const sameSize: CostEstimate = (target) =>
  target === undefined
    ? undefined
    : { cost: scaleRange(target.size, stringTraversalFactor), resultSize: target.size };

const oncePass = { runtimeCost: traversalOf(0), estimate: sameSize };

const splitEstimate: CostEstimate = (target, args) => {
  if (target === undefined) return undefined;
  const limit = args[1]?.literal;
  const isInt = typeof limit === 'number' || typeof limit === 'bigint';
  const max = isInt ? BigInt.asUintN(64, BigInt(limit)) : target.size.max;
  return { cost: scaleRange(target.size, 2 * stringTraversalFactor), resultSize: { min: 0n, max } };
};

const twoPasses = (args: readonly Value[]): number =>
  Math.ceil(costSizeOf(arg(args, 0)) * 2 * stringTraversalFactor);

const text = stringType;
const texts = listType(stringType);

const functions: readonly FunctionDeclaration[] = [
  declare('charAt', [member('string_char_at_int', [[text, intType], text], charAt)]),
  declare(
    'indexOf',
    [
      member('string_index_of_string', [[text, text], intType], indexOf),
      member('string_index_of_string_int', [[text, text, intType], intType], indexOf),
    ],
    { runtimeCost: sequenceTraversalCost, estimate: sequenceEstimate },
  ),
  declare(
    'lastIndexOf',
    [
      member('string_last_index_of_string', [[text, text], intType], lastIndexOf),
      member('string_last_index_of_string_int', [[text, text, intType], intType], lastIndexOf),
    ],
    { runtimeCost: sequenceTraversalCost, estimate: sequenceEstimate },
  ),
  declare(
    'lowerAscii',
    [member('string_lower_ascii', [[text], text], mapText(lowerAscii))],
    oncePass,
  ),
  declare(
    'upperAscii',
    [member('string_upper_ascii', [[text], text], mapText(upperAscii))],
    oncePass,
  ),
  declare(
    'trim',
    [
      member(
        'string_trim',
        [[text], text],
        mapText((s) => s.replace(outerSpace, '')),
      ),
    ],
    oncePass,
  ),
  declare(
    'substring',
    [
      member('string_substring_int', [[text, intType], text], substring),
      member('string_substring_int_int', [[text, intType, intType], text], substring),
    ],
    oncePass,
  ),
  declare(
    'replace',
    [
      member('string_replace_string_string', [[text, text, text], text], replace),
      member('string_replace_string_string_int', [[text, text, text, intType], text], replace),
    ],
    { runtimeCost: twoPasses, estimate: replaceEstimate },
  ),
  declare(
    'split',
    [
      member('string_split_string', [[text, text], texts], split),
      member('string_split_string_int', [[text, text, intType], texts], split),
    ],
    { runtimeCost: twoPasses, estimate: splitEstimate },
  ),
  declare(
    'join',
    [
      member('list_join', [[texts], text], join),
      member('list_join_string', [[texts, text], text], join),
    ],
    {
      runtimeCost: (_, result) => joinCost(costSizeOf(result)),
      estimate: joinEstimate,
    },
  ),
];

function lowerAscii(value: string): string {
  return value.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function upperAscii(value: string): string {
  return value.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}

export const stringsLibrary: Library = { name: 'cel.lib.ext.strings', since: 0, functions };

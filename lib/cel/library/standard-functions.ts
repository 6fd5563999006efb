// The named functions of the language itself: size, contains, startsWith, endsWith, matches, and
// parts of times.
import {
  boolType,
  bytesType,
  durationType,
  intType,
  listType,
  mapType,
  paramType,
  stringType,
  timestampType,
} from '../model/cel-type.ts';
import type { FunctionDeclaration, Implementation, Overload } from '../model/declarations.ts';
import { multiplyRanges, scaleRange, stringTraversalFactor } from '../model/range.ts';
import { calendarFields } from '../model/time.ts';
import type { CalendarFields } from '../model/time.ts';
import { CelError, codePointCount, costSizeOf, toInt } from '../model/value.ts';
import type { Duration, Timestamp, Value } from '../model/value.ts';
import {
  arg,
  declare,
  global,
  member,
  regexEstimate,
  regexRuntimeCost,
  traversalOf,
} from './declare.ts';
import { patternOf, findsPattern } from './pattern.ts';

const listA = listType(paramType('A'));
const mapAB = mapType(paramType('A'), paramType('B'));

const size: Implementation = (args) => costSizeOf(arg(args, 0));

const sizeFunction = declare('size', [
  global('size_bytes', [[bytesType], intType], size),
  member('bytes_size', [[bytesType], intType], size),
  global('size_list', [[listA], intType], size),
  member('list_size', [[listA], intType], size),
  global('size_map', [[mapAB], intType], size),
  member('map_size', [[mapAB], intType], size),
  global('size_string', [[stringType], intType], (args) => codePointCount(arg(args, 0) as string)),
  member('string_size', [[stringType], intType], (args) => codePointCount(arg(args, 0) as string)),
]);

const text =
  (compute: (target: string, other: string) => boolean): Implementation =>
  (args) =>
    compute(arg(args, 0) as string, arg(args, 1) as string);

/**
 * Estimated by the size of the argument, charged by the size of the receiver: as the reference
 * does.
 */
const affix = (id: string, compute: (target: string, other: string) => boolean): Overload =>
  member(id, [[stringType, stringType], boolType], text(compute), {
    runtimeCost: traversalOf(0),
    estimate: (_, [other]) =>
      other === undefined ? undefined : { cost: scaleRange(other.size, stringTraversalFactor) },
  });

const stringFunctions: readonly FunctionDeclaration[] = [
  declare('contains', [
    member(
      'contains_string',
      [[stringType, stringType], boolType],
      text((s, part) => s.includes(part)),
      {
        runtimeCost: (args, result, id) =>
          traversalOf(0)(args, result, id) * traversalOf(1)(args, result, id),
        estimate: (target, [part]) =>
          target === undefined || part === undefined
            ? undefined
            : {
                cost: multiplyRanges(
                  scaleRange(target.size, stringTraversalFactor),
                  scaleRange(part.size, stringTraversalFactor),
                ),
              },
      },
    ),
  ]),
  declare('startsWith', [affix('starts_with_string', (s, prefix) => s.startsWith(prefix))]),
  declare('endsWith', [affix('ends_with_string', (s, suffix) => s.endsWith(suffix))]),
];

const matches: Implementation = (args) => findsPattern(arg(args, 0), arg(args, 1));

const matchesFunction = declare(
  'matches',
  [
    global('matches', [[stringType, stringType], boolType], matches),
    member('matches_string', [[stringType, stringType], boolType], matches),
  ].map(
    (overload) =>
      ({
        ...overload,
        runtimeCost: overload.isMember ? regexRuntimeCost : undefined,
        estimate: (target, [pattern]) =>
          overload.isMember && target !== undefined && pattern !== undefined
            ? { cost: regexEstimate(target, pattern) }
            : undefined,
      }) satisfies Overload,
  ),
  {
    precompile: {
      index: 1,
      prepare: (constant) => {
        const pattern = patternOf(constant as string);
        if (pattern instanceof CelError) return pattern;
        return (args) => pattern.test(arg(args, 0) as string);
      },
    },
  },
);

function timePart(
  name: string,
  id: string,
  read: (fields: CalendarFields, time: Timestamp) => number,
  ofDuration?: (nanos: bigint) => bigint,
): FunctionDeclaration {
  const call: Implementation = (args) => {
    const time = arg(args, 0) as Timestamp;
    const fields = calendarFields(time, args.length > 1 ? (arg(args, 1) as string) : undefined);
    return fields instanceof CelError ? fields : read(fields, time);
  };
  const overloads = [
    member(id, [[timestampType], intType], call),
    member(`${id}_with_tz`, [[timestampType, stringType], intType], call),
  ];
  if (ofDuration !== undefined) {
    const ofNanos = (args: readonly Value[]): Value =>
      toInt(ofDuration((arg(args, 0) as Duration).nanos));
    overloads.push(member(id.replace('timestamp', 'duration'), [[durationType], intType], ofNanos));
  }
  return declare(name, overloads);
}

const timeFunctions: readonly FunctionDeclaration[] = [
  timePart('getFullYear', 'timestamp_to_year', (f) => f.year),
  timePart('getMonth', 'timestamp_to_month', (f) => f.month),
  timePart('getDayOfYear', 'timestamp_to_day_of_year', (f) => f.yearDay),
  timePart('getDayOfMonth', 'timestamp_to_day_of_month', (f) => f.day - 1),
  timePart('getDate', 'timestamp_to_day_of_month_1_based', (f) => f.day),
  timePart('getDayOfWeek', 'timestamp_to_day_of_week', (f) => f.weekDay),
  timePart(
    'getHours',
    'timestamp_to_hours',
    (f) => f.hours,
    (n) => n / 3_600_000_000_000n,
  ),
  timePart(
    'getMinutes',
    'timestamp_to_minutes',
    (f) => f.minutes,
    (n) => n / 60_000_000_000n,
  ),
  timePart(
    'getSeconds',
    'timestamp_to_seconds',
    (f) => f.seconds,
    (n) => n / 1_000_000_000n,
  ),
  timePart(
    'getMilliseconds',
    'timestamp_to_milliseconds',
    (_, t) => Math.floor(t.nanos / 1e6),
    (n) => n / 1_000_000n,
  ),
];

export const standardFunctions: readonly FunctionDeclaration[] = [
  sizeFunction,
  ...stringFunctions,
  matchesFunction,
  ...timeFunctions,
];

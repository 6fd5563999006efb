// Conversions between types, as functions named after the type they give.
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  paramType,
  stringType,
  timestampType,
  typeOfType,
  uintType,
} from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { FunctionDeclaration } from '../model/declarations.ts';
import { scaleRange, stringTraversalFactor } from '../model/range.ts';
import { formatDouble, parseDouble, parseInt64, parseUint64 } from '../model/number-text.ts';
import {
  formatDuration,
  formatTimestamp,
  isTimestampSeconds,
  parseDuration,
  parseTimestamp,
} from '../model/time.ts';
import {
  CelError,
  Double,
  Duration,
  Timestamp,
  TypeValue,
  Uint,
  intMax,
  intMin,
  toInt,
  typeNameOf,
  uintMax,
} from '../model/value.ts';
import type { Int, Value } from '../model/value.ts';
import { arg, declare, global, traversalOf } from './declare.ts';
import type { OverloadExtras } from './declare.ts';

const intOverflow = new CelError('integer overflow');
const uintOverflow = new CelError('unsigned integer overflow');
const timestampOverflow = new CelError('timestamp overflow');

const failed = (value: Value, target: string): CelError =>
  new CelError(`type conversion error from '${typeNameOf(value)}' to '${target}'`);

const trueTexts = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const falseTexts = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

function stringToBool(text: string): Value {
  if (trueTexts.has(text)) return true;
  return falseTexts.has(text) ? false : failed(text, 'bool');
}

function doubleToInt(value: number): Value {
  if (!(value > Number(intMin) && value < Number(intMax))) return intOverflow;
  return toInt(BigInt(Math.trunc(value)));
}

function doubleToUint(value: number): Value {
  return value >= 0 && value < 2 ** 64 ? new Uint(BigInt(Math.trunc(value))) : uintOverflow;
}

function bytesToString(bytes: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

function secondsToTimestamp(seconds: Int): Value {
  const whole = Number(seconds);
  return isTimestampSeconds(whole) ? new Timestamp(whole, 0) : timestampOverflow;
}

type Row = readonly [
  id: string,
  from: CelType,
  to: CelType,
  convert: (value: Value) => Value,
  extras?: OverloadExtras,
];

const same = (value: Value): Value => value;

const stringToBytesCost: OverloadExtras = {
  runtimeCost: traversalOf(0),
  estimate: (_, [text]) =>
    text === undefined
      ? undefined
      : {
          cost: scaleRange(text.size, stringTraversalFactor),
          // Wraps as the reference does: a size without limit stays one.
          resultSize: { min: text.size.min, max: BigInt.asUintN(64, text.size.max * 4n) },
        },
};

const bytesToStringCost: OverloadExtras = {
  runtimeCost: traversalOf(0),
  estimate: (_, [bytes]) =>
    bytes === undefined
      ? undefined
      : {
          cost: scaleRange(bytes.size, stringTraversalFactor),
          resultSize: { min: bytes.size.min / 4n, max: bytes.size.max },
        },
};

const rows: readonly Row[] = [
  ['bool_to_bool', boolType, boolType, same],
  ['string_to_bool', stringType, boolType, (v) => stringToBool(v as string)],
  ['bytes_to_bytes', bytesType, bytesType, same],
  [
    'string_to_bytes',
    stringType,
    bytesType,
    (v) => new TextEncoder().encode(v as string),
    stringToBytesCost,
  ],
  ['double_to_double', doubleType, doubleType, same],
  ['int64_to_double', intType, doubleType, (v) => new Double(Number(v))],
  [
    'string_to_double',
    stringType,
    doubleType,
    (v) => fromText(v, 'double', parseDouble, (n) => new Double(n)),
  ],
  ['uint64_to_double', uintType, doubleType, (v) => new Double(Number((v as Uint).value))],
  ['duration_to_duration', durationType, durationType, same],
  ['int64_to_duration', intType, durationType, (v) => new Duration(BigInt(v as Int))],
  [
    'string_to_duration',
    stringType,
    durationType,
    (v) => fromText(v, durationType.name, parseDuration, same),
  ],
  ['int64_to_int64', intType, intType, same],
  ['double_to_int64', doubleType, intType, (v) => doubleToInt((v as Double).value)],
  ['duration_to_int64', durationType, intType, (v) => toInt((v as Duration).nanos)],
  ['string_to_int64', stringType, intType, (v) => fromText(v, 'int', parseInt64, same)],
  ['timestamp_to_int64', timestampType, intType, (v) => (v as Timestamp).seconds],
  ['uint64_to_int64', uintType, intType, (v) => uintToInt((v as Uint).value)],
  ['string_to_string', stringType, stringType, same],
  ['bool_to_string', boolType, stringType, String],
  [
    'bytes_to_string',
    bytesType,
    stringType,
    (v) => bytesToString(v as Uint8Array),
    bytesToStringCost,
  ],
  ['double_to_string', doubleType, stringType, (v) => formatDouble((v as Double).value, 6)],
  ['duration_to_string', durationType, stringType, (v) => formatDuration(v as Duration)],
  ['int64_to_string', intType, stringType, String],
  ['timestamp_to_string', timestampType, stringType, (v) => formatTimestamp(v as Timestamp)],
  ['uint64_to_string', uintType, stringType, (v) => String((v as Uint).value)],
  ['timestamp_to_timestamp', timestampType, timestampType, same],
  ['int64_to_timestamp', intType, timestampType, (v) => secondsToTimestamp(v as Int)],
  [
    'string_to_timestamp',
    stringType,
    timestampType,
    (v) => fromText(v, timestampType.name, parseTimestamp, same),
  ],
  ['uint64_to_uint64', uintType, uintType, same],
  ['double_to_uint64', doubleType, uintType, (v) => doubleToUint((v as Double).value)],
  ['int64_to_uint64', intType, uintType, (v) => intToUint(v as Int)],
  [
    'string_to_uint64',
    stringType,
    uintType,
    (v) => fromText(v, 'uint', parseUint64, (n) => new Uint(n)),
  ],
];

function fromText<T>(
  value: Value,
  target: string,
  parse: (text: string) => T | undefined,
  wrap: (parsed: T) => Value,
): Value {
  const parsed = parse(value as string);
  return parsed === undefined ? failed(value, target) : wrap(parsed);
}

function uintToInt(value: bigint): Value {
  return value > intMax ? intOverflow : toInt(value);
}

function intToUint(value: Int): Value {
  return value < 0 || BigInt(value) > uintMax ? uintOverflow : new Uint(BigInt(value));
}

const functionNames: ReadonlyMap<CelType, string> = new Map([
  [boolType, 'bool'],
  [bytesType, 'bytes'],
  [doubleType, 'double'],
  [durationType, 'duration'],
  [intType, 'int'],
  [stringType, 'string'],
  [timestampType, 'timestamp'],
  [uintType, 'uint'],
]);

function conversion([type, name]: readonly [CelType, string]): FunctionDeclaration {
  const overloads = rows
    .filter(([, , to]) => to === type)
    .map(([id, from, to, convert, extras]) =>
      global(id, [[from], to], (args) => convert(arg(args, 0)), extras),
    );
  return declare(name, overloads);
}

const a = paramType('A');

export const conversionFunctions: readonly FunctionDeclaration[] = [
  ...[...functionNames].map(conversion),
  declare('dyn', [global('to_dyn', [[a], dynType], (args) => arg(args, 0))]),
  declare('type', [
    global('type', [[a], typeOfType(a)], (args) => new TypeValue(typeNameOf(arg(args, 0)))),
  ]),
];

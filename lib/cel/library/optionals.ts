// Optional values, and the insertion into maps that the two-variable macros use.
import { boolType, listType, mapType, optionalType, paramType } from '../model/cel-type.ts';
import type { Implementation, Library } from '../model/declarations.ts';
import { HashMap, keyText } from '../model/map-value.ts';
import { GrowingMap } from '../eval/plan-loop.ts';
import {
  CelError,
  Double,
  OptionalValue,
  TypeValue,
  Uint,
  isError,
  isList,
  isMap,
  listItems,
  optionalNone,
  typeNameOf,
} from '../model/value.ts';
import type { MapValue, Value } from '../model/value.ts';
import { optionalMacros } from '../syntax/macros.ts';
import { twoVariableMacros } from '../syntax/two-variable-macros.ts';
import { arg, declare, global, member } from './declare.ts';
import { ArrayList } from '../model/value.ts';
import type { ListValue } from '../model/value.ts';

const v = paramType('V');
const optionalV = optionalType(v);
const listV = listType(v);

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0 || value === '') return true;
  if (typeof value !== 'object') return false;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Double) return value.value === 0;
  if (value instanceof OptionalValue) return value.value === undefined;
  if (value instanceof TypeValue) return false;
  if (isList(value) || isMap(value)) return value.size() === 0;
  if (value.kind === 'duration') return value.nanos === 0n;
  return value.kind === 'timestamp' && value.seconds === -62135596800 && value.nanos === 0;
}

const optionalAt = (args: readonly Value[]): OptionalValue => arg(args, 0) as OptionalValue;

const valueOf: Implementation = (args) =>
  optionalAt(args).value ?? new CelError('optional.none() dereference');

const end =
  (pick: (list: ListValue) => number): Implementation =>
  (args) => {
    const list = arg(args, 0) as ListValue;
    return list.size() === 0 ? optionalNone : new OptionalValue(list.get(pick(list)));
  };

const unwrap: Implementation = (args) =>
  new ArrayList(
    listItems(arg(args, 0) as ListValue).flatMap((item) => {
      const held = item instanceof OptionalValue ? item.value : item;
      return held === undefined ? [] : [held];
    }),
  );

export const optionalsLibrary: Library = {
  name: 'optional',
  since: 28,
  macros: optionalMacros,
  functions: [
    declare('optional.of', [
      global('optional_of', [[v], optionalV], (args) => new OptionalValue(arg(args, 0))),
    ]),
    declare('optional.ofNonZeroValue', [
      global('optional_ofNonZeroValue', [[v], optionalV], (args) =>
        isZero(arg(args, 0)) ? optionalNone : new OptionalValue(arg(args, 0)),
      ),
    ]),
    declare('optional.none', [global('optional_none', [[], optionalV], () => optionalNone)]),
    declare('value', [member('optional_value', [[optionalV], v], valueOf)]),
    declare('hasValue', [
      member(
        'optional_hasValue',
        [[optionalV], boolType],
        (args) => optionalAt(args).value !== undefined,
      ),
    ]),
    declare('or', [
      member('optional_or_optional', [[optionalV, optionalV], optionalV], (args) =>
        optionalAt(args).value === undefined ? arg(args, 1) : arg(args, 0),
      ),
    ]),
    declare('orValue', [
      member(
        'optional_orValue_value',
        [[optionalV, v], v],
        (args) => optionalAt(args).value ?? arg(args, 1),
      ),
    ]),
    declare('first', [
      member(
        'list_first',
        [[listV], optionalV],
        end(() => 0),
      ),
    ]),
    declare('last', [
      member(
        'list_last',
        [[listV], optionalV],
        end((list) => list.size() - 1),
      ),
    ]),
    declare('optional.unwrap', [global('optional_unwrap', [[listType(optionalV)], listV], unwrap)]),
    declare('unwrapOpt', [member('optional_unwrapOpt', [[listType(optionalV)], listV], unwrap)]),
  ],
};

/** Adds entries to the map of a loop, which nobody else sees yet; any other map is copied first. */
function insert(target: MapValue, entries: Iterable<readonly [Value, Value]>): Value {
  const map = target instanceof GrowingMap ? target : copyOf(target);
  for (const [key, value] of entries) {
    if (map.has(key)) return new CelError(`insert failed: key ${keyText(key)} already exists`);
    if (!map.set(key, value)) return new CelError(`unsupported key type: ${typeNameOf(key)}`);
  }
  return map;
}

function copyOf(source: MapValue): HashMap {
  const map = new HashMap();
  for (const key of source.keys()) map.set(key, source.find(key) ?? null);
  return map;
}

function* entriesOf(source: MapValue): Iterable<readonly [Value, Value]> {
  for (const key of source.keys()) yield [key, source.find(key) ?? null];
}

const mapInsert: Implementation = (args) => {
  const target = arg(args, 0) as MapValue;
  const failed = args.find(isError);
  if (failed !== undefined) return failed;
  if (args.length === 3) return insert(target, [[arg(args, 1), arg(args, 2)]]);
  return insert(target, entriesOf(arg(args, 1) as MapValue));
};

const mapKV = mapType(paramType('K'), v);

export const twoVariableLibrary: Library = {
  name: 'cel.lib.ext.comprev2',
  since: 32,
  macros: twoVariableMacros,
  functions: [
    declare('cel.@mapInsert', [
      global('@mapInsert_map_map', [[mapKV, mapKV], mapKV], mapInsert),
      global('@mapInsert_map_key_value', [[mapKV, paramType('K'), v], mapKV], mapInsert),
    ]),
  ],
};

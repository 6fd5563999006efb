// Names that an expression may use: variables, type names, and the variables of the loops around a
// place.
import { dynType, listType, mapType, typeOfType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  intType,
  nullType,
  optionalType,
  paramType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from '../model/cel-type.ts';
import { TypeValue } from '../model/value.ts';
import type { Identifier } from '../model/checked-expression.ts';

function typeIdentifier(name: string, type: CelType): Identifier {
  return { name, type: typeOfType(type), constant: new TypeValue(name), isLocal: false };
}

const builtInTypes: readonly (readonly [string, CelType])[] = [
  ['bool', boolType],
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['null_type', nullType],
  ['list', listType(dynType)],
  ['map', mapType(dynType, dynType)],
  ['type', typeType],
  ['google.protobuf.Duration', durationType],
  ['google.protobuf.Timestamp', timestampType],
];

/** The names that every environment has, and those of its libraries' types. */
export function typeIdentifiers(
  libraryTypes: readonly CelType[],
  hasOptionals: boolean,
): ReadonlyMap<string, Identifier> {
  const types = [...builtInTypes, ...libraryTypes.map((type) => [type.name, type] as const)];
  if (hasOptionals) types.push(['optional_type', optionalType(paramType('V'))]);
  return new Map(types.map(([name, type]) => [name, typeIdentifier(name, type)]));
}

/** One level of names; loops open inner ones. */
export class Scope {
  readonly #names: ReadonlyMap<string, Identifier>;
  readonly #outer: Scope | undefined;

  constructor(names: ReadonlyMap<string, Identifier>, outer?: Scope) {
    this.#names = names;
    this.#outer = outer;
  }

  inner(variables: readonly (readonly [string, CelType])[]): Scope {
    const names = variables.map(([name, type]): readonly [string, Identifier] => [
      name,
      { name, type, constant: undefined, isLocal: true },
    ]);
    return new Scope(new Map(names), this);
  }

  /** A leading dot asks for the outermost level. */
  find(name: string): Identifier | undefined {
    if (!name.startsWith('.')) return this.#names.get(name) ?? this.#outer?.find(name);
    return this.#outer === undefined ? this.#names.get(name.slice(1)) : this.#outer.find(name);
  }
}

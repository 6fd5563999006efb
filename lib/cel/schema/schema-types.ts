// Declared types of the values of one schema, made where rules ask for them: many rules, each at
// another value, take no longer than the schema is large.
import type { TypeInfo, ValueInfo } from '../../api/type-info.ts';
import { elementOf } from '../../api/value-info.ts';
import type { ObjectTypes } from '../model/declarations.ts';
import { objectTypesIn } from './declared-type.ts';
import type { DeclaredType, FieldTypes } from './declared-type.ts';
import { escapeName } from './escaping.ts';
import { membersOf } from './members.ts';
import { formOf } from './value-form.ts';
import {
  collectionType,
  declaredType,
  namedType,
  needsRoom,
  objectSizeMin,
  roomOf,
  scalarType,
} from './value-types.ts';

// Names of the types of anonymous objects must not be something to rely on.
let typeNumber = 0;

interface Members {
  readonly byIdentifier: ReadonlyMap<string, ValueInfo>;
  /** Fewest bytes of an object's JSON. */
  readonly minSerializedSize: number;
}

export class SchemaTypes {
  readonly #members = new Map<TypeInfo, Members>();
  readonly #fields = new Map<string, FieldTypes>();

  /** The type of a value that rules are about; undefined: expressions cannot see it. */
  of(value: ValueInfo): DeclaredType | undefined {
    return this.#named(value, `selfType${String(++typeNumber)}`);
  }

  /** The object types of all values that were asked for, and those within them. */
  objects(options: { readonly keywordsAsFields: boolean }): ObjectTypes {
    return objectTypesIn((typeName) => this.#fields.get(typeName), options);
  }

  #named(value: ValueInfo, typeName: string): DeclaredType | undefined {
    const form = formOf(value);
    switch (form.kind) {
      case 'opaque':
        return undefined;
      case 'scalar':
        return scalarType(form.form, value);
      case 'object':
        return form.type.open === undefined
          ? this.#builtIn(declaredType(value, typeName))
          : this.#object(form.type, typeName);
      case 'list':
      case 'map': {
        const inner = elementOf(form.of);
        const place = `${typeName}.${form.kind === 'list' ? '@idx' : '@elem'}`;
        return collectionType(form, inner && this.#named(inner, place));
      }
    }
  }

  #object(type: TypeInfo, typeName: string): DeclaredType {
    const { byIdentifier, minSerializedSize } = this.#membersOf(type);
    const made = new Map<string, DeclaredType | undefined>();
    const get = (identifier: string): DeclaredType | undefined => {
      if (made.has(identifier)) return made.get(identifier);
      const value = byIdentifier.get(identifier);
      const field = value && this.#named(value, `${typeName}.${identifier}`);
      made.set(identifier, field);
      return field;
    };
    const values = (): Iterable<DeclaredType> =>
      [...byIdentifier.keys()].flatMap((identifier) => get(identifier) ?? []);
    const fields = { get, values };
    this.#fields.set(typeName, fields);
    return namedType(typeName, fields, minSerializedSize);
  }

  /** A type that no schema made, with the object types within it. */
  #builtIn(type: DeclaredType | undefined): DeclaredType | undefined {
    if (type?.fields !== undefined && !this.#fields.has(type.celType.name)) {
      this.#fields.set(type.celType.name, type.fields);
      for (const field of type.fields.values()) this.#builtIn(field);
    }
    if (type?.element !== undefined) this.#builtIn(type.element);
    return type;
  }

  #membersOf(type: TypeInfo): Members {
    const known = this.#members.get(type);
    if (known !== undefined) return known;
    const byIdentifier = new Map<string, ValueInfo>();
    let minSerializedSize = objectSizeMin;
    for (const { name, value, isRequired } of membersOf(type)) {
      const identifier = escapeName(name);
      if (identifier !== undefined) byIdentifier.set(identifier, value);
      if (!needsRoom(value, isRequired)) continue;
      const size = this.#sizeOf(value);
      if (size !== undefined) minSerializedSize += roomOf(name, size);
    }
    const members = { byIdentifier, minSerializedSize };
    this.#members.set(type, members);
    return members;
  }

  /** Fewest bytes of a value's JSON; undefined: expressions cannot see it. */
  #sizeOf(value: ValueInfo): number | undefined {
    const form = formOf(value);
    return form.kind === 'object' && form.type.open !== undefined
      ? this.#membersOf(form.type).minSerializedSize
      : this.#named(value, '')?.minSerializedSize;
  }
}

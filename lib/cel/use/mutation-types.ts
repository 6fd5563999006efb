// The types that mutations write: `Object{...}` with any fields, each part named by its path
// (`Object.spec.template`), and `JSONPatch{...}`. The names of the
// parts are compared with where they are.
import { dynType, stringType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { FieldDeclaration, ObjectTypes } from '../model/declarations.ts';
import { keyText } from '../model/map-value.ts';
import type { MapValue, Value } from '../model/value.ts';
import { isList, isMap, listItems } from '../model/value.ts';

const rootName = 'Object';
const patchName = 'JSONPatch';

const patchFields: Readonly<Record<string, CelType>> = {
  op: stringType,
  path: stringType,
  from: stringType,
  value: dynType,
};

const isObjectName = (name: string): boolean =>
  name === rootName || name.startsWith(`${rootName}.`);

/** An object written in an expression. */
export class WrittenObject implements MapValue {
  readonly kind = 'map';
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, Value>;
  constructor(typeName: string, fields: ReadonlyMap<string, Value>) {
    this.typeName = typeName;
    this.fields = fields;
  }
  size(): number {
    return this.fields.size;
  }
  find(key: Value): Value | undefined {
    return typeof key === 'string' ? this.fields.get(key) : undefined;
  }
  keys(): Iterable<Value> {
    return this.fields.keys();
  }
}

/** Object types with those of mutations added. */
export function mutationTypes(objects: ObjectTypes): ObjectTypes {
  const field = (typeName: string, name: string): FieldDeclaration | undefined => {
    if (isObjectName(typeName)) return { name, type: dynType };
    if (typeName !== patchName) return objects.field(typeName, name);
    const type = Object.hasOwn(patchFields, name) ? patchFields[name] : undefined;
    return type && { name, type };
  };
  return {
    has: (typeName) => isObjectName(typeName) || typeName === patchName || objects.has(typeName),
    field,
    create: (typeName, fields) => new WrittenObject(typeName, fields),
  };
}

/** Why a value is no mutation: a part has the name of another path. undefined: it is one. */
export function mutationProblem(value: Value, path: string = rootName): string | undefined {
  if (isList(value)) return firstProblem(listItems(value).map((item) => [item, path] as const));
  if (!(value instanceof WrittenObject)) {
    if (!isMap(value)) return undefined;
    return firstProblem(
      [...value.keys()].map((key) => [value.find(key) ?? null, `${path}.${keyText(key)}`] as const),
    );
  }
  if (value.typeName !== path) {
    const [found, wanted] = [JSON.stringify(value.typeName), JSON.stringify(path)];
    const rule = 'which matches field name path from root Object type';
    return `type mismatch: unexpected type name ${found}, expected ${wanted}, ${rule}`;
  }
  return firstProblem(
    [...value.fields].map(([name, inner]) => [inner, `${path}.${name}`] as const),
  );
}

function firstProblem(parts: readonly (readonly [Value, string])[]): string | undefined {
  for (const [part, path] of parts) {
    const problem = mutationProblem(part, path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

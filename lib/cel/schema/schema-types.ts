// Declared types from schemas of custom resources. Limits that a schema does not state follow from
// the size of a request.
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  stringType,
  structType,
  timestampType,
} from '../model/cel-type.ts';
import type { DeclaredType } from './declared-type.ts';
import { escapeName } from './escaping.ts';
import {
  dateSize,
  dateTimeSize,
  durationSize,
  listOf,
  mapOf,
  plainTextMax,
  scalarOf,
  stringSizeMin,
} from './sized-types.ts';
import { withTypeAndObjectMeta } from './structural.ts';
import type { StructuralSchema } from './structural.ts';

/**
 * The type of a schema, objects named after `typeName` and their place; undefined: expressions
 * cannot see values of it. `isResourceRoot`: the schema describes a whole resource.
 */
export function declaredType(
  schema: StructuralSchema,
  typeName: string,
  isResourceRoot: boolean,
): DeclaredType | undefined {
  if (schema.isIntOrString) {
    return scalarOf(
      dynType,
      1,
      schema.maxLength === undefined ? plainTextMax : bytesOf(schema.maxLength),
    );
  }
  const node = isResourceRoot ? withTypeAndObjectMeta(schema) : schema;
  switch (node.type) {
    case 'array':
      return arrayType(node, typeName);
    case 'object':
      return node.additionalProperties === undefined
        ? objectType(node, typeName)
        : mapWith(node, node.additionalProperties, typeName);
    case 'string':
      return textType(node);
    case 'boolean':
      return scalarOf(boolType, 4);
    case 'number':
      return scalarOf(doubleType, 1);
    case 'integer':
      return scalarOf(intType, 1);
    default:
      return undefined;
  }
}

function arrayType(schema: StructuralSchema, typeName: string): DeclaredType | undefined {
  const { items } = schema;
  const element = items && declaredType(items, `${typeName}.@idx`, items.isEmbeddedResource);
  return element && listOf(element, schema.maxItems);
}

function mapWith(
  schema: StructuralSchema,
  values: StructuralSchema,
  typeName: string,
): DeclaredType | undefined {
  const element = declaredType(values, `${typeName}.@elem`, values.isEmbeddedResource);
  return element && mapOf(element, schema.maxProperties);
}

function objectType(schema: StructuralSchema, typeName: string): DeclaredType {
  const fields = new Map<string, DeclaredType>();
  let minSerializedSize = 2;
  for (const [name, property] of schema.properties ?? []) {
    const escaped = escapeName(name);
    const type = declaredType(
      property,
      `${typeName}.${escaped ?? name}`,
      property.isEmbeddedResource,
    );
    if (type === undefined) continue;
    if (escaped !== undefined) fields.set(escaped, type);
    if (schema.required.includes(name) && !property.hasDefault) {
      minSerializedSize += Buffer.byteLength(name) + type.minSerializedSize + 4;
    }
  }
  return {
    celType: structType(typeName),
    fields,
    element: undefined,
    maxElements: 0,
    minSerializedSize,
  };
}

function textType(schema: StructuralSchema): DeclaredType {
  switch (schema.format) {
    case 'byte':
      return scalarOf(bytesType, stringSizeMin, Math.max(schema.maxLength ?? plainTextMax, 0));
    case 'duration':
      return scalarOf(durationType, durationSize.min, durationSize.max);
    case 'date':
      return scalarOf(timestampType, dateSize, dateSize);
    case 'date-time':
      return scalarOf(timestampType, dateTimeSize.min, dateTimeSize.max);
    default:
      return scalarOf(stringType, stringSizeMin, textMax(schema));
  }
}

function textMax(schema: StructuralSchema): number {
  if (schema.maxLength !== undefined) return bytesOf(schema.maxLength);
  if (schema.enumValues.length === 0) return plainTextMax;
  const lengths = schema.enumValues.map((value) =>
    typeof value === 'string' ? Buffer.byteLength(value) : 0,
  );
  return Math.max(...lengths);
}

/** Limits of texts count characters, sizes count bytes: up to four for each. */
function bytesOf(characters: number): number {
  return Math.max(characters, 0) * 4;
}

// Declared types with the sizes that follow from the size of a request where no limit is declared.
import { listType, mapType, stringType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import { requestSizeMax } from './declared-type.ts';
import type { DeclaredType } from './declared-type.ts';

/** Bytes of the shortest and longest JSON of texts of a format, quotes included. */
export const durationSize = { min: 3, max: 32 };
export const dateTimeSize = { min: 21, max: 32 };
export const dateSize = 12;
export const stringSizeMin = 2;

/** Longest text that fits into a request. */
export const plainTextMax = requestSizeMax - 2;

export function scalarOf(
  celType: CelType,
  minSerializedSize: number,
  maxElements = 0,
): DeclaredType {
  return { celType, fields: undefined, element: undefined, maxElements, minSerializedSize };
}

export function listOf(element: DeclaredType, maxItems: number | undefined): DeclaredType {
  const most = Math.floor((requestSizeMax - 2) / (element.minSerializedSize + 1));
  return {
    celType: listType(element.celType),
    fields: undefined,
    element,
    maxElements: maxItems === undefined ? most : Math.max(maxItems, 0),
    minSerializedSize: 2,
  };
}

export function mapOf(element: DeclaredType, maxProperties: number | undefined): DeclaredType {
  // An entry has at least quotes, colon, comma and a key.
  const most = Math.floor((requestSizeMax - 2) / (element.minSerializedSize + 6));
  return {
    celType: mapType(stringType, element.celType),
    fields: undefined,
    element,
    maxElements: maxProperties === undefined ? most : Math.max(maxProperties, 0),
    minSerializedSize: 2,
  };
}

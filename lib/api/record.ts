// New objects for data: members with any name, `__proto__` and `constructor` among them.
import type { JsonObject } from './type-info.ts';

/**
 * The prototype of records has no names. V8 makes a hash table of an object without any prototype:
 * that takes twice the memory, and ten times as long to copy (measured).
 */
const noNames: object = Object.freeze(Object.create(null) as object);

export const newRecord = (): JsonObject => Object.create(noNames) as JsonObject;

/** Whether objects with this prototype have no names but their own. */
export const isNameless = (prototype: unknown): boolean =>
  prototype === noNames || prototype === null;

// Objects that have no names but those they are given: `constructor` is none of them.

/**
 * V8 makes a hash table of an object without any prototype: that takes twice the memory, and ten
 * times as long to copy (measured).
 */
const noNames: object = Object.freeze(Object.create(null) as object);

export const newNameless = (): object => Object.create(noNames) as object;

/** Whether objects with this prototype have no names but their own. */
export const isNameless = (prototype: unknown): boolean =>
  prototype === noNames || prototype === null;

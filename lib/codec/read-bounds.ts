// How much a reader of bytes takes: little of a client, everything of what was stored.
import { limits } from '../base/limits.ts';

export interface ReadBounds {
  /** Levels of objects, lists and messages. */
  readonly depthMax: number;
  /** Messages, elements and entries. */
  readonly valuesMax: number;
}

export const bodyBounds: ReadBounds = {
  depthMax: limits.bodyDepthMax,
  valuesMax: limits.bodyValuesMax,
};

/** Its depth was that of a body when it was written, perhaps as JSON and in another version. */
export const storedBounds: ReadBounds = {
  depthMax: limits.storedDepthMax,
  valuesMax: Infinity,
};

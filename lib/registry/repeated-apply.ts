// An apply that changed nothing is kept by name with the item that it left as it was: whoever sends
// the same again, as controllers do all day, has it neither read nor merged. Admission sees it as
// ever.
import { createHash } from 'node:crypto';
import type { Item } from '../cacher/resource-view.ts';
import { hasNote, noteOn } from './item-notes.ts';
import type { PatchRequest } from './requests.ts';
import type { StoreParts } from './store-parts.ts';

/** Definitions of custom resources come and go, and with them what a configuration means. */
const definitions = new WeakMap<StoreParts, number>();
let definitionCount = 0;

function definitionOf(parts: StoreParts): number {
  const known = definitions.get(parts);
  if (known !== undefined) return known;
  definitions.set(parts, ++definitionCount);
  return definitionCount;
}

export class RepeatedApply {
  readonly #parts: StoreParts;
  readonly #request: PatchRequest;
  #known: string | undefined;

  constructor(parts: StoreParts, request: PatchRequest) {
    this.#parts = parts;
    this.#request = request;
  }

  /** It is known to leave this item as it is, before admission. */
  leaves(item: Item | undefined): boolean {
    return item !== undefined && hasNote(item, this.#note);
  }

  /** It left this item as it is. */
  hasLeft(item: Item): void {
    noteOn(item, this.#note);
  }

  get #note(): string {
    return (this.#known ??= noteOf(this.#parts, this.#request));
  }
}

/** Names all that an apply depends on beside the item. */
function noteOf(parts: StoreParts, { path, options, patch }: PatchRequest): string {
  const { fieldManager, fieldValidation, force = false } = options;
  const definition = definitionOf(parts);
  const asked = [definition, path.subresource, fieldManager, fieldValidation, force];
  const sum = createHash('sha256').update(JSON.stringify(asked)).update(patch);
  return `apply ${sum.digest('base64')}`;
}

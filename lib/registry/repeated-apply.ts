// An apply that changed nothing is kept by name with the item that it left as it was: whoever sends
// the same again, as controllers do all day, has it neither read nor merged. Admission sees it as
// ever.
import { createHash } from 'node:crypto';
import type { Item } from '../cacher/resource-view.ts';
import type { PatchRequest } from './requests.ts';
import type { StoreParts } from './store-parts.ts';

/** Definitions of custom resources come and go, and with them what a configuration means. */
const definitions = new WeakMap<StoreParts, number>();
let definitionCount = 0;

export class RepeatedApply {
  readonly #variant: string;

  constructor(parts: StoreParts, { path, options, patch }: PatchRequest) {
    const { fieldManager, fieldValidation, force = false } = options;
    const definition = definitions.get(parts) ?? ++definitionCount;
    definitions.set(parts, definition);
    const asked = [definition, path.subresource, fieldManager, fieldValidation, force];
    const sum = createHash('sha256').update(JSON.stringify(asked)).update(patch);
    this.#variant = `apply ${sum.digest('base64')}`;
  }

  /** It is known to leave this item as it is, before admission. */
  leaves(item: Item | undefined): boolean {
    return item?.keptEncoding(this.#variant) !== undefined;
  }

  /** It left this item as it is. */
  hasLeft(item: Item): void {
    item.encoded(this.#variant, noBytes);
  }
}

const nothing = new Uint8Array();
const noBytes = (): Uint8Array => nothing;

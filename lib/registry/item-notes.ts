// What was found out about an item and holds as long as it does: kept with it like its encodings,
// and like them it may go at any time.
import type { Item } from '../cacher/resource-view.ts';

const nothing = new Uint8Array();
const noBytes = (): Uint8Array => nothing;

/** `note` names what was found, and nothing that `Item.encoded` keeps. */
export const noteOn = (item: Item, note: string): void => void item.encoded(note, noBytes);

export const hasNote = (item: Item, note: string): boolean => item.keptEncoding(note) !== undefined;

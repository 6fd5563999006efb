// Labels and fields that many items have in common, kept once for all resources of a cache. Long
// ones, which few items share, are left to their items.
import { limits } from '../base/limits.ts';
import { TextMemo } from '../base/text-memo.ts';

export type Labels = Readonly<Record<string, string>>;
export type Fields = Readonly<Record<string, string>>;

const bounds = { countMax: limits.sharedTextsMax, lengthMax: limits.sharedTextLengthMax };

export class SharedValues {
  /** By their JSON. */
  readonly labels = new TextMemo<Labels>(bounds);
  /** By paths and values, one after the other. */
  readonly fields = new TextMemo<Fields>(bounds);
  readonly namespaces = new TextMemo<string>(bounds);
}

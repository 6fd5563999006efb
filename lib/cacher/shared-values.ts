// Labels and fields that many items have in common, kept once for all resources of a cache. Long
// ones, which few items share, are left to their items.
import { newRecord } from '../api/record.ts';
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

export const noLabels: Labels = Object.freeze(newRecord() as Record<string, string>);

/**
 * Labels that cannot be read select nothing; `object()` and the write path report them. Not frozen:
 * V8 makes a map for each frozen object without prototype, as large as small labels.
 */
export function parseLabels(text: string): Labels {
  const labels = newRecord() as Record<string, string>;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return noLabels;
  }
  if (typeof parsed !== 'object' || parsed === null) return noLabels;
  for (const [key, value] of Object.entries(parsed)) {
    if (typeof value === 'string') labels[key] = value;
  }
  return labels;
}

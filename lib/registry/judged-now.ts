// What a write is made with from the moment at which its judging begins.
import type { StoreParts } from './store-parts.ts';

interface Judged {
  readonly storage: StoreParts['storage'];
  readonly parts: StoreParts;
}

const known = new WeakMap<StoreParts, Judged>();

/**
 * The same parts, whose storage takes the write only as long as the rules of admission that memory
 * has now are in force. To be called at the begin of each try, before admission sees it.
 */
export function judgedNow(parts: StoreParts): StoreParts {
  const { rulesInForce } = parts;
  if (rulesInForce === undefined) return parts;
  const storage = rulesInForce.guarded(parts.storage);
  const last = known.get(parts);
  if (last?.storage === storage) return last.parts;
  const judged = { ...parts, storage, rulesInForce: undefined };
  known.set(parts, { storage, parts: judged });
  return judged;
}

// Equal owner references of a written object become one, and who wrote them is told.
import { listAt, recordsAt, textAt } from '../api/json-access.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { ApiObject } from '../codec/codec.ts';

/** `when` is part of the warning: '' for what the request says. */
export function mergeOwners(object: ApiObject, warnings: string[], when: string): void {
  const { metadata } = object;
  if (metadata === undefined || listAt(metadata, 'ownerReferences').length < 2) return;
  const merged = new Map<string, JsonObject>();
  const repeated = new Set<string>();
  for (const owner of recordsAt(metadata, 'ownerReferences')) {
    const text = JSON.stringify(Object.entries(owner).sort());
    if (merged.has(text)) repeated.add(textAt(owner, 'uid'));
    else merged.set(text, owner);
  }
  if (repeated.size === 0) return;
  metadata['ownerReferences'] = [...merged.values()];
  const text =
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner ` +
    'references in 1.20+, and may reject such requests as early as 1.24; please fix your ' +
    `requests; duplicate UID(s) observed: ${[...repeated].join(', ')}`;
  if (!warnings.includes(text)) warnings.push(text);
}

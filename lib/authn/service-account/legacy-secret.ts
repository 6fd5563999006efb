// The Secret that an older token of a service account lies in: such a token is good as long as the
// Secret holds the very same one, and has no mark that makes it invalid.
import { timingSafeEqual } from 'node:crypto';
import { recordsAt, recordAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import type { Item } from '../../cacher/resource-view.ts';

/** Date of the last use, `2006-01-02` in UTC: its day, in the label of the Secret. */
export const lastUsedLabel = (naming: NamingProfile): string =>
  naming.resolve('{kubernetes}.io/legacy-token-last-used');

/** Its value is the day from which on the token of the Secret is refused. */
export const invalidSinceLabel = (naming: NamingProfile): string =>
  naming.resolve('{kubernetes}.io/legacy-token-invalid-since');

export type LegacyUse = 'invalidated' | 'generated' | 'manual';

/** undefined: the Secret does not hold the token. */
export function legacyUseOf(
  token: string,
  at: { readonly secret: Item; readonly account: Item },
  naming: NamingProfile,
): LegacyUse | undefined {
  const secret = at.secret.object();
  const stored = Buffer.from(textAt(recordAt(secret, 'data'), 'token'), 'base64');
  const given = Buffer.from(token);
  if (isDeleting(secret) || isDeleting(at.account.object())) return undefined;
  if (stored.length !== given.length || !timingSafeEqual(stored, given)) return undefined;
  if ((at.secret.labels[invalidSinceLabel(naming)] ?? '') !== '') return 'invalidated';
  const listed = recordsAt(at.account.object(), 'secrets');
  return listed.some(({ name }) => name === at.secret.name) ? 'generated' : 'manual';
}

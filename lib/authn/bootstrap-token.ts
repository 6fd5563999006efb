// Bootstrap tokens as bearer tokens: `ID.SECRET` of a Secret of the system namespace, as this
// replica's memory has it. What was deleted, expired or changed is known as soon as its event is.
import { timingSafeEqual } from 'node:crypto';
import type { NamingProfile } from '../api/vendor.ts';
import type { User } from '../base/user.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import type { Authentication, Authenticator } from './authenticator.ts';
import { bootstrapSecretName, readBootstrapToken } from './bootstrap-token-secret.ts';
import type { BootstrapToken } from './bootstrap-token-secret.ts';

const form = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

const absent: Authentication = { outcome: 'absent' };
const rejected: Authentication = { outcome: 'rejected', reason: 'no such bootstrap token' };

interface KnownToken {
  /** undefined: the Secret holds none. */
  readonly token: BootstrapToken | undefined;
  /** undefined: it names nobody. */
  readonly user: User | undefined;
}

export function bootstrapTokenAuthenticator(options: {
  readonly secrets: Pick<ResourceView, 'peek'>;
  readonly naming: NamingProfile;
  readonly nowMs: () => number;
}): Authenticator {
  const { secrets, naming, nowMs } = options;
  const namespace = naming.systemNamespace;
  const known = new WeakMap<Item, KnownToken>();
  return {
    name: 'bootstrap-token',
    authenticate({ token: given }): Authentication {
      const [, id, secret] = form.exec(given ?? '') ?? [];
      if (id === undefined || secret === undefined) return absent;
      const item = secrets.peek({ namespace, name: bootstrapSecretName(id) });
      if (item === undefined) return rejected;
      let read = known.get(item);
      if (read === undefined) {
        const token = readBootstrapToken(item, naming);
        known.set(item, (read = { token, user: userOf(token) }));
      }
      const { token, user } = read;
      const isGood = token !== undefined && isSame(token.secret, secret);
      if (!isGood || user === undefined || nowMs() >= token.expiresAtMs) return rejected;
      return { outcome: 'accepted', user };
    },
  };
}

function userOf(token: BootstrapToken | undefined): User | undefined {
  if (token?.canAuthenticate !== true || token.groups === undefined) return undefined;
  return { name: `system:bootstrap:${token.id}`, uid: '', groups: token.groups, extra: {} };
}

/** In a time that does not tell how much of it is right. */
function isSame(secret: string, given: string): boolean {
  const [one, other] = [Buffer.from(secret), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

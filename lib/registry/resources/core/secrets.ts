// Secrets: a secret without a type is Opaque; an update that names none keeps the stored one.
import type { ResourceStrategy } from '../../strategy.ts';

export const secretStrategy: ResourceStrategy = {
  prepare(secret, stored) {
    const { type } = secret;
    if (type === undefined || type === '') secret.type = stored?.type ?? 'Opaque';
  },
};

// Service accounts: their secrets lie in their own namespace, so that a name is all that is kept.
import { listAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { ResourceStrategy } from '../strategy.ts';

export const serviceAccountStrategy: ResourceStrategy = {
  answersDeletedObject: true,
  prepare(account) {
    if (listAt(account, 'secrets').length === 0) return;
    account['secrets'] = recordsAt(account, 'secrets').map((secret) => ({
      name: textAt(secret, 'name'),
    }));
  },
};

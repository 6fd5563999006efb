// Service accounts: their secrets lie in their own namespace, so that a name is all that is kept.
import { isSet, listAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { ResourceStrategy } from '../strategy.ts';
import type { Warnings } from '../validator.ts';

export const serviceAccountStrategy: ResourceStrategy = {
  answersDeletedObject: true,
  prepare(account) {
    if (listAt(account, 'secrets').length === 0) return;
    account['secrets'] = recordsAt(account, 'secrets').map((secret) => ({
      name: textAt(secret, 'name'),
    }));
  },
};

/** Where it was not there before. */
export const serviceAccountWarnings: Warnings = ({ object, old, naming }) => {
  const key = naming.resolve('{kubernetes}.io/enforce-mountable-secrets');
  const has = (of: typeof old): boolean => isSet(recordIn(of, 'metadata', 'annotations'), key);
  if (!has(object) || has(old)) return [];
  const instead = 'prefer separate namespaces to isolate access to mounted secrets';
  return [`metadata.annotations[${key}]: deprecated in v1.32+; ${instead}`];
};

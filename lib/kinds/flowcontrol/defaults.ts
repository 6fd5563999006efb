// Defaults of priority levels in the version in which zero shares could not be told from none.
import { recordAt } from '../../api/json-access.ts';
import type { DefaultRules } from '../../api/default-rule.ts';
import { isZero } from '../../api/presence.ts';

const preserveZero = 'flowcontrol.{v}/v1beta3-preserve-zero-concurrency-shares';
const nominalShares = 30;

export const priorityLevelDefaults: DefaultRules = {
  'flowcontrol/v1beta3.PriorityLevelConfiguration': {
    version: 1,
    complete(object, { profile }) {
      const limited = recordAt(recordAt(object, 'spec'), 'limited');
      if (limited === undefined || !isZero(limited['nominalConcurrencyShares'])) return;
      const annotations = recordAt(recordAt(object, 'metadata'), 'annotations');
      if (annotations?.[profile.resolve(preserveZero)] !== undefined) return;
      limited['nominalConcurrencyShares'] = nominalShares;
    },
  },
};

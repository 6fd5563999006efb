// API services: those that this server answers itself are there from the first moment.
import { isSet, recordAt } from '../../api/json-access.ts';
import { formatTime } from '../../base/clock.ts';
import type { ResourceStrategy } from '../strategy.ts';

export const apiServiceStrategy: ResourceStrategy = {
  takesUnqualifiedFinalizers: 'always',
  prepare(service, old, { nowMs }) {
    if (old !== undefined || isSet(recordAt(service, 'spec'), 'service')) return;
    const available = {
      ...{ type: 'Available', status: 'True', lastTransitionTime: formatTime(nowMs) },
      ...{ reason: 'Local', message: 'Local APIServices are always available' },
    };
    service.status = { conditions: [available] };
  },
};

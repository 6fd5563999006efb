// Secrets: text that a client writes for convenience becomes data and is never shown again.
import { entriesAt, recordAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ResourceStrategy } from '../strategy.ts';

export const secretStrategy: ResourceStrategy = {
  prepare(secret) {
    const given = entriesAt(secret, 'stringData');
    delete secret['stringData'];
    if (given.length === 0) return;
    const data = recordAt(secret, 'data') ?? (Object.create(null) as JsonObject);
    for (const [key, text] of given) {
      data[key] = Buffer.from(typeof text === 'string' ? text : '').toString('base64');
    }
    secret['data'] = data;
  },
};

// Secrets: text that a client writes for convenience becomes data and is never shown again. It does
// so where an object is completed: who writes text owns the data that it becomes.
import { entriesAt, recordAt } from '../../api/json-access.ts';
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { newRecord } from '../../api/record.ts';

const secret: DefaultRule = {
  version: 1,
  complete(object) {
    const given = entriesAt(object, 'stringData');
    delete object['stringData'];
    if (given.length === 0) return;
    const data = recordAt(object, 'data') ?? newRecord();
    for (const [key, text] of given) {
      data[key] = Buffer.from(typeof text === 'string' ? text : '').toString('base64');
    }
    object['data'] = data;
  },
};

export const secretDefaults: DefaultRules = {
  'core/v1.Secret': secret,
};

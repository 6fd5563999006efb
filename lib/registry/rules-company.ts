// What is written with a rule of admission: the key that moves with each change of what rules say.
import { jsonEqual } from '../api/json-value.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { Companions } from './companions.ts';

/** All that a configuration, policy or binding says; its labels and its status say nothing. */
const members = ['spec', 'webhooks'] as const;

/** @param key of `RulesInForce` */
export function rulesCompanions(key: string): Companions {
  const company = {
    conditions: [],
    changes: [{ type: 'put', key, value: new Uint8Array() }],
    lost: () => undefined,
  } as const;
  return {
    of: ({ object, old }) =>
      old === undefined || object === undefined || !saysSame(object, old.object())
        ? company
        : undefined,
  };
}

const saysSame = (object: Readonly<ApiObject>, old: Readonly<ApiObject>): boolean =>
  members.every((member) => {
    const [now, before] = [object[member], old[member]];
    return now === before || (now !== undefined && before !== undefined && jsonEqual(now, before));
  });

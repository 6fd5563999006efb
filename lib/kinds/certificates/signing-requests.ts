// Certificate signing requests: the server states who asks. Approval writes conditions alone; the
// signer's writes leave the decision as it is.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { formatTime } from '../../base/clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { cloneJson } from '../../api/json-value.ts';
import { newRecord } from '../../api/record.ts';
import type { ResourceStrategy, WriteContext } from '../strategy.ts';

const decisions = ['Approved', 'Denied'];

export const signingRequestStrategy: ResourceStrategy = {
  keptBySubresource: { status: ['spec'] },
  prepare(request, stored, context) {
    if (stored === undefined) {
      stateRequester(request, context.user);
    } else if (context.subresource === 'status') {
      keepDecisions(request, stored);
    }
    if (stored !== undefined && context.subresource !== '') {
      dateConditions(request, stored, formatTime(context.nowMs));
    }
  },
};

function stateRequester(request: ApiObject, user: WriteContext['user']): void {
  const spec = recordAt(request, 'spec') ?? newRecord();
  request.spec = spec;
  spec['username'] = user.name;
  spec['uid'] = user.uid;
  spec['groups'] = [...user.groups];
  const extra = newRecord();
  for (const [key, values] of Object.entries(user.extra ?? {})) extra[key] = [...values];
  spec['extra'] = extra;
}

const conditionsOf = (request: Readonly<ApiObject>): readonly JsonObject[] =>
  recordsAt(recordAt(request, 'status'), 'conditions');

/**
 * Decisions stay as they are stored. Those that were added or removed are left for validation to
 * refuse: the signer would believe in them otherwise.
 */
function keepDecisions(request: ApiObject, stored: Readonly<ApiObject>): void {
  const conditions = [...conditionsOf(request)];
  for (const type of decisions) {
    const placesIn = (list: readonly JsonObject[]): number[] =>
      list.flatMap((condition, at) => (textAt(condition, 'type') === type ? [at] : []));
    const before = placesIn(conditionsOf(stored));
    const now = placesIn(conditions);
    if (before.length !== now.length) continue;
    for (const [at, place] of now.entries()) {
      const kept = conditionsOf(stored)[before[at] ?? 0];
      if (kept !== undefined) conditions[place] = cloneJson(kept);
    }
  }
  const status = recordAt(request, 'status');
  if (status !== undefined && conditions.length > 0) status['conditions'] = conditions;
}

/** New conditions get the time; unchanged ones keep when they became so. */
function dateConditions(request: ApiObject, stored: Readonly<ApiObject>, now: string): void {
  const before = conditionsOf(stored);
  for (const condition of conditionsOf(request)) {
    if (textAt(condition, 'lastUpdateTime') === '') condition['lastUpdateTime'] = now;
    if (textAt(condition, 'lastTransitionTime') !== '') continue;
    const same = before.find((one) =>
      ['type', 'status'].every((name) => textAt(one, name) === textAt(condition, name)),
    );
    condition['lastTransitionTime'] = textAt(same, 'lastTransitionTime') || now;
  }
}

// Priority levels: seats, queues, and the two built-in ones.
import type { FieldErrors } from '../../api/field-errors.ts';
import { numberAt, recordAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, Validator } from '../validator.ts';
import { nameOf, validateConditionTypes } from './flow-schema-validation.ts';

const fixedCatchAll: JsonObject = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
};

export const validatePriorityLevel: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const name = nameOf(write);
  const type = textAt(spec, 'type');
  if ((type === 'Exempt') !== (name === 'exempt') && type !== '') {
    const detail = `type must be 'Exempt' if and only if name is 'exempt'`;
    errors.invalid('spec.type', type, detail);
  }
  const isFixed =
    name === 'exempt' ? sameJson(without(spec, 'exempt'), { type: 'Exempt' }) : isCatchAll(spec);
  if ((name === 'exempt' || name === 'catch-all') && !isFixed) {
    errors.invalid('spec', spec, `spec of '${name}' must equal the fixed value`);
  }
  // Which part goes with the type is said beside the fields.
  if (type === 'Limited') validateLimited(recordAt(spec, 'limited'), 'spec.limited', errors);
  if (type === 'Exempt') validateSeats(recordAt(spec, 'exempt'), 'spec.exempt', errors);
  validateConditionTypes(write);
};

function isCatchAll(spec: JsonObject): boolean {
  const limited = recordAt(spec, 'limited');
  const shares = numberAt(limited, 'nominalConcurrencyShares');
  const fixed = recordAt(fixedCatchAll, 'limited');
  const given = { ...limited, nominalConcurrencyShares: shares ?? 0 };
  return textAt(spec, 'type') === 'Limited' && sameJson(given, fixed);
}

/** Seats that a level has, and lends. */
function validateSeats(level: Holder, path: string, errors: FieldErrors): void {
  const shares = numberAt(level, 'nominalConcurrencyShares') ?? 0;
  if (shares < 0) {
    errors.invalid(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer');
  }
  const percent = numberAt(level, 'lendablePercent') ?? 0;
  if (percent < 0 || percent > 100) {
    errors.invalid(`${path}.lendablePercent`, percent, 'must be between 0 and 100, inclusive');
  }
}

const responseTypes = ['Queue', 'Reject'];

function validateLimited(limited: Holder, path: string, errors: FieldErrors): void {
  validateSeats(limited, path, errors);
  const borrowed = numberAt(limited, 'borrowingLimitPercent') ?? 0;
  if (borrowed < 0) {
    const detail = 'if specified, must be a non-negative integer';
    errors.invalid(`${path}.borrowingLimitPercent`, borrowed, detail);
  }
  const response = recordAt(limited, 'limitResponse');
  const type = textAt(response, 'type');
  if (type !== '' && !responseTypes.includes(type)) {
    errors.notSupported(`${path}.limitResponse.type`, type, responseTypes);
  }
  const queuing = recordAt(response, 'queuing');
  if (type !== 'Queue' || queuing === undefined) return;
  validateQueues(queuing, `${path}.limitResponse.queuing`, errors);
}

const queuesMax = 10_000_000;
const bitsMax = 60;

function validateQueues(queuing: JsonObject, path: string, errors: FieldErrors): void {
  for (const name of ['queueLengthLimit', 'queues', 'handSize']) {
    const count = numberAt(queuing, name) ?? 0;
    if (count <= 0) errors.invalid(`${path}.${name}`, count, 'must be positive');
  }
  const queues = numberAt(queuing, 'queues') ?? 0;
  const hand = numberAt(queuing, 'handSize') ?? 0;
  if (queues > queuesMax) {
    errors.invalid(`${path}.queues`, queues, `must not be greater than ${String(queuesMax)}`);
  }
  if (hand <= 0) return;
  if (hand > queues) {
    const detail = `should not be greater than queues (${String(queues)})`;
    errors.invalid(`${path}.handSize`, hand, detail);
    return;
  }
  const bits = Math.ceil(Math.log2(queues)) * hand;
  if (bits <= bitsMax) return;
  const detail =
    `required entropy bits of deckSize ${String(queues)} and handSize ` +
    `${String(hand)} should not be greater than ${String(bitsMax)}`;
  errors.invalid(`${path}.handSize`, hand, detail);
}

// Taints of devices, and rules that put them on devices from outside: keys, values, effects, and
// since when.
import { formatTime } from '../../base/clock.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, listAt, recordAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import { validateConditions } from '../condition-validation.ts';
import type { ResourceStrategy } from '../strategy.ts';
import type { Holder, Validator } from '../validator.ts';
import { validateDriver, validateLabelName, validatePoolName } from './names.ts';

const taintEffects = ['NoExecute', 'NoSchedule', 'None'];
const conditionsMax = 8;

const taintOf = (rule: Holder): ReturnType<typeof recordAt> =>
  recordAt(recordAt(rule, 'spec'), 'taint');

export const taintRuleStrategy: ResourceStrategy = {
  answersDeletedObject: true,
  /** An effect is as old as its last change, unless the writer says otherwise. */
  prepare(rule, old, { nowMs }) {
    const taint = taintOf(rule);
    const before = taintOf(old);
    if (old === undefined || taint === undefined) return;
    if (textAt(taint, 'effect') === textAt(before, 'effect')) return;
    if (sameJson(taint['timeAdded'], before?.['timeAdded'])) taint['timeAdded'] = formatTime(nowMs);
  },
};

export const validateTaintRule: Validator = ({ object, old, subresource, errors }) => {
  if (subresource === 'status') {
    const status = recordAt(object, 'status');
    validateConditions(status, 'status.conditions', errors);
    const count = listAt(status, 'conditions').length;
    if (count > conditionsMax) errors.tooMany('status.conditions', count, conditionsMax);
    return;
  }
  const selector = recordAt(recordAt(object, 'spec'), 'deviceSelector');
  for (const [name, validate] of selectorNames) {
    if (!isSet(selector, name)) continue;
    validate(textAt(selector, name), `spec.deviceSelector.${name}`, errors);
  }
  validateTaint(taintOf(object), taintOf(old), 'spec.taint', errors);
};

const selectorNames = [
  ['driver', validateDriver],
  ['pool', validatePoolName],
  ['device', validateLabelName],
] as const;

/** An effect that is stored already is accepted. */
export function validateTaint(taint: Holder, old: Holder, path: string, errors: FieldErrors): void {
  const key = textAt(taint, 'key');
  errors.problems(`${path}.key`, key, qualifiedNameProblems(key));
  const value = textAt(taint, 'value');
  errors.problems(`${path}.value`, value, labelValueProblems(value));
  const effect = textAt(taint, 'effect');
  if (old !== undefined && effect === textAt(old, 'effect')) return;
  if (effect === '') errors.required(`${path}.effect`);
  else validateEffect(effect, `${path}.effect`, errors);
}

export function validateEffect(effect: string, path: string, errors: FieldErrors): void {
  if (!taintEffects.includes(effect)) errors.notSupported(path, effect, taintEffects);
}

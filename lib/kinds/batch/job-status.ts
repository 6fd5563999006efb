// The status of a job, which controllers of others may write: counters never go down, a job that
// has ended stays as it ended, and what is wrong is refused where it changes.
import type { FieldErrors } from '../../api/field-errors.ts';
import { immutableDetail } from '../../api/field-errors.ts';
import {
  flagAt,
  isSet,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, ValidatedWrite } from '../validator.ts';
import { commonIndex, countIndexes } from './job-indexes.ts';

/** A status, and what its conditions say of the job. */
interface Standing {
  readonly status: Holder;
  readonly isComplete: boolean;
  readonly isFailed: boolean;
  readonly isFinished: boolean;
  /** It is to fail once its pods have ended. */
  readonly isFailing: boolean;
  /** Enough has succeeded. */
  readonly isMet: boolean;
}

interface Change {
  readonly errors: FieldErrors;
  readonly spec: JsonObject;
  readonly now: Standing;
  readonly before: Standing;
  readonly isIndexed: boolean;
}

function standingOf(status: Holder): Standing {
  const holds = (type: string): boolean =>
    recordsAt(status, 'conditions').some(
      (one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True',
    );
  const [isComplete, isFailed] = [holds('Complete'), holds('Failed')];
  const isFinished = isComplete || isFailed;
  const [isFailing, isMet] = [holds('FailureTarget'), holds('SuccessCriteriaMet')];
  return { status, isComplete, isFailed, isFinished, isFailing, isMet };
}

export function validateJobStatus(write: ValidatedWrite, spec: JsonObject): void {
  const { object, old, errors, subresource } = write;
  if (subresource !== 'status') return;
  const change: Change = {
    errors,
    spec,
    now: standingOf(recordAt(object, 'status')),
    before: standingOf(recordAt(old, 'status')),
    isIndexed: textAt(spec, 'completionMode') === 'Indexed',
  };
  validateCounts(change);
  validateConditions(change);
  validateTimes(change);
  validateEnd(change);
  validateIndexes(change);
  validateProgress(change);
  validateSuccess(change);
}

const changedIn = ({ now, before }: Change, name: string): boolean =>
  !sameJson(now.status?.[name], before.status?.[name]);

const countOf = ({ status }: Standing, name: string): number => numberAt(status, name) ?? 0;

const changedStanding = ({ now, before }: Change, name: keyof Omit<Standing, 'status'>): boolean =>
  now[name] !== before[name];

const counters = ['active', 'succeeded', 'failed', 'ready', 'terminating'];

function validateCounts({ errors, now }: Change): void {
  for (const name of counters) {
    const count = countOf(now, name);
    if (count < 0) {
      errors.invalid(`status.${name}`, count, 'must be greater than or equal to 0');
    }
  }
  const uncounted = recordAt(now.status, 'uncountedTerminatedPods');
  const seen = new Set<string>();
  for (const name of ['succeeded', 'failed']) {
    for (const [at, uid] of textsAt(uncounted, name).entries()) {
      const path = `status.uncountedTerminatedPods.${name}[${String(at)}]`;
      if (uid === '') errors.invalid(path, uid, 'must not be empty');
      else if (seen.has(uid)) errors.duplicate(path, uid);
      seen.add(uid);
    }
  }
}

const conditions = 'status.conditions';

function validateConditions(change: Change): void {
  const { errors, now } = change;
  const { isComplete, isFailed, isFailing, isMet } = now;
  const completeChanged = changedStanding(change, 'isComplete');
  const failedChanged = changedStanding(change, 'isFailed');
  if (isComplete && isFailed && (completeChanged || failedChanged)) {
    errors.invalidUnshown(conditions, 'cannot set Complete=True and Failed=true conditions');
  }
  if (isComplete && isFailing && (completeChanged || changedStanding(change, 'isFailing'))) {
    errors.invalidUnshown(conditions, 'cannot set Complete=True and FailureTarget=true conditions');
  }
  if (isFailed && !isFailing && (failedChanged || changedIn(change, 'failedIndexes'))) {
    const detail = 'cannot set Failed=True condition without the FailureTarget=true condition';
    errors.invalidUnshown(conditions, detail);
  }
  if (isComplete && !isMet && (completeChanged || changedStanding(change, 'isMet'))) {
    const detail =
      'cannot set Complete=True condition without the SuccessCriteriaMet=true condition';
    errors.invalidUnshown(conditions, detail);
  }
}

const timeOf = (status: Holder, name: string): number => Date.parse(textAt(status, name));

function validateTimes(change: Change): void {
  const { errors, now } = change;
  const { status, isComplete } = now;
  const path = 'status.completionTime';
  const hasCompletion = isSet(status, 'completionTime');
  if (changedStanding(change, 'isComplete') || changedIn(change, 'completionTime')) {
    if (hasCompletion && !isComplete) {
      const detail = 'cannot set completionTime when there is no Complete=True condition';
      errors.invalid(path, status?.['completionTime'], detail);
    }
    if (!hasCompletion && isComplete) {
      errors.required(path, 'completionTime is required for Complete jobs');
    }
  }
  const isMoved = changedIn(change, 'startTime') || changedIn(change, 'completionTime');
  if (isMoved && timeOf(status, 'completionTime') < timeOf(status, 'startTime')) {
    const detail = 'must be equal to or after `startTime`';
    errors.invalid(path, status?.['completionTime'], detail);
  }
}

/** What a job that has ended no longer has. */
function validateEnd(change: Change): void {
  const { errors, spec, now } = change;
  const { status, isFinished } = now;
  if (!isFinished) return;
  const isNews = changedStanding(change, 'isFinished');
  for (const name of ['active', 'terminating']) {
    const count = countOf(now, name);
    if (count === 0 || !(isNews || changedIn(change, name))) continue;
    errors.invalid(`status.${name}`, count, `${name}>0 is invalid for finished job`);
  }
  const isNeverStarted = flagAt(spec, 'suspend') && numberAt(spec, 'completions') === 0;
  if (
    !isSet(status, 'startTime') &&
    !isNeverStarted &&
    (isNews || changedIn(change, 'startTime'))
  ) {
    errors.required('status.startTime', 'startTime is required for finished job');
  }
  const uncounted = recordAt(status, 'uncountedTerminatedPods');
  const hasUncounted = ['succeeded', 'failed'].some((name) => textsAt(uncounted, name).length > 0);
  if (hasUncounted && (isNews || changedIn(change, 'uncountedTerminatedPods'))) {
    const detail = 'must be empty for finished job';
    errors.invalid('status.uncountedTerminatedPods', uncounted, detail);
  }
}

function validateIndexes(change: Change): void {
  const { errors, spec, now, isIndexed } = change;
  const { status } = now;
  const [isCompletedNew, isFailedNew] = [
    changedIn(change, 'completedIndexes'),
    changedIn(change, 'failedIndexes'),
  ];
  if (!isCompletedNew && !isFailedNew) return;
  const completions = numberAt(spec, 'completions');
  const [completed, failed] = [textAt(status, 'completedIndexes'), textAt(status, 'failedIndexes')];
  const hasFailed = isSet(status, 'failedIndexes');
  const perIndex = isSet(spec, 'backoffLimitPerIndex');
  const validateFormat = (name: string, text: string): void => {
    const read = countIndexes(text, completions ?? 0);
    if (completions === undefined || !('problem' in read)) return;
    errors.invalid(`status.${name}`, text, `error parsing ${name}: ${read.problem}`);
  };
  if (isCompletedNew) validateFormat('completedIndexes', completed);
  if (isFailedNew && perIndex && hasFailed) validateFormat('failedIndexes', failed);
  if (isCompletedNew && completed !== '' && !isIndexed) {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.invalid('status.completedIndexes', completed, detail);
  }
  if (isFailedNew && hasFailed && !perIndex) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.invalid('status.failedIndexes', failed, detail);
  }
  const common = commonIndex(completed, failed, completions ?? 0);
  if (common === undefined) return;
  const detail = `failedIndexes and completedIndexes overlap at index: ${String(common)}`;
  errors.invalid('status.failedIndexes', failed, detail);
}

/** What only grows, and what stays once it is there. */
function validateProgress(change: Change): void {
  const { errors, spec, now, before, isIndexed } = change;
  const ready = numberAt(now.status, 'ready');
  const isMoved = changedIn(change, 'ready') || changedIn(change, 'active');
  if (isMoved && ready !== undefined && ready > countOf(now, 'active')) {
    errors.invalid('status.ready', ready, 'cannot set more ready pods than active');
  }
  const terminal = {
    Failed: 'isFailed',
    Complete: 'isComplete',
    FailureTarget: 'isFailing',
  } as const;
  for (const [type, name] of Object.entries(terminal)) {
    if (!before[name] || now[name]) continue;
    errors.invalidUnshown(conditions, `cannot disable the terminal ${type}=True condition`);
  }
  const isElastic = isIndexed && numberAt(spec, 'completions') === numberAt(spec, 'parallelism');
  for (const name of isElastic ? ['failed'] : ['failed', 'succeeded']) {
    const count = countOf(now, name);
    if (count >= countOf(before, name)) continue;
    errors.invalid(`status.${name}`, count, `cannot decrease the ${name} counter`);
  }
  const [completed, ended] = [now.status?.['completionTime'], before.status?.['completionTime']];
  if (isSet(now.status, 'completionTime') && isSet(before.status, 'completionTime')) {
    if (completed !== ended) errors.invalid('status.completionTime', completed, immutableDetail);
  }
  const hadStarted = isSet(before.status, 'startTime');
  if (hadStarted && changedIn(change, 'startTime') && !flagAt(spec, 'suspend')) {
    errors.required('status.startTime', 'startTime cannot be removed for unsuspended job');
  }
}

function validateSuccess({ errors, spec, now, before }: Change): void {
  const { isMet, isComplete } = now;
  if (isMet && now.isFailed) {
    errors.invalidUnshown(
      conditions,
      'cannot set SuccessCriteriaMet=True and Failed=true conditions',
    );
  }
  if (isMet && now.isFailing) {
    const detail = 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions';
    errors.invalidUnshown(conditions, detail);
  }
  if (isSet(spec, 'successPolicy') && isComplete && !isMet) {
    const detail =
      'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True';
    errors.invalidUnshown(conditions, detail);
  }
  if (before.isMet && !isMet) {
    errors.invalidUnshown(conditions, 'cannot disable the SuccessCriteriaMet=True condition');
  }
  if (before.isComplete && !before.isMet && isMet) {
    const detail =
      'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions';
    errors.invalidUnshown(conditions, detail);
  }
}

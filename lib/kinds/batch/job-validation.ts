// Jobs: how completions are counted, when a job fails or succeeds, what may change and when.
import { flagAt, isSet, numberAt, recordAt, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123LabelProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { cloneJson } from '../../api/json-value.ts';
import { validatePodTemplate } from '../core/pod-spec.ts';
import { selectorMatches, validateLabelSelector } from '../label-selectors.ts';
import { changed } from '../validator.ts';
import type { Scope, ValidatedWrite, Validator } from '../validator.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.ts';
import { validateJobStatus } from './job-status.ts';

const indexesMax = 100_000;
const parallelismMax = 100_000;
const manyParallelismMax = 10_000;
const manyFailedMax = 10_000;

export const validateJob: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateJobSpec(spec, 'spec', write);
  const isManual = flagAt(spec, 'manualSelector');
  const selector = recordAt(spec, 'selector');
  if (selector === undefined) {
    if (isManual) errors.required('spec.selector');
  } else {
    if (old === undefined && !isManual) validateGenerated(selector, write);
    validateLabelSelector(selector, 'spec.selector', errors);
    const labels = recordAt(recordAt(recordAt(spec, 'template'), 'metadata'), 'labels');
    if (!selectorMatches(selector, labels)) {
      const detail = '`selector` does not match template `labels`';
      errors.invalid('spec.template.metadata.labels', labels ?? null, detail);
    }
  }
  if (old === undefined) validateHostNames(write, spec);
  else {
    validateUpdate(write, spec, recordAt(old, 'spec') ?? {});
    validateJobStatus(write, spec);
  }
};

/** A selector of the job's own uid and nothing else; who wants another says so. */
function validateGenerated(selector: JsonObject, { object, errors, naming }: ValidatedWrite): void {
  const uid = textAt(recordAt(object, 'metadata'), 'uid');
  const wanted = { [naming.resolve('batch.{kubernetes}.io/controller-uid')]: uid };
  const isOwn = sameJson(selector, { matchLabels: wanted });
  if (!isOwn) errors.invalid('spec.selector', selector, '`selector` not auto-generated');
}

/** Pods of an indexed job are named after it: `NAME-INDEX`. */
function validateHostNames({ object, errors }: ValidatedWrite, spec: JsonObject): void {
  if (textAt(spec, 'completionMode') !== 'Indexed') return;
  const name = textAt(recordAt(object, 'metadata'), 'name');
  const last = Math.max((numberAt(spec, 'completions') ?? 1) - 1, 0);
  const problems = dns1123LabelProblems(`${name}-${String(last)}`);
  if (problems.length === 0 || name === '') return;
  errors.invalid(
    'metadata.name',
    name,
    `will not able to create pod with invalid DNS label: ${name}-${String(last)}`,
  );
}

export function validateJobSpec(spec: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  const isIndexed = textAt(spec, 'completionMode') === 'Indexed';
  const completions = numberAt(spec, 'completions');
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  if (isIndexed && completions === undefined) {
    errors.required(`${path}.completions`, 'when completion mode is Indexed');
  }
  if (isIndexed && parallelism > parallelismMax) {
    const detail =
      `must be less than or equal to ${String(parallelismMax)} ` +
      'when completion mode is Indexed';
    errors.invalid(`${path}.parallelism`, parallelism, detail);
  }
  validateIndexLimits(spec, path, scope);
  if (!isIndexed) {
    for (const name of ['backoffLimitPerIndex', 'successPolicy']) {
      if (!isSet(spec, name)) continue;
      errors.invalid(`${path}.${name}`, valueAt(spec, name), 'requires indexed completion mode');
    }
  }
  const failure = recordAt(spec, 'podFailurePolicy');
  if (failure !== undefined)
    validateFailurePolicy(failure, spec, `${path}.podFailurePolicy`, scope);
  const success = recordAt(spec, 'successPolicy');
  if (success !== undefined && isIndexed) {
    validateSuccessPolicy(success, completions ?? 0, `${path}.successPolicy`, scope);
  }
  const replacement = textAt(spec, 'podReplacementPolicy');
  if (failure !== undefined && replacement !== '' && replacement !== 'Failed') {
    errors.notSupported(`${path}.podReplacementPolicy`, replacement, ['Failed']);
  }
  validateTemplate(spec, path, failure !== undefined, scope);
}

function validateTemplate(spec: JsonObject, path: string, hasPolicy: boolean, scope: Scope): void {
  const template = recordAt(spec, 'template') ?? {};
  validatePodTemplate(template, `${path}.template`, scope);
  const policy = textAt(recordAt(template, 'spec'), 'restartPolicy');
  const at = `${path}.template.spec.restartPolicy`;
  if (policy !== 'OnFailure' && policy !== 'Never') {
    if (policy === '' || policy === 'Always') {
      scope.errors.required(at, 'valid values: "OnFailure", "Never"');
    } else scope.errors.notSupported(at, policy, ['OnFailure', 'Never']);
  } else if (hasPolicy && policy !== 'Never') {
    scope.errors.invalid(
      at,
      policy,
      'only "Never" is supported when podFailurePolicy is specified',
    );
  }
}

function validateIndexLimits(spec: JsonObject, path: string, { errors }: Scope): void {
  const failed = numberAt(spec, 'maxFailedIndexes');
  const completions = numberAt(spec, 'completions');
  const perIndex = isSet(spec, 'backoffLimitPerIndex');
  const at = `${path}.maxFailedIndexes`;
  if (failed !== undefined) {
    if (!perIndex) {
      errors.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified');
    }
    if (completions !== undefined && failed > completions) {
      errors.invalid(at, failed, 'must be less than or equal to completions');
    }
    if (failed > indexesMax) {
      errors.invalid(at, failed, `must be less than or equal to ${String(indexesMax)}`);
    }
  }
  if (!perIndex || (completions ?? 0) <= indexesMax) return;
  if (failed === undefined) {
    errors.required(at, `must be specified when completions is above ${String(indexesMax)}`);
  } else if (failed > manyFailedMax) {
    errors.invalid(at, failed, `must be less than or equal to ${String(manyFailedMax)}`);
  }
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  if (parallelism > manyParallelismMax) {
    const detail =
      `must be less than or equal to ${String(manyParallelismMax)} when completions are above ` +
      `${String(indexesMax)} and used with backoff limit per index`;
    errors.invalid(`${path}.parallelism`, parallelism, detail);
  }
}

const fixed = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

function validateUpdate(write: ValidatedWrite, spec: JsonObject, old: JsonObject): void {
  const { errors, old: stored } = write;
  for (const name of fixed) {
    if (!changed(spec, old, name)) continue;
    errors.invalid(`spec.${name}`, valueAt(spec, name) ?? null, 'field is immutable');
  }
  if (changed(spec, old, 'completions')) {
    const isElastic =
      textAt(spec, 'completionMode') === 'Indexed' &&
      numberAt(spec, 'completions') === numberAt(spec, 'parallelism') &&
      isSet(spec, 'completions');
    if (!isElastic) {
      const detail =
        'field is immutable: it can be changed for Indexed jobs together with parallelism';
      errors.invalid('spec.completions', valueAt(spec, 'completions') ?? null, detail);
    }
  }
  const template = cloneJson(recordAt(spec, 'template') ?? {});
  const before = recordAt(old, 'template') ?? {};
  const neverStarted = !isSet(recordAt(stored, 'status'), 'startTime');
  if (flagAt(old, 'suspend') && neverStarted) keepDirectives(template, before);
  else if (flagAt(old, 'suspend') && write.isOn('MutableSchedulingDirectivesForSuspendedJobs')) {
    keepDirectives(template, before);
  }
  if (sameJson(template, before)) return;
  errors.invalid('spec.template', recordAt(spec, 'template'), 'field is immutable');
}

/** Takes over from `before` what a suspended job may change: where its pods run. */
function keepDirectives(template: JsonObject, before: JsonObject): void {
  const keep = (holder: string, name: string): void => {
    const into = recordAt(template, holder);
    const value = recordAt(before, holder)?.[name];
    if (into === undefined) return;
    if (value === undefined) Reflect.deleteProperty(into, name);
    else into[name] = cloneJson(value);
  };
  for (const name of ['labels', 'annotations']) keep('metadata', name);
  for (const name of ['nodeSelector', 'tolerations', 'schedulingGates']) keep('spec', name);
  const affinity = recordAt(recordAt(template, 'spec'), 'affinity');
  const old = recordAt(recordAt(before, 'spec'), 'affinity');
  if (affinity === undefined || old === undefined) {
    keep('spec', 'affinity');
    return;
  }
  const node = old['nodeAffinity'];
  if (node === undefined) delete affinity['nodeAffinity'];
  else affinity['nodeAffinity'] = cloneJson(node);
}

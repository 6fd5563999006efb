// Jobs: how completions are counted, when a job fails or succeeds, what may change and when.
import { formatOf } from '../../api/formats.ts';
import {
  asText,
  flagAt,
  isSet,
  numberAt,
  recordAt,
  recordIn,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import { dns1123LabelProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validatePodTemplate } from '../core/pod-spec.ts';
import {
  selectorMatches,
  validateLabelSelector,
  validateTemplateLabels,
} from '../label-selectors.ts';
import type { Scope, ValidatedWrite, Validator } from '../validator.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './job-policies.ts';
import { validateJobStatus } from './job-status.ts';
import { validateJobUpdate } from './job-update.ts';

const indexesMax = 100_000;
const parallelismMax = 100_000;
const manyParallelismMax = 10_000;
const manyFailedMax = 10_000;

export const validateJob: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const selector = recordAt(spec, 'selector');
  if (!flagAt(spec, 'manualSelector') && selector !== undefined) validateGenerated(selector, write);
  validateJobSpec(spec, 'spec', write);
  if (selector === undefined) errors.required('spec.selector');
  if (validateLabelSelector(selector, 'spec.selector', errors)) {
    validateTemplateLabels(spec, 'spec', errors);
  }
  validateHostNames(write, spec);
  if (old === undefined) return;
  validateJobUpdate(write, spec, recordAt(old, 'spec') ?? {});
  validateJobStatus(write, spec);
};

/** Labels of the job's own uid and name; who wants others says so. */
function validateGenerated(selector: JsonObject, write: ValidatedWrite): void {
  const { object, old, errors, naming } = write;
  const meta = recordAt(object, 'metadata');
  const uid = textAt(meta, 'uid');
  const name = textAt(meta, 'name');
  const own = {
    [naming.resolve('batch.{kubernetes}.io/controller-uid')]: uid,
    [naming.resolve('batch.{kubernetes}.io/job-name')]: name,
  };
  const before = recordIn(old, 'spec', 'template', 'metadata', 'labels');
  // Jobs from before there were names with a domain do without.
  const hasOwn = old === undefined || Object.keys(own).every((key) => isSet(before, key));
  const wanted = { 'controller-uid': uid, 'job-name': name, ...(hasOwn ? own : {}) };
  const labels = recordIn(object, 'spec', 'template', 'metadata', 'labels');
  for (const [key, value] of Object.entries(wanted)) {
    const path = `spec.template.metadata.labels[${key}]`;
    if (!isSet(labels, key)) errors.required(path, `must be '${value}'`);
    else if (textAt(labels, key) !== value) errors.invalid(path, labels, `must be '${value}'`);
  }
  if (selectorMatches(selector, wanted)) return;
  errors.invalid('spec.selector', selector, '`selector` not auto-generated');
}

/** Pods of an indexed job are named after it: `NAME-INDEX`. */
function validateHostNames({ object, errors }: ValidatedWrite, spec: JsonObject): void {
  const completions = numberAt(spec, 'completions') ?? 0;
  if (textAt(spec, 'completionMode') !== 'Indexed' || completions === 0) return;
  const name = textAt(recordAt(object, 'metadata'), 'name');
  const hostName = `${name}-${String(completions - 1)}`;
  if (dns1123LabelProblems(hostName).length === 0) return;
  const detail = `will not able to create pod with invalid DNS label: ${hostName}`;
  errors.invalid('metadata.name', name, detail);
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
  validateManagedBy(spec, path, scope);
  validateIndexLimits(spec, path, scope);
  const failure = recordAt(spec, 'podFailurePolicy');
  if (failure !== undefined)
    validateFailurePolicy(failure, spec, `${path}.podFailurePolicy`, scope);
  const success = recordAt(spec, 'successPolicy');
  if (success !== undefined) {
    const where = `${path}.successPolicy`;
    if (isIndexed) validateSuccessPolicy(success, completions ?? 0, where, scope);
    else errors.invalid(where, success, indexedDetail);
  }
  const replacement = valueAt(spec, 'podReplacementPolicy');
  const replacements = failure === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  if (replacement !== undefined && !replacements.includes(asText(replacement))) {
    errors.notSupported(`${path}.podReplacementPolicy`, replacement, replacements);
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

const managedByBytesMax = 63;
const domainPathProblems = formatOf('domainPath') ?? (() => []);

function validateManagedBy(spec: JsonObject, path: string, { errors }: Scope): void {
  if (!isSet(spec, 'managedBy')) return;
  const at = `${path}.managedBy`;
  const name = textAt(spec, 'managedBy');
  if (name === '') errors.required(at);
  else errors.problems(at, name, domainPathProblems(name));
  if (Buffer.byteLength(name) > managedByBytesMax) errors.tooLong(at, managedByBytesMax);
}

const indexedDetail = 'requires indexed completion mode';

function validateIndexLimits(spec: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  if (isSet(spec, 'maxFailedIndexes') && !isSet(spec, 'backoffLimitPerIndex')) {
    errors.required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified');
  }
  const mode = valueAt(spec, 'completionMode') ?? 'NonIndexed';
  if (mode === 'Indexed') validateFailedIndexes(spec, path, scope);
  if (mode !== 'NonIndexed') return;
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    if (!isSet(spec, name)) continue;
    errors.invalid(`${path}.${name}`, valueAt(spec, name), indexedDetail);
  }
}

function validateFailedIndexes(spec: JsonObject, path: string, { errors }: Scope): void {
  const failed = numberAt(spec, 'maxFailedIndexes');
  const completions = numberAt(spec, 'completions');
  const at = `${path}.maxFailedIndexes`;
  if (failed !== undefined && completions !== undefined && failed > completions) {
    errors.invalid(at, failed, 'must be less than or equal to completions');
  }
  if (failed !== undefined && failed > indexesMax) {
    errors.invalid(at, failed, `must be less than or equal to ${String(indexesMax)}`);
  }
  if (!isSet(spec, 'backoffLimitPerIndex') || (completions ?? 0) <= indexesMax) return;
  const many = `completions are above ${String(indexesMax)}`;
  const when = `when ${many} and used with backoff limit per index`;
  if (failed === undefined) {
    errors.required(at, `must be specified when completions is above ${String(indexesMax)}`);
  }
  const parallelism = numberAt(spec, 'parallelism') ?? 0;
  if (parallelism > manyParallelismMax) {
    const detail = `must be less than or equal to ${String(manyParallelismMax)} ${when}`;
    errors.invalid(`${path}.parallelism`, parallelism, detail);
  }
  if (failed === undefined || failed <= manyFailedMax) return;
  errors.invalid(at, failed, `must be less than or equal to ${String(manyFailedMax)} ${when}`);
}

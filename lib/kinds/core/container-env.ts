// Environment of a container: variables, their sources, and sources of many variables at once.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import { formatQuantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Scope } from '../validator.ts';
import type { PodScope } from './pod-scope.ts';
import { quantityOf } from './resource-lists.ts';
import { isHugePages } from './resource-names.ts';

const podPaths = ['metadata.name', 'metadata.namespace', 'metadata.uid'] as const;
const environmentPaths = [
  ...podPaths,
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
] as const;
/** Fields that files of a volume may show. */
export const filePaths = [...podPaths, 'metadata.labels', 'metadata.annotations'] as const;

export function validateEnvironment(container: JsonObject, path: string, scope: PodScope): void {
  for (const [at, variable] of recordsAt(container, 'env').entries()) {
    const source = recordAt(variable, 'valueFrom');
    if (source === undefined) continue;
    const where = `${path}.env[${String(at)}].valueFrom`;
    const isGiven = textAt(variable, 'value') !== '';
    validateVariableSource(source, where, { isGiven }, scope);
  }
  const where = `${path}.envFrom`;
  for (const [at, source] of recordsAt(container, 'envFrom').entries()) {
    validateSourceOfMany(source, where, `${where}[${String(at)}]`, scope);
  }
}

/** How many sources there are is reported for the list. */
function validateSourceOfMany(
  source: JsonObject,
  path: string,
  where: string,
  { errors }: PodScope,
): void {
  let count = 0;
  for (const kind of ['configMapRef', 'secretRef']) {
    const reference = recordAt(source, kind);
    if (reference === undefined) continue;
    count += 1;
    const name = textAt(reference, 'name');
    if (name === '') errors.required(`${where}.${kind}.name`);
    else errors.problems(`${where}.${kind}.name`, name, namePrefixProblems(name));
  }
  if (count === 0) {
    errors.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`');
  } else if (count > 1) {
    errors.invalid(path, '', 'may not have more than one field specified at a time');
  }
}

/** A name that may end like one to which something is added. */
const namePrefixProblems = (name: string): readonly string[] =>
  dns1123SubdomainProblems(name.length > 1 ? name.replace(/-$/, 'a') : name);

type SourceCheck = (reference: JsonObject, path: string, scope: PodScope) => void;

const validateField: SourceCheck = (reference, path, scope) => {
  validateFieldRef(reference, path, environmentPaths, scope);
};

const validateResource: SourceCheck = (reference, path, scope) => {
  validateResourceRef(reference, { path, needsContainer: false }, scope);
};

const validateKey: SourceCheck = (reference, path, { errors }) => {
  const name = textAt(reference, 'name');
  errors.problems(`${path}.name`, name, dns1123SubdomainProblems(name));
};

/** Its own members are options of the fields. */
const validateFile: SourceCheck = (reference, path, { errors, spec }) => {
  const volumeName = textAt(reference, 'volumeName');
  const at = `${path}.volumeName`;
  const volume = recordsAt(spec, 'volumes').findLast((one) => textAt(one, 'name') === volumeName);
  if (volume === undefined) errors.notFound(at, volumeName);
  else if (recordAt(volume, 'emptyDir') === undefined) {
    errors.invalid(at, volumeName, 'referenced volume must be of type emptyDir');
  }
};

const sourceKinds: readonly (readonly [kind: string, validate: SourceCheck])[] = [
  ['fieldRef', validateField],
  ['resourceFieldRef', validateResource],
  ['configMapKeyRef', validateKey],
  ['secretKeyRef', validateKey],
  ['fileKeyRef', validateFile],
];

function validateVariableSource(
  source: JsonObject,
  path: string,
  { isGiven }: { readonly isGiven: boolean },
  scope: PodScope,
): void {
  const { errors } = scope;
  let count = 0;
  for (const [kind, validate] of sourceKinds) {
    const reference = recordAt(source, kind);
    if (reference === undefined) continue;
    count += 1;
    validate(reference, `${path}.${kind}`, scope);
  }
  if (count === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, ' +
      '`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    errors.invalid(path, '', detail);
  } else if (isGiven) {
    errors.invalid(path, '', 'may not be specified when `value` is not empty');
  } else if (count > 1) {
    errors.invalid(path, '', 'may not have more than one field specified at a time');
  }
}

/** Fields of a pod that have a name for selectors, whether or not they may be shown. */
const podFields: ReadonlySet<string> = new Set([
  ...environmentPaths,
  ...filePaths,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);

/** A path into the pod, of those that exist for this use. */
export function validateFieldRef(
  reference: JsonObject,
  path: string,
  supported: readonly string[],
  { errors }: Scope,
): void {
  const given = textAt(reference, 'fieldPath');
  const fieldPath = given === 'spec.host' ? 'spec.nodeName' : given;
  const version = textAt(reference, 'apiVersion');
  const at = `${path}.fieldPath`;
  if (given === '') {
    errors.required(at);
    return;
  }
  const cannot = (why: string): void => {
    errors.invalid(at, given, `error converting fieldPath: ${why}`);
  };
  if (version !== '' && version !== 'v1') {
    cannot(`unsupported pod version: ${version}`);
    return;
  }
  const [, name, key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (name === 'metadata.labels' || name === 'metadata.annotations') {
    const text = (name === 'metadata.labels' ? key : key?.toLowerCase()) ?? '';
    errors.problems(path, text, qualifiedNameProblems(text));
  } else if (name !== undefined) {
    cannot(`field label does not support subscript: ${fieldPath}`);
  } else if (!podFields.has(fieldPath)) {
    cannot(`field label not supported: ${fieldPath}`);
  } else if (!supported.includes(fieldPath)) {
    errors.notSupported(at, fieldPath, supported);
  }
}

const amounts = ['cpu', 'memory', 'ephemeral-storage'];
const resources: readonly string[] = ['limits', 'requests'].flatMap((list) =>
  amounts.map((amount) => `${list}.${amount}`),
);
const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];
const shares = ['1m', '1'];

export function validateResourceRef(
  reference: JsonObject,
  { path, needsContainer }: { readonly path: string; readonly needsContainer: boolean },
  { errors }: Scope,
): void {
  const resource = textAt(reference, 'resource');
  const [, name = ''] = /^(?:limits|requests)\.(.*)$/s.exec(resource) ?? [];
  const isKnown = resources.includes(resource) || isHugePages(name);
  if (needsContainer && textAt(reference, 'containerName') === '') {
    errors.required(`${path}.containerName`);
  } else if (resource === '') errors.required(`${path}.resource`);
  else if (!isKnown) errors.notSupported(`${path}.resource`, resource, resources);
  const divisor = isKnown ? quantityOf(reference['divisor']) : undefined;
  if (divisor === undefined || divisor.nano === 0n) return;
  const allowed = name === 'cpu' ? shares : sizes;
  if (allowed.includes(formatQuantity(divisor))) return;
  const values = name === 'cpu' ? '1m and 1' : sizes.join(', ');
  const detail = `only divisor's values ${values} are supported with the ${titleOf(name)} resource`;
  errors.invalid(`${path}.divisor`, resource, detail);
}

function titleOf(name: string): string {
  if (isHugePages(name)) return 'hugepages';
  return name === 'ephemeral-storage' ? 'local ephemeral storage' : name;
}

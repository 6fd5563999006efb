// Environment of a container: variables, their sources, and sources of many variables at once.
import { isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
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
  const { errors } = scope;
  for (const [at, variable] of recordsAt(container, 'env').entries()) {
    const source = recordAt(variable, 'valueFrom');
    if (source === undefined) continue;
    const where = `${path}.env[${String(at)}].valueFrom`;
    const kinds = [
      'fieldRef',
      'resourceFieldRef',
      'configMapKeyRef',
      'secretKeyRef',
      'fileKeyRef',
    ].filter((kind) => isSet(source, kind));
    if (kinds.length === 0) {
      const detail =
        'must specify one of: `fieldRef`, `resourceFieldRef`, ' +
        '`configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
      errors.invalid(where, '', detail);
    } else if (kinds.length > 1) {
      errors.invalid(where, '', 'may not have more than one field specified at a time');
    }
    if (textAt(variable, 'value') !== '') {
      errors.invalid(where, '', 'may not be specified when `value` is not empty');
    }
    validateSource(source, where, scope);
  }
  for (const [at, source] of recordsAt(container, 'envFrom').entries()) {
    for (const kind of ['configMapRef', 'secretRef']) {
      const reference = recordAt(source, kind);
      if (reference === undefined) continue;
      const where = `${path}.envFrom[${String(at)}].${kind}.name`;
      const name = textAt(reference, 'name');
      if (name === '') errors.required(where);
      else errors.problems(where, name, dns1123SubdomainProblems(name));
    }
  }
}

function validateSource(source: JsonObject, path: string, scope: PodScope): void {
  const { errors } = scope;
  const field = recordAt(source, 'fieldRef');
  if (field !== undefined) {
    validateFieldRef(field, `${path}.fieldRef`, environmentPaths, scope);
  }
  const resource = recordAt(source, 'resourceFieldRef');
  if (resource !== undefined) {
    validateResourceRef(
      resource,
      { path: `${path}.resourceFieldRef`, needsContainer: false },
      scope,
    );
  }
  for (const kind of ['configMapKeyRef', 'secretKeyRef']) {
    const reference = recordAt(source, kind);
    if (reference === undefined) continue;
    const name = textAt(reference, 'name');
    errors.problems(`${path}.${kind}.name`, name, dns1123SubdomainProblems(name));
  }
  const file = recordAt(source, 'fileKeyRef');
  const volume = textAt(file, 'volumeName');
  if (volume === '') return;
  const found = scope.volumes.get(volume);
  if (found === undefined) errors.notFound(`${path}.fileKeyRef.volumeName`, volume);
  else if (!isSet(found, 'emptyDir')) {
    errors.invalid(
      `${path}.fileKeyRef.volumeName`,
      volume,
      'referenced volume must be of type emptyDir',
    );
  }
}

/** A path into the pod, of those that exist for this use. */
export function validateFieldRef(
  reference: JsonObject,
  path: string,
  supported: readonly string[],
  { errors }: Scope,
): void {
  const fieldPath = textAt(reference, 'fieldPath');
  const version = textAt(reference, 'apiVersion');
  if (version !== '' && version !== 'v1') {
    errors.invalid(`${path}.apiVersion`, version, 'must be v1');
  }
  if (fieldPath === '') return;
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath);
  if (subscript !== null) {
    const key = subscript[2] ?? '';
    const text = subscript[1] === 'labels' ? key : key.toLowerCase();
    errors.problems(`${path}.fieldPath`, fieldPath, qualifiedNameProblems(text));
    return;
  }
  if (!supported.includes(fieldPath)) {
    errors.notSupported(`${path}.fieldPath`, fieldPath, supported);
  }
}

const amounts = ['cpu', 'memory', 'ephemeral-storage'];
const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

export function validateResourceRef(
  reference: JsonObject,
  { path, needsContainer }: { readonly path: string; readonly needsContainer: boolean },
  { errors }: Scope,
): void {
  if (needsContainer && textAt(reference, 'containerName') === '') {
    errors.required(`${path}.containerName`);
  }
  const resource = textAt(reference, 'resource');
  if (resource === '') return;
  const [kind = '', ...rest] = resource.split('.');
  const name = rest.join('.');
  const isKnown =
    (kind === 'limits' || kind === 'requests') && (amounts.includes(name) || isHugePages(name));
  if (!isKnown) {
    const supported = ['limits', 'requests'].flatMap((one) =>
      amounts.map((amount) => `${one}.${amount}`),
    );
    errors.notSupported(`${path}.resource`, resource, supported);
    return;
  }
  const divisor = quantityOf(reference['divisor']);
  if (divisor === undefined || divisor.nano === 0n) return;
  const text = formatQuantity(divisor);
  const allowed = name === 'cpu' ? ['1m', '1'] : sizes;
  if (allowed.includes(text)) return;
  const detail =
    `only divisor's values ${allowed.join(', ')} are supported ` + `with the ${name} resource`;
  errors.invalid(`${path}.divisor`, text, detail);
}

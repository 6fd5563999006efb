// The namespace of a request, and whether selectors of configurations select a request by the
// labels of its namespace and of its object.
import { recordAt } from '../../api/json-access.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { notFound } from '../../base/status.ts';
import type { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { findObject } from '../objects.ts';
import type { Objects } from '../objects.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { Criteria } from './criteria.ts';
import type { Labels } from './selector.ts';

const isOfNamespaces = ({ resource }: Pick<AdmissionRequest, 'resource'>): boolean =>
  resource.resource === 'namespaces' && resource.group === '';

/** As reviews and expressions are told it: of a Namespace its own name. */
export const namespaceOf = (
  request: Pick<AdmissionRequest, 'resource' | 'namespace' | 'name'>,
): string => (isOfNamespaces(request) ? request.name : request.namespace);

/** Its own labels are what counts: they may not be stored yet. */
const bringsItsLabels = (request: AdmissionRequest): boolean =>
  isOfNamespaces(request) &&
  request.subresource === '' &&
  (request.operation === 'CREATE' || request.operation === 'UPDATE');

/** `absent`: the request is in none, or brings its own. An error: it should be there and is not. */
export type StoredNamespace = Readonly<ApiObject> | StatusError | 'absent';

/** The stored namespace by whose labels a request is selected; a promise where it is read. */
export function storedNamespace(
  request: AdmissionRequest,
  namespaces: Objects | undefined,
  signal: AbortSignal,
): MaybePromise<StoredNamespace> {
  const name = namespaceOf(request);
  if (name === '' || namespaces === undefined || bringsItsLabels(request)) return 'absent';
  return whenThere(
    findObject(namespaces, { namespace: '', name }, signal),
    (found) => found ?? notFound({ group: '', resource: 'namespaces' }, name),
  );
}

/**
 * Whether both selectors select a request whose rules fit. `object` is as it is now.
 * @throws StatusError 404 where the namespace is not there, 500 for a selector that is wrong
 */
export function selects(
  criteria: Criteria,
  request: AdmissionRequest,
  object: Readonly<ApiObject> | undefined,
  namespace: StoredNamespace,
): boolean {
  const { namespaceSelector, objectSelector } = criteria;
  if (!namespaceSelector.isEmpty) {
    if (namespace === 'absent') {
      if (bringsItsLabels(request) && !namespaceSelector.matches(labelsOf(object))) return false;
    } else if (namespace instanceof Error) throw namespace;
    else if (!namespaceSelector.matches(labelsOfStored(namespace))) return false;
  }
  if (objectSelector.isEmpty) return true;
  return hasLabels(object, objectSelector) || hasLabels(request.old, objectSelector);
}

/** Options of a connection have no metadata: nothing but the empty selector selects them. */
const hasLabels = (
  object: Readonly<ApiObject> | undefined,
  selector: Criteria['objectSelector'],
): boolean => recordAt(object, 'metadata') !== undefined && selector.matches(labelsOf(object));

export const labelsOf = (object: Readonly<ApiObject> | undefined): Labels =>
  recordAt(recordAt(object, 'metadata'), 'labels');

/** Thousands of selectors are asked about the same namespace in a row; it never changes. */
let last: { readonly namespace: Readonly<ApiObject>; readonly labels: Labels } | undefined;

export function labelsOfStored(namespace: Readonly<ApiObject>): Labels {
  if (last?.namespace !== namespace) last = { namespace, labels: labelsOf(namespace) };
  return last.labels;
}

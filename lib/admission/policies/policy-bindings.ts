// What the variables of a policy's expressions stand for.
import { apiVersionOf } from '../../api/type-info.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Bindings } from '../../cel/program.ts';
import { namespaceOf } from '../match/namespace.ts';
import type { StoredNamespace } from '../match/namespace.ts';
import { requestRecord } from '../match/request-record.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { Versioned } from '../match/versioned-objects.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { Selected } from './matched.ts';
import { namespaceObject } from './namespace-object.ts';
import type { Param } from './params.ts';

/** Conditions see the resource as the request names it, in the kind that the policy matched. */
export function originalRecord(
  request: AdmissionRequest,
  as: MatchedAs | undefined,
): Readonly<JsonObject> {
  const record = requestRecord(request, as);
  return as === undefined ? record : { ...record, resource: record['requestResource'] ?? null };
}

/** @throws StatusError 404 where the namespace of the request is not there */
export function bindingsOf(
  { request, namespace }: Pick<Selected, 'request' | 'namespace'>,
  of: { readonly versioned: Versioned; readonly as: MatchedAs | undefined; readonly param: Param },
): Bindings {
  const { versioned, as, param } = of;
  const { resource, subresource, name } = request;
  return {
    object: versioned.object ?? null,
    oldObject: versioned.oldObject ?? null,
    request: requestRecord(request, as),
    namespaceObject: shownNamespace(request, namespace),
    params: param,
    'authorizer.requestResource': {
      apiGroup: resource.group,
      resource: resource.resource,
      subresource,
      namespace: namespaceOf(request),
      name,
    },
  };
}

function shownNamespace(
  { kind }: AdmissionRequest,
  namespace: StoredNamespace,
): Readonly<JsonObject> | null {
  if (namespace === 'absent' || isNamespaceKind(kind)) return null;
  if (namespace instanceof Error) throw namespace;
  return namespaceObject(namespace);
}

const isNamespaceKind = (kind: AdmissionRequest['kind']): boolean =>
  apiVersionOf(kind) === 'v1' && kind.kind === 'Namespace';

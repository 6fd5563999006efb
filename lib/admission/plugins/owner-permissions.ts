// OwnerReferencesPermissionEnforcement: who changes the owners of an object could as well delete
// it, and who lets it hold up the deletion of an owner could as well put a finalizer on that.
import { flagAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Attributes } from '../../authz/authorizer.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { recordAt } from '../../api/json-access.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

type Parts = Pick<PluginParts, 'authorizer' | 'scheme'>;

export const ownerPermissions = (parts: Parts): AdmissionPlugin => ({
  name: 'OwnerReferencesPermissionEnforcement',
  sideEffects: false,
  handles: ({ operation, resource, subresource }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    !(resource.group === '' && resource.resource === 'pods' && subresource === 'status'),
  validate(request, object, signal) {
    if (object === undefined || sameJson(ownersOf(object), ownersOf(request.old))) return;
    return mustBeAllowed(parts, request, object, signal);
  },
});

const ownersOf = (object: Readonly<ApiObject> | undefined): JsonObject[string] =>
  valueAt(recordAt(object, 'metadata'), 'ownerReferences') ?? [];

const blockingOf = (object: Readonly<ApiObject> | undefined): readonly JsonObject[] =>
  recordsAt(recordAt(object, 'metadata'), 'ownerReferences').filter((owner) =>
    flagAt(owner, 'blockOwnerDeletion'),
  );

/** @throws StatusError 403 */
async function mustBeAllowed(
  parts: Parts,
  request: AdmissionRequest,
  object: Readonly<ApiObject>,
  signal: AbortSignal,
): Promise<void> {
  const refuse = (text: string): never => {
    throw refusal(request, object, text);
  };
  const reasonAgainst = async (asked: Asked): Promise<string | undefined> => {
    const attributes = attributesOf(request, asked);
    const { effect, reason, error } = await parts.authorizer.authorize(attributes, signal);
    return effect === 'allow' ? undefined : `${reason}, ${error ?? '<nil>'}`;
  };
  if (request.operation === 'UPDATE') {
    const { group, version, resource } = request.resource;
    const { namespace, name, subresource } = request;
    const of = { verb: 'delete', group, version, resource, subresource, namespace, name };
    const reason = await reasonAgainst(of);
    if (reason !== undefined) {
      refuse(`cannot set an ownerRef on a resource you can't delete: ${reason}`);
    }
  }
  const before = new Set(blockingOf(request.old).map((owner) => textAt(owner, 'uid')));
  const blocking = blockingOf(object).filter((owner) => !before.has(textAt(owner, 'uid')));
  if (blocking.length === 0 || (await reasonAgainst(allFinalizers)) === undefined) return;
  for (const owner of blocking) {
    const asked = finalizersOf(parts, request, owner);
    if (asked === undefined) {
      const [apiVersion, kind] = [textAt(owner, 'apiVersion'), textAt(owner, 'kind')];
      return refuse(
        'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for ' +
          `APIVersion ${apiVersion} Kind ${kind}`,
      );
    }
    const reason = await reasonAgainst(asked);
    if (reason === undefined) continue;
    refuse(
      'cannot set blockOwnerDeletion if an ownerReference refers to a resource you ' +
        `can't set finalizers on: ${reason}`,
    );
  }
}

type Asked = Pick<
  Attributes,
  'verb' | 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'
>;

const allFinalizers: Asked = {
  verb: 'update',
  group: '*',
  version: '*',
  resource: '*',
  subresource: 'finalizers',
  namespace: '',
  name: '',
};

/** undefined: the server does not know the kind. */
function finalizersOf(
  { scheme }: Parts,
  request: AdmissionRequest,
  owner: JsonObject,
): Asked | undefined {
  const [group, version] = splitVersion(textAt(owner, 'apiVersion'));
  const found = scheme.resourceOfKind({ group, version, kind: textAt(owner, 'kind') });
  if (found === undefined) return undefined;
  const { resource, namespaced } = found;
  const namespace = namespaced ? request.namespace : '';
  const name = textAt(owner, 'name');
  return { ...allFinalizers, group, version, resource, namespace, name };
}

function splitVersion(apiVersion: string): readonly [string, string] {
  const slash = apiVersion.indexOf('/');
  return [apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1)];
}

const attributesOf = ({ user }: AdmissionRequest, asked: Asked): Attributes => ({
  user,
  isResourceRequest: true,
  ...asked,
  fieldSelector: undefined,
  labelSelector: undefined,
  path: '',
});

// Claims of volumes and slices of devices, as nodes write them: how far a claim's expansion is, and
// which devices the node itself has.
import { recordAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { NodeWrite, NodeWriteRows } from './node-write.ts';

export const nodeRestrictionVolumes = (): NodeWriteRows => ({
  persistentvolumeclaims: { group: '', check: checkClaim },
  resourceslices: { group: 'resource.{v}', check: checkSlice },
});

function checkClaim({ node, request, object, refuse }: NodeWrite): void {
  const { operation, subresource, old } = request;
  if (subresource !== 'status') refuse('may only update PVC status');
  if (operation !== 'UPDATE') refuse(`unexpected operation ${JSON.stringify(operation)}`);
  if (object === undefined || old === undefined || sameJson(rest(object), rest(old))) return;
  refuse(
    `node ${JSON.stringify(node)} is not allowed to update fields other than ` +
      'status.quantity and status.conditions',
  );
}

/** What nodes leave alone, without what the server notes of a write. */
const rest = (claim: Readonly<ApiObject>): JsonObject => ({
  ...without(claim, 'kind', 'apiVersion'),
  metadata: without(claim.metadata ?? {}, 'resourceVersion', 'managedFields'),
  status: without(
    recordAt(claim, 'status') ?? {},
    'capacity',
    'conditions',
    'allocatedResources',
    'allocatedResourceStatuses',
  ),
});

/** What is there already, authorization has looked at; a deletion of many names none. */
function checkSlice({ node, request, object, refuse }: NodeWrite): void {
  const { operation, old } = request;
  const isOwn = (slice: Readonly<ApiObject> | undefined): boolean =>
    textAt(recordAt(slice, 'spec'), 'nodeName') === node;
  const tail = 'ResourceSlice with the same NodeName as the requesting node';
  if (operation === 'CREATE' && !isOwn(object)) refuse(`can only create ${tail}`);
  if (operation === 'DELETE' && !isOwn(old)) refuse(`can only delete ${tail}`);
}

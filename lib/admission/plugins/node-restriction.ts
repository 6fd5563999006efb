// NodeRestriction: a node writes itself, the pods that are bound to it and what goes with them, and
// nothing of it that would let it choose its pods or reach for objects of others. Who is no node,
// and resources that are not here, are left to authorization.
import { nodeOfUser } from '../../base/user.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';
import { nodeRestrictionNodes } from './node-restriction-nodes.ts';
import { nodeRestrictionPods } from './node-restriction-pods.ts';
import { nodeRestrictionRequests } from './node-restriction-requests.ts';
import { nodeRestrictionTokens } from './node-restriction-tokens.ts';
import { nodeRestrictionVolumes } from './node-restriction-volumes.ts';
import type { CheckNodeWrite, NodeWriteRows } from './node-write.ts';

export function nodeRestriction(parts: PluginParts): AdmissionPlugin {
  const rows = new Map<string, { readonly group: string; readonly check: CheckNodeWrite }>();
  for (const [resource, { group, check }] of Object.entries(rowsOf(parts))) {
    rows.set(resource, { group: parts.naming.resolve(group), check });
  }
  const restrict = (
    request: AdmissionRequest,
    object: Readonly<ApiObject> | undefined,
    signal: AbortSignal,
  ): MaybePromise<void> => {
    const node = nodeOfUser(request.user);
    if (node === undefined) return;
    if (node === '') {
      const user = JSON.stringify(request.user.name);
      throw refusal(request, object, `could not determine node from user ${user}`);
    }
    const row = rows.get(request.resource.resource);
    if (row?.group !== request.resource.group) return;
    const refuse = (text: string): never => {
      throw refusal(request, object, text);
    };
    return row.check({ node, request, object, signal, refuse });
  };
  return {
    name: 'NodeRestriction',
    sideEffects: false,
    handles: ({ operation, user }) => operation !== 'CONNECT' && nodeOfUser(user) !== undefined,
    // What plugins after it add to a node's write is not the node's.
    mutate(request, object, signal) {
      const done = restrict(request, object, signal);
      return done instanceof Promise ? done.then(() => false) : false;
    },
    validate(request, object, signal) {
      if (request.operation === 'DELETE') return restrict(request, object, signal);
    },
  };
}

const rowsOf = (parts: PluginParts): NodeWriteRows => ({
  ...nodeRestrictionPods(parts),
  ...nodeRestrictionNodes(parts),
  ...nodeRestrictionVolumes(),
  ...nodeRestrictionTokens(parts),
  ...nodeRestrictionRequests(parts),
});

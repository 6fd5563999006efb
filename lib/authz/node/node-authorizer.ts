// The authorizer of nodes: a node reads what its pods need and writes what it reports; the rest is
// by the rules that all nodes have. It has no opinion about anybody else, and never denies. What an
// object may become that a node may write, NodeRestriction says (lib/admission).
import { recordAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { nodeOfUser } from '../../base/user.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import type { Attributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts';
import { allows } from '../rbac/rules.ts';
import type { PolicyRule } from '../../kinds/rbac/policy-rules.ts';
import type { NodeGraph, TargetKind } from './node-graph.ts';

/** Objects that say themselves which node they belong to; undefined: they are not served. */
interface BoundViews {
  readonly pods: ResourceView;
  readonly volumeAttachments: ResourceView | undefined;
  readonly resourceSlices: ResourceView | undefined;
  readonly podCertificateRequests: ResourceView | undefined;
}

export interface NodeAuthorizerOptions {
  readonly graph: NodeGraph;
  readonly views: BoundViews;
  readonly rules: readonly PolicyRule[];
  readonly naming: NamingProfile;
  readonly gates: { isEnabled(gate: string): boolean };
}

type Decide = (node: string, asked: Attributes) => Decision;

interface Row {
  readonly group: string;
  readonly decide: Decide;
}

const allowed: Decision = { effect: 'allow', reason: '' };
const silent: Decision = { effect: 'noOpinion', reason: '' };
const because = (reason: string): Decision => ({ effect: 'noOpinion', reason });

const unresolved: ResolvedRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
};
const noRules: ResolvedRules = { ...unresolved, incomplete: false, evaluationError: '' };

export function nodeAuthorizer(options: NodeAuthorizerOptions): Authorizer {
  const { rules } = options;
  const rows = rowsOf(options);
  return {
    name: 'Node',
    authorize(asked) {
      const node = nodeOfUser(asked.user);
      if (node === undefined) return silent;
      if (node === '') return because(`unknown node for user ${JSON.stringify(asked.user.name)}`);
      const row = asked.isResourceRequest ? rows.get(asked.resource) : undefined;
      if (row?.group === asked.group) return row.decide(node, asked);
      return rules.some((rule) => allows(rule, asked)) ? allowed : silent;
    },
    rulesFor: (user) => (nodeOfUser(user) === undefined ? noRules : unresolved),
  };
}

/** By plural name; each name is of one group alone. */
function rowsOf({ graph, views, naming, gates }: NodeAuthorizerOptions): ReadonlyMap<string, Row> {
  const needed =
    (kind: TargetKind): IsRelated =>
    (node, asked) =>
      graph.needs(node, kind, asked);
  const get = (isRelated: IsRelated): Decide => decideGet(isRelated);
  const row = (group: string, decide: Decide): Row => ({ group: naming.resolve(group), decide });
  const readsAccounts =
    gates.isEnabled('KubeletServiceAccountTokenForCredentialProviders') ||
    gates.isEnabled('PodCertificateRequest');
  const ofClaim = needed('volumeClaim');
  return new Map([
    ['secrets', row('', decideRead(needed('secret')))],
    ['configmaps', row('', decideRead(needed('configMap')))],
    ['persistentvolumeclaims', row('', decideClaim(ofClaim))],
    [
      'persistentvolumes',
      row(
        '',
        get((node, { name }) => graph.needsVolume(node, name)),
      ),
    ],
    ['resourceclaims', row('resource.{v}', get(needed('resourceClaim')))],
    ['volumeattachments', row('storage.{v}', get(attachedTo(views.volumeAttachments)))],
    ['serviceaccounts', row('', decideAccount(needed('serviceAccount'), readsAccounts))],
    ['leases', row('coordination.{v}', decideLease(naming.nodeLeaseNamespace))],
    ['csinodes', row('storage.{v}', decideDriverNode)],
    ['resourceslices', row('resource.{v}', decideSlice(onNode(views.resourceSlices)))],
    ['nodes', row('', decideNode)],
    ['pods', row('', decidePod(onNode(views.pods)))],
    [
      'podcertificaterequests',
      row(
        'certificates.{v}',
        gates.isEnabled('PodCertificateRequest')
          ? decideCertificate(onNode(views.podCertificateRequests))
          : () => silent,
      ),
    ],
  ]);
}

type IsRelated = (node: string, asked: Attributes) => boolean;

const nodeField = 'spec.nodeName';

const onNode =
  (view: ResourceView | undefined): IsRelated =>
  (node, asked) =>
    view?.peek(asked)?.field(nodeField) === node;

/** No field of theirs is selectable, so the object says it. */
const attachedTo =
  (view: ResourceView | undefined): IsRelated =>
  (node, asked) => {
    const item = view?.peek(asked);
    if (item === undefined || item.corrupted) return false;
    return textAt(recordAt(item.object(), 'spec'), 'nodeName') === node;
  };

function related(isRelated: IsRelated, node: string, asked: Attributes): Decision {
  if (asked.name === '') return because('No Object name found');
  if (isRelated(node, asked)) return allowed;
  return because(`no relationship found between node '${node}' and this object`);
}

const decideGet =
  (isRelated: IsRelated): Decide =>
  (node, asked) => {
    if (asked.verb !== 'get') return because('can only get individual resources of this type');
    if (asked.subresource !== '') return because('cannot get subresource');
    return related(isRelated, node, asked);
  };

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const changeVerbs: ReadonlySet<string> = new Set(['update', 'patch']);
const ownVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete']);

/** Lists and watches, too, of the one object that their field selector names. */
const decideRead =
  (isRelated: IsRelated): Decide =>
  (node, asked) => {
    if (!readVerbs.has(asked.verb)) return because('can only read resources of this type');
    if (asked.subresource !== '') return because('cannot read subresource');
    if (asked.namespace === '') return because('can only read namespaced object of this type');
    return related(isRelated, node, asked);
  };

/** Nodes tell the progress of a claim's expansion in its status. */
const decideClaim = (isRelated: IsRelated): Decide => {
  const get = decideGet(isRelated);
  return (node, asked) => {
    if (asked.subresource !== 'status') return get(node, asked);
    if (!changeVerbs.has(asked.verb)) return because('can only get/update/patch this type');
    return related(isRelated, node, asked);
  };
};

const decideAccount = (isRelated: IsRelated, readsAccounts: boolean): Decide => {
  const read = decideRead(isRelated);
  return (node, asked) => {
    if (asked.verb === 'get' && asked.subresource === '') {
      return readsAccounts ? read(node, asked) : because('not allowed to get service accounts');
    }
    if (asked.verb !== 'create' || asked.name === '') {
      return because('can only create tokens for individual service accounts');
    }
    if (asked.subresource !== 'token') {
      return because('can only create token subresource of serviceaccount');
    }
    return related(isRelated, node, asked);
  };
};

/** The name of what is created is in its body, which admission sees. */
const isOwnOrNew = (node: string, { verb, name }: Attributes): boolean =>
  verb === 'create' || name === node;

const decideLease =
  (leaseNamespace: string): Decide =>
  (node, asked) => {
    if (!ownVerbs.has(asked.verb)) {
      return because('can only get, create, update, patch, or delete a node lease');
    }
    if (asked.namespace !== leaseNamespace) {
      const named = JSON.stringify(leaseNamespace);
      return because(`can only access leases in the ${named} system namespace`);
    }
    if (isOwnOrNew(node, asked)) return allowed;
    return because('can only access node lease with the same name as the requesting node');
  };

const decideDriverNode: Decide = (node, asked) => {
  if (!ownVerbs.has(asked.verb)) {
    return because('can only get, create, update, patch, or delete a CSINode');
  }
  if (asked.subresource !== '') return because('cannot authorize CSINode subresources');
  if (isOwnOrNew(node, asked)) return allowed;
  return because('can only access CSINode with the same name as the requesting node');
};

/** Whether a field selector leaves nothing but what is on the node. */
function selectsNode({ fieldSelector }: Attributes, node: string): boolean {
  if (fieldSelector === undefined || 'rawSelector' in fieldSelector) return false;
  return fieldSelector.requirements.some(
    ({ key, operator, values }) =>
      key === nodeField && operator === 'in' && values.length === 1 && values[0] === node,
  );
}

const decideSlice =
  (isRelated: IsRelated): Decide =>
  (node, asked) => {
    if (asked.subresource !== '') return because('cannot authorize ResourceSlice subresources');
    switch (asked.verb) {
      case 'create':
        return allowed;
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return related(isRelated, node, asked);
      case 'watch':
      case 'list':
      case 'deletecollection':
        if (selectsNode(asked, node)) return allowed;
        return because(
          'can only list/watch/deletecollection resourceslices with nodeName field selector',
        );
      default:
        return because(
          'only the following verbs are allowed for a ResourceSlice: ' +
            'get, watch, list, create, update, patch, delete, deletecollection',
        );
    }
  };

const decideCertificate =
  (isRelated: IsRelated): Decide =>
  (node, asked) => {
    if (asked.subresource !== '') {
      return because('nodes may not access the status subresource of PodCertificateRequests');
    }
    switch (asked.verb) {
      case 'create':
        return allowed;
      case 'get':
        return related(isRelated, node, asked);
      case 'list':
      case 'watch':
        if (selectsNode(asked, node)) return allowed;
        return because('can only list/watch podcertificaterequests with nodeName field selector');
      default:
        return silent;
    }
  };

/** By name, not by what there is, so that a node can look for itself before it registers. */
const decideNode: Decide = (node, { subresource, verb, name }) => {
  if (subresource === 'status') return changeVerbs.has(verb) ? allowed : silent;
  if (subresource !== '') return silent;
  if (verb === 'create' || changeVerbs.has(verb)) return allowed;
  if (!readVerbs.has(verb)) return silent;
  if (name === node) return allowed;
  const others = name === '' ? 'all nodes' : `'${name}'`;
  return because(`node '${node}' cannot read ${others}, only its own Node object`);
};

const decidePod =
  (isRelated: IsRelated): Decide =>
  (node, asked) => {
    const { subresource, verb } = asked;
    if (subresource === 'status') return changeVerbs.has(verb) ? allowed : silent;
    if (subresource === 'eviction') return verb === 'create' ? allowed : silent;
    if (subresource !== '') return silent;
    switch (verb) {
      case 'create': // of what the node runs by itself
      case 'delete':
        return allowed;
      case 'get':
        return related(isRelated, node, asked);
      case 'list':
      case 'watch':
        if (selectsNode(asked, node)) return allowed;
        if (asked.name !== '') return related(isRelated, node, asked);
        return because('can only list/watch pods with spec.nodeName field selector');
      default:
        return silent;
    }
  };

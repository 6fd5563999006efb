// Nodes, their leases and CSINodes, as nodes write them: each its own alone, and none of the
// labels, taints and owners by which others choose or remove it.
import { isSet, recordAt, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { PluginParts } from '../plugin-parts.ts';
import type { NodeWrite, NodeWriteRows } from './node-write.ts';

type NodeObject = Readonly<ApiObject> | undefined;

export function nodeRestrictionNodes({ naming }: Pick<PluginParts, 'naming'>): NodeWriteRows {
  const isForbidden = forbiddenLabels(naming);
  const { nodeLeaseNamespace } = naming;
  const leases = JSON.stringify(nodeLeaseNamespace);
  return {
    nodes: { group: '', check: (write) => checkNode(write, isForbidden) },
    leases: {
      group: 'coordination.{v}',
      check({ node, request, refuse }) {
        if (request.namespace !== nodeLeaseNamespace) {
          refuse(`can only access leases in the ${leases} system namespace`);
        }
        if (request.name === node) return;
        refuse('can only access node lease with the same name as the requesting node');
      },
    },
    csinodes: {
      group: 'storage.{v}',
      check({ node, request, refuse }) {
        if (request.name === node) return;
        refuse('can only access CSINode with the same name as the requesting node');
      },
    },
  };
}

function checkNode(
  { node, request, object, refuse }: NodeWrite,
  isForbidden: (label: string) => boolean,
): void {
  const { operation, name, old } = request;
  const quoted = JSON.stringify(node);
  if (name !== node) {
    refuse(`node ${quoted} is not allowed to modify node ${JSON.stringify(name)}`);
  }
  const labels = changedLabels(object, old).filter(isForbidden).join(', ');
  const [now, before] = [recordAt(object, 'spec'), recordAt(old, 'spec')];
  if (operation === 'CREATE') {
    if (isSet(now, 'configSource')) {
      refuse(`node ${quoted} is not allowed to create pods with a non-nil configSource`);
    }
    if (labels === '') return;
    refuse(`node ${quoted} is not allowed to set the following labels: ${labels}`);
  }
  if (operation !== 'UPDATE') return;
  const isSame = (member: string): boolean =>
    sameJson(valueAt(now, member), valueAt(before, member));
  // A node may drop the field, as older ones do that do not know it.
  if (isSet(now, 'configSource') && !isSame('configSource')) {
    refuse(`node ${quoted} is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!isSame('taints')) refuse(`node ${quoted} is not allowed to modify taints`);
  if (!sameJson(ownersOf(object), ownersOf(old))) {
    refuse(`node ${quoted} is not allowed to modify ownerReferences`);
  }
  if (labels !== '') refuse(`is not allowed to modify labels: ${labels}`);
}

const ownersOf = (node: NodeObject): ReturnType<typeof valueAt> =>
  valueAt(recordAt(node, 'metadata'), 'ownerReferences');

/** Keys of labels that are new, gone or other, in order. */
function changedLabels(object: NodeObject, old: NodeObject): readonly string[] {
  const [now, before] = [labelsOf(object), labelsOf(old)];
  const keys = new Set([...Object.keys(now ?? {}), ...Object.keys(before ?? {})]);
  const isChanged = (key: string): boolean =>
    isSet(now, key) !== isSet(before, key) || textAt(now, key) !== textAt(before, key);
  return [...keys].filter(isChanged).sort();
}

const labelsOf = (of: NodeObject): ReturnType<typeof recordAt> =>
  recordAt(recordAt(of, 'metadata'), 'labels');

/** Labels of the system's domains that nodes set of themselves. */
const ownLabels = [
  '{kubernetes}.io/hostname',
  '{kubernetes}.io/os',
  '{kubernetes}.io/arch',
  'beta.{kubernetes}.io/instance-type',
  'beta.{kubernetes}.io/os',
  'beta.{kubernetes}.io/arch',
  'failure-domain.beta.{kubernetes}.io/region',
  'failure-domain.beta.{kubernetes}.io/zone',
  'topology.{kubernetes}.io/region',
  'topology.{kubernetes}.io/zone',
] as const;
const ownDomains = ['kubelet.{kubernetes}.io', 'node.{kubernetes}.io'] as const;
const systemDomains = ['{kubernetes}.io', '{v}'] as const;

/** Labels that are for administrators, and those of the system that no node sets. */
function forbiddenLabels(naming: NamingProfile): (label: string) => boolean {
  const resolved = (texts: readonly string[]): string[] => texts.map((one) => naming.resolve(one));
  const own = new Set(resolved(ownLabels));
  const restricted = resolved(['node-restriction.{kubernetes}.io']);
  const [ofNodes, ofSystem] = [resolved(ownDomains), resolved(systemDomains)];
  return (label) => {
    const slash = label.indexOf('/');
    const domain = label.slice(0, Math.max(slash, 0));
    const isBelow = (domains: readonly string[]): boolean =>
      domains.some((one) => domain === one || domain.endsWith(`.${one}`));
    return isBelow(restricted) || (isBelow(ofSystem) && !own.has(label) && !isBelow(ofNodes));
  };
}

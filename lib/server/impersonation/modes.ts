// The ways in which one user may act as another, from the narrowest to the widest: each is a pair
// of permissions, to be that user and to do what the request does as them. `impersonate` is the
// widest: it is one permission, to do everything as them.
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { serviceAccountGroups, serviceAccountUser } from '../../base/user.ts';
import type { User } from '../../base/user.ts';
import type { WantedUser } from './wanted-user.ts';

export type ConstrainedMode = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info';

/** Who a name may stand for beside a plain user. */
export interface KnownName {
  /** undefined: it is no name of a node's user. */
  readonly node: string | undefined;
  readonly account: { readonly namespace: string; readonly name: string } | undefined;
}

const nodePrefix = 'system:node:';
const accountPrefix = serviceAccountUser('', '').slice(0, -1);

export function knownName(name: string): KnownName {
  const node = name.startsWith(nodePrefix) ? name.slice(nodePrefix.length) : undefined;
  const isNode = node !== undefined && dns1123SubdomainProblems(node).length === 0;
  return { node: isNode ? node : undefined, account: accountOf(name) };
}

function accountOf(user: string): KnownName['account'] {
  if (!user.startsWith(accountPrefix)) return undefined;
  const [namespace = '', name = '', ...more] = user.slice(accountPrefix.length).split(':');
  const isValid =
    more.length === 0 &&
    dns1123LabelProblems(namespace).length === 0 &&
    dns1123SubdomainProblems(name).length === 0;
  return isValid ? { namespace, name } : undefined;
}

export interface Asked {
  readonly wanted: WantedUser;
  readonly known: KnownName;
  readonly requestor: User;
  /** Key of `extra` that has the node of a service account's token. */
  readonly nodeNameKey: string;
}

type Applies = (asked: Asked) => boolean;

/** Nodes and accounts have groups of their own, and nothing else. */
const isNameAlone = ({ uid, groups, extra }: WantedUser): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0;

const isAssociated: Applies = ({ wanted, known, requestor, nodeNameKey }) => {
  if (!isNameAlone(wanted) || known.node === undefined) return false;
  const nodes = requestor.extra[nodeNameKey] ?? [];
  return accountOf(requestor.name) !== undefined && nodes.length === 1 && nodes[0] === known.node;
};

const isNode: Applies = ({ wanted, known }) => isNameAlone(wanted) && known.node !== undefined;
const isAccount: Applies = ({ wanted, known }) =>
  isNameAlone(wanted) && known.account !== undefined;
const isPlain: Applies = ({ known }) => known.node === undefined && known.account === undefined;

/** In the order in which they are tried. */
export const constrainedModes: readonly (readonly [ConstrainedMode, Applies])[] = [
  ['associated-node', isAssociated],
  ['arbitrary-node', isNode],
  ['serviceaccount', isAccount],
  ['user-info', isPlain],
];

/** Those that the user gets where the request names none. */
export function impliedGroups(known: KnownName, isConstrained: boolean): readonly string[] {
  if (known.account !== undefined) return serviceAccountGroups(known.account.namespace);
  return isConstrained && known.node !== undefined ? ['system:nodes'] : [];
}

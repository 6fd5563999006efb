// Who a request comes from, as everyone after authentication sees it.

export interface User {
  readonly name: string;
  /** '' where the authenticator knows none. */
  readonly uid: string;
  readonly groups: readonly string[];
  /** Further attributes from the authenticator, by lower-case key; for policy and audit. */
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const mastersGroup = 'system:masters';
/** Those who watch over the servers of a cluster. */
export const monitoringGroup = 'system:monitoring';
export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/** The server itself, where it writes on nobody's behalf. */
export const serverUser: User = {
  name: 'system:apiserver',
  uid: '',
  groups: [mastersGroup],
  extra: {},
};
export const anonymousUser: User = {
  name: 'system:anonymous',
  uid: '',
  groups: [unauthenticatedGroup],
  extra: {},
};

const nodePrefix = 'system:node:';
const nodesGroup = 'system:nodes';

/**
 * The name of the node that the user is (specification 3, Node authorization); '' where it has no
 * name, undefined where it is none.
 */
export const nodeOfUser = ({ name, groups }: User): string | undefined =>
  name.startsWith(nodePrefix) && groups.includes(nodesGroup)
    ? name.slice(nodePrefix.length)
    : undefined;

const serviceAccountPrefix = 'system:serviceaccount:';
const serviceAccountsGroup = 'system:serviceaccounts';

/** The name of the user that a service account is (specification 3, Methods). */
export const serviceAccountUser = (namespace: string, name: string): string =>
  `${serviceAccountPrefix}${namespace}:${name}`;

/** Without `system:authenticated`, which every user who is known gets. */
export const serviceAccountGroups = (namespace: string): readonly string[] => [
  serviceAccountsGroup,
  `${serviceAccountsGroup}:${namespace}`,
];

// Users with some rights who write roles and bindings, by every form of a write: for suites.
import { namingProfile } from '../../api/vendor.ts';
import { followPolicy } from '../../authz/rbac/follow-policy.ts';
import { RbacPolicy } from '../../authz/rbac/policy.ts';
import { heldRules, rbacAuthorizer } from '../../authz/rbac/rbac.ts';
import { mastersAuthorizer } from '../../authz/fixed.ts';
import { unionAuthorizer } from '../../authz/union.ts';
import { createLogger } from '../../base/log.ts';
import { ruleOf } from '../../kinds/rbac/rule-text.ts';
import { ApiOnEtcd } from './api-on-etcd.ts';
import type { ApiAnswer, SentRequest } from './api-on-etcd.ts';

const naming = namingProfile('svc');
export const group = 'rbac.authorization.svc.io';
const base = `/apis/${group}/v1`;
// Of one file at a time: a process that runs several has this module once.
let policy: RbacPolicy;
let ending: AbortController;
let api: ApiOnEtcd;
let following: Promise<void> | undefined;

/** One server for the tests of a file, with roles and bindings as its only policy. */
export async function startRoles(): Promise<void> {
  policy = new RbacPolicy();
  ending = new AbortController();
  api = await ApiOnEtcd.start(
    () => ({
      authenticator: {
        name: 'test',
        authenticate: ({ token = '' }) => {
          const [name = '', ...groups] = token.split(',');
          return { outcome: 'accepted', user: { name, uid: '', groups, extra: {} } };
        },
      },
      authorizer: unionAuthorizer([mastersAuthorizer, rbacAuthorizer(policy, naming)]),
    }),
    { heldRulesOf: (user, namespace) => heldRules(policy, naming, user, namespace) },
  );
  const view = (name: string) => api.replica.store(`${group}/${name}`).view;
  const views = {
    roles: view('roles'),
    clusterRoles: view('clusterroles'),
    roleBindings: view('rolebindings'),
    clusterRoleBindings: view('clusterrolebindings'),
  };
  const { whole, ended } = followPolicy(policy, views, createLogger('error'), ending.signal);
  following = ended;
  await whole;
}

export async function stopRoles(): Promise<void> {
  ending.abort(new Error('the test is over'));
  await following;
  await api.stop();
}

export const admin = 'root,system:masters';
export const send = (as: string, line: string, sent: SentRequest = {}): Promise<ApiAnswer> =>
  api.send(line, { ...sent, headers: { authorization: `Bearer ${as}` } });

export type Plural = 'roles' | 'clusterroles' | 'rolebindings' | 'clusterrolebindings';
const kinds: Readonly<Record<Plural, string>> = {
  roles: 'Role',
  clusterroles: 'ClusterRole',
  rolebindings: 'RoleBinding',
  clusterrolebindings: 'ClusterRoleBinding',
};
export const pathOf = (plural: Plural, name = ''): string => {
  const where = plural.startsWith('cluster') ? '' : '/namespaces/n';
  return `${base}${where}/${plural}${name === '' ? '' : `/${name}`}`;
};
const typed = (plural: Plural): object => ({ apiVersion: `${group}/v1`, kind: kinds[plural] });
export const rulesFrom = (texts: readonly string[]): object[] =>
  texts.map((text) =>
    Object.fromEntries(Object.entries(ruleOf(text)).filter(([, of]) => (of as []).length > 0)),
  );
export const role = (
  plural: Plural,
  name: string,
  rules: readonly string[],
  more: object = {},
): object => ({
  ...typed(plural),
  metadata: { name },
  rules: rulesFrom(rules),
  ...more,
});
/** `Role r` or `ClusterRole r`. */
export function binding(
  plural: Plural,
  name: string,
  to: string,
  user: string,
  more: object = {},
): object {
  const [kind, of] = to.split(' ');
  const roleRef = { apiGroup: group, kind, name: of };
  const subjects = [{ kind: 'User', apiGroup: group, name: user }];
  return { ...typed(plural), metadata: { name, ...more }, roleRef, subjects };
}

let count = 0;
export const fresh = (): string => `o${String(++count)}`;

/** A user who has these rights in the namespace, and (`everywhere`) in the cluster. */
export async function userWith(
  here: readonly string[],
  everywhere: readonly string[] = [],
): Promise<string> {
  const user = fresh();
  const grants: readonly (readonly [Plural, Plural, readonly string[]])[] = [
    ['roles', 'rolebindings', here],
    ['clusterroles', 'clusterrolebindings', everywhere],
  ];
  for (const [roles, bindings, rules] of grants) {
    await made(roles, role(roles, user, rules));
    await made(bindings, binding(bindings, user, `${kinds[roles]} ${user}`, user));
  }
  const isThere = (): boolean => {
    const { rules } = heldRules(
      policy,
      naming,
      { name: user, uid: '', groups: [], extra: {} },
      'n',
    );
    return rules.length === here.length + everywhere.length;
  };
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  return user;
}

/** By a member of system:masters. */
export async function made(plural: Plural, object: object): Promise<void> {
  const answer = await send(admin, `POST ${pathOf(plural)}`, { body: object });
  if (answer.status !== 201) throw new Error(answer.body.toString());
}

export const messageOf = ({ json }: ApiAnswer): string => (json as { message: string }).message;
const applied = 'application/apply-patch+yaml';
const jsonPatch = 'application/json-patch+json';
const strategic = 'application/strategic-merge-patch+json';
export const full = `full ${Object.keys(kinds).join(',')} of ${group}`;

type Form = readonly [what: string, make: (plural: Plural, name: string, object: Written) => Sent];
type Written = Readonly<Record<string, unknown>>;
type Sent = readonly [line: string, body: object, contentType?: string];

const creatingForms: readonly Form[] = [
  ['POST', (plural, _name, object) => [`POST ${pathOf(plural)}`, object]],
  ['POST, dry', (plural, _name, object) => [`POST ${pathOf(plural)}?dryRun=All`, object]],
  ['PUT of an absent one', (plural, name, object) => [`PUT ${pathOf(plural, name)}`, object]],
  [
    'apply of an absent one',
    (plural, name, object) => [`PATCH ${pathOf(plural, name)}?fieldManager=m`, object, applied],
  ],
  [
    'dry apply of an absent one',
    (plural, name, object) => [
      `PATCH ${pathOf(plural, name)}?fieldManager=m&dryRun=All`,
      object,
      applied,
    ],
  ],
];
const changingForms: readonly Form[] = [
  ['PUT', (plural, name, object) => [`PUT ${pathOf(plural, name)}`, object]],
  ['PUT, dry', (plural, name, object) => [`PUT ${pathOf(plural, name)}?dryRun=All`, object]],
  [
    'merge patch',
    (plural, name, { rules, subjects }) => [`PATCH ${pathOf(plural, name)}`, { rules, subjects }],
  ],
  [
    'strategic merge patch',
    (plural, name, { rules, subjects }) => [
      `PATCH ${pathOf(plural, name)}`,
      { rules, subjects },
      strategic,
    ],
  ],
  [
    'JSON patch',
    (plural, name, { rules, subjects }) => {
      const path = rules === undefined ? '/subjects' : '/rules';
      return [
        `PATCH ${pathOf(plural, name)}`,
        [{ op: 'replace', path, value: rules ?? subjects }],
        jsonPatch,
      ];
    },
  ],
  [
    'apply',
    (plural, name, object) => [
      `PATCH ${pathOf(plural, name)}?fieldManager=m&force=true`,
      object,
      applied,
    ],
  ],
];

const namesOf = (forms: readonly Form[]): readonly string[] => forms.map(([what]) => what);

/** Names of forms of writes: of an object that is not there, and of one that is. */
export const creating = namesOf(creatingForms);
export const changing = namesOf(changingForms);

/** A write of one form. */
export function formed(what: string, plural: Plural, name: string, object: object): Sent {
  const form = [...creatingForms, ...changingForms].find(([known]) => known === what);
  if (form === undefined) throw new Error(`there is no ${what}`);
  return form[1](plural, name, { ...object });
}

export const sendForm = (as: string, [line, body, contentType]: Sent): Promise<ApiAnswer> =>
  send(as, line, { body, ...(contentType === undefined ? {} : { contentType }) });

export const refusal = (plural: Plural, name: string, user: string, ...rules: string[]): string =>
  `${plural}.${group} "${name}" is forbidden: user "${user}" (groups=[]) is attempting to grant ` +
  `RBAC permissions not currently held:\n${rules.join('\n')}`;

/** What is lacking of `read pods` beside `get pods`. */
export const podText = '{APIGroups:[""], Resources:["pods"], Verbs:["list" "watch"]}';

// Decisions of RBAC in a cluster of 10,000 bindings and 2,000 roles: a user with five bindings who
// is refused, one who is allowed by the last of them, and one with none.
// Run: node bench/micro/rbac.bench.ts [decisions]
import { namingProfile } from '../../lib/api/vendor.ts';
import type { JsonObject } from '../../lib/api/type-info.ts';
import { RbacPolicy } from '../../lib/authz/rbac/policy.ts';
import { rbacAuthorizer } from '../../lib/authz/rbac/rbac.ts';
import { attributesOf } from '../../lib/authz/testing/attributes.ts';
import { defaultObjects } from '../../lib/controllers/bootstrap-roles/bootstrap-roles.ts';
import { ruleOf } from '../../lib/kinds/rbac/rule-text.ts';
import { median } from '../support/compare.ts';

const decisionCount = Number(process.argv[2] ?? 200_000);
const rounds = 7;
const [bindingCount, roleCount, bindingsOfUser, rulesOfRole] = [10_000, 2_000, 5, 10];
const reachUs = 10;

const naming = namingProfile('svc');
const policy = new RbacPolicy();
const { signal } = new AbortController();

for (const object of defaultObjects(naming, () => false)) {
  const { name = '', namespace = '' } = object.metadata ?? {};
  if ('roleRef' in object) policy.setBinding({ name, namespace }, object);
  else policy.setRole({ name, namespace }, object);
}
const rulesOf = (role: number): JsonObject[] =>
  Array.from({ length: rulesOfRole }, (_, at) => ({
    ...(ruleOf(`read,update r${String(role)}-${String(at)},s,t of core,apps`) as object),
  }));
for (let at = 0; at < roleCount; at += 1) {
  policy.setRole({ namespace: '', name: `role-${String(at)}` }, { rules: rulesOf(at) });
}
for (let at = 0; at < bindingCount; at += 1) {
  const of = Math.floor(at / bindingsOfUser);
  // Of each user's bindings two are of the whole cluster.
  const namespace = at % bindingsOfUser < 2 ? '' : 'n';
  policy.setBinding(
    { namespace, name: `binding-${String(at)}` },
    {
      roleRef: { kind: 'ClusterRole', name: `role-${String(at % roleCount)}` },
      subjects: [{ kind: 'User', name: `user-${String(of)}` }],
    },
  );
}

const authorizer = rbacAuthorizer(policy, naming);
const questionOf = (name: string, resource: string): Parameters<typeof authorizer.authorize>[0] =>
  attributesOf({
    user: { name, uid: '', groups: ['team', 'system:authenticated'], extra: {} },
    isResourceRequest: true,
    verb: 'get',
    resource,
    namespace: 'n',
    name: 'x',
  });
const cases = {
  'refused, five bindings': questionOf('user-7', 'pods'),
  'allowed by the last of five': questionOf('user-7', 'r39-9'),
  'refused, no binding': questionOf('nobody', 'pods'),
};

for (const [what, question] of Object.entries(cases)) {
  const times: number[] = [];
  let allowedCount = 0;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let done = 0; done < decisionCount; done += 1) {
      const decision = authorizer.authorize(question, signal);
      if (!(decision instanceof Promise) && decision.effect === 'allow') allowedCount += 1;
    }
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / decisionCount);
  }
  const us = median(times);
  const isWithin = us <= reachUs ? 'ok' : 'MISSED';
  const answer = allowedCount > 0 ? 'allowed' : 'refused';
  console.log(`${what.padEnd(32)} ${us.toFixed(2).padStart(8)} CPU-µs  ${answer}  ${isWithin}`);
}

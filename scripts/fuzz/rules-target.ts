// Random objects past random policies and patches of webhooks: each refuses with what it may, and
// what is left is an object of its kind. What the rules of the kind then let pass, and is stored,
// is stored as it is when it is written once more.
import { admissionChain } from '../../lib/admission/chain.ts';
import { mutatingPolicies } from '../../lib/admission/policies/mutating-policies.ts';
import { validatingPolicies } from '../../lib/admission/policies/validating-policies.ts';
import { asked, resourceOf, scheme } from '../../lib/admission/testing/asked.ts';
import { partsOf } from '../../lib/admission/testing/cluster.ts';
import { mutatingPolicyObjects } from '../../lib/admission/testing/policies.ts';
import { patchedObject, readPatch } from '../../lib/admission/webhooks/patched-object.ts';
import { WebhookFailed } from '../../lib/admission/webhooks/webhook-asking.ts';
import { sameJson } from '../../lib/api/json-equal.ts';
import { cloneJson } from '../../lib/api/json-value.ts';
import { apiVersionOf } from '../../lib/api/type-info.ts';
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import { StatusError } from '../../lib/base/status.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';
import { readObject } from '../../lib/codec/normalise.ts';
import { completeObject } from '../../lib/registry/complete-object.ts';
import { mutatingOf, patchTextOf, validationsOf, writtenOf } from './random-rules.ts';
import type { Random } from './random.ts';

const { signal } = new AbortController();
const everything = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*/*'],
};
/** Of a policy that denies or has an error, and of the rules of a kind. */
const refusals = new Set([400, 403, 422]);

/** What is wrong; undefined: nothing. */
export async function findInRules(random: Random): Promise<string | undefined> {
  const { resource: plural, group, object: given } = writtenOf(random);
  const record = resourceOf(plural, group);
  const { kind } = record.kind;
  const object: ApiObject = { kind, apiVersion: apiVersionOf(record.kind), ...cloneJson(given) };
  scheme.defaults.apply(object, record.type);
  try {
    if (random.below(3) > 0) {
      const problem = await judged(record, object, random);
      if (problem !== undefined) return problem;
    } else patched(record, object, random);
  } catch (error) {
    if (error instanceof StatusError && refusals.has(error.code)) return undefined;
    return (error as Error).stack;
  }
  if (Object.hasOwn(Object.prototype, 'polluted')) return 'a prototype is polluted';
  return await storedProblem(record, object);
}

async function judged(
  record: ResourceInfo,
  object: ApiObject,
  random: Random,
): Promise<string | undefined> {
  const parts = partsOf({
    memory: {
      namespaces: [{ metadata: { name: 'a' } }],
      ...mutatingPolicyObjects(mutatingOf(random, record.resource)),
      validatingadmissionpolicies: [
        {
          metadata: { name: 'v' },
          spec: {
            failurePolicy: random.of(['Fail', 'Ignore']),
            matchConstraints: { resourceRules: [everything] },
            validations: validationsOf(random),
          },
        },
      ],
      validatingadmissionpolicybindings: [
        {
          metadata: { name: 'v' },
          spec: { policyName: 'v', validationActions: [random.of(['Deny', 'Warn', 'Audit'])] },
        },
      ],
    },
  });
  const chain = admissionChain([mutatingPolicies(parts), validatingPolicies(parts)]);
  const { request } = asked({ resource: record });
  await chain.mutate(request, object, signal);
  const { problems } = readObject(cloneJson(object), record.type);
  if (problems.length > 0) return `policies made what fits no schema: ${JSON.stringify(object)}`;
  await chain.validate(request, object, signal);
  return undefined;
}

/** As a webhook's answer does; 500 is its answer where the patch does not fit. */
function patched(record: ResourceInfo, object: ApiObject, random: Random): void {
  const { kind, type } = record;
  const answer = { patch: patchTextOf(random, record.resource), patchType: 'JSONPatch' };
  const before = cloneJson(object);
  try {
    const operations = readPatch('w', answer, type);
    const made = patchedObject('w', { object, oldObject: undefined, kind, type }, operations);
    if (!sameJson(object, before)) throw new Error('a patch changed what was shown');
    if (made === undefined) return;
    for (const name of Object.keys(object)) delete object[name];
    Object.assign(object, made);
  } catch (error) {
    if (error instanceof WebhookFailed) return;
    if (error instanceof StatusError && error.code === 500) return;
    throw error;
  }
}

async function storedProblem(
  record: ResourceInfo,
  object: Readonly<ApiObject>,
): Promise<string | undefined> {
  const parts = { scheme, isOn: () => true };
  let stored: Readonly<ApiObject>;
  try {
    stored = await completeObject(parts, record, cloneJson(object));
  } catch (error) {
    if (error instanceof StatusError && refusals.has(error.code)) return undefined;
    return (error as Error).stack;
  }
  const again = await completeObject(parts, record, cloneJson(stored));
  if (sameJson(again, stored)) return undefined;
  return `stored twice:\n  ${JSON.stringify(stored)}\n  ${JSON.stringify(again)}`;
}

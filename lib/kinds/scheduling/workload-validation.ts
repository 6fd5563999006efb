// By hand, the migrated rules of pod groups and workloads. The same rules stand beside the fields;
// which form decides is up to gates.
import { isSet, listAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { judgeOf, partToJudge } from '../migrated-judge.ts';
import type { Judge } from '../migrated-judge.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';

const claimsMax = 4;
const templatesMax = 8;
const priorityMax = 1_000_000_000;

export const validatePodGroup: Validator = (write) => {
  const spec = partToJudge(write, 'spec');
  const old = recordAt(write.old, 'spec');
  const judge = judgeOf(write);
  if (spec !== undefined) {
    const inner = judge.within(old);
    inner.fixed(spec, old, 'podGroupTemplateRef', 'spec');
    validateReference(inner, spec, old, write);
    inner.fixed(spec, old, 'schedulingPolicy', 'spec');
    validatePart(inner, spec, old, 'spec', true, write);
  }
  const status = partToJudge(write, 'status');
  const before = recordAt(write.old, 'status');
  if (status === undefined) return;
  const inner = judge.within(before);
  validateClaimList(inner, status, before, 'resourceClaimStatuses', 'status');
  for (const [at, claim] of recordsAt(status, 'resourceClaimStatuses').entries()) {
    const twin = twinOf(claim, recordsAt(before, 'resourceClaimStatuses'));
    const path = `status.resourceClaimStatuses[${String(at)}]`;
    inner.within(twin).optional(claim, twin, 'resourceClaimName', path, dns1123SubdomainProblems);
  }
};

const twinOf = (of: JsonObject, list: readonly JsonObject[]): Holder =>
  list.find((one) => textAt(one, 'name') === textAt(of, 'name'));

function validateClaimList(
  judge: Judge,
  of: JsonObject,
  old: Holder,
  name: string,
  path: string,
): void {
  if (listAt(of, name).length > claimsMax) judge.most(of, old, name, path, claimsMax);
  else judge.unique(of, old, name, path, 'name');
}

function validateReference(
  judge: Judge,
  spec: JsonObject,
  old: Holder,
  { errors }: ValidatedWrite,
): void {
  const reference = recordAt(spec, 'podGroupTemplateRef');
  const before = recordAt(old, 'podGroupTemplateRef');
  if (reference === undefined) return;
  const inner = judge.within(before);
  const path = 'spec.podGroupTemplateRef';
  const workload = recordAt(reference, 'workload');
  if (workload === undefined) {
    const isStored = inner.isUpdate && !isSet(before, 'workload');
    if (!isStored) errors.invalid(path, '', 'must specify one of: `workload`');
    return;
  }
  const twin = recordAt(before, 'workload');
  const where = `${path}.workload`;
  const named = inner.within(twin);
  named.required(workload, twin, 'workloadName', where, dns1123SubdomainProblems);
  named.required(workload, twin, 'podGroupTemplateName', where, dns1123LabelProblems);
}

/** What a pod group and a template for one have in common. */
function validatePart(
  judge: Judge,
  of: JsonObject,
  old: Holder,
  path: string,
  isFixed: boolean,
  write: ValidatedWrite,
): void {
  const policy = recordAt(of, 'schedulingPolicy');
  if (policy !== undefined) {
    validatePolicy(
      judge,
      policy,
      recordAt(old, 'schedulingPolicy'),
      `${path}.schedulingPolicy`,
      write,
    );
  }
  const topologies = write.isOn('TopologyAwareWorkloadScheduling');
  if (!topologies) judge.forbidden(of, old, 'schedulingConstraints', path);
  else if (isFixed) judge.fixed(of, old, 'schedulingConstraints', path);
  const constraints = recordAt(of, 'schedulingConstraints');
  if (constraints !== undefined) {
    const before = recordAt(old, 'schedulingConstraints');
    validateConstraints(judge.within(before), constraints, before, `${path}.schedulingConstraints`);
  }
  if (judge.fixed(of, old, 'resourceClaims', path)) {
    validateClaimList(judge, of, old, 'resourceClaims', path);
  }
  for (const [at, claim] of recordsAt(of, 'resourceClaims').entries()) {
    const twin = twinOf(claim, recordsAt(old, 'resourceClaims'));
    validateClaim(judge.within(twin), claim, twin, `${path}.resourceClaims[${String(at)}]`, write);
  }
  validatePreemption(judge, of, old, path, isFixed, write);
}

function validatePolicy(
  judge: Judge,
  policy: JsonObject,
  old: Holder,
  path: string,
  { errors }: ValidatedWrite,
): void {
  const inner = judge.within(old);
  const members = ['basic', 'gang'];
  const set = members.filter((name) => isSet(policy, name));
  const before = members.filter((name) => isSet(old, name));
  if (set.length !== 1 && !(inner.isUpdate && sameJson(set, before))) {
    errors.invalid(path, '', 'must specify exactly one of: `basic`, `gang`');
  }
  const gang = recordAt(policy, 'gang');
  if (gang === undefined) return;
  const twin = recordAt(old, 'gang');
  const least = inner.within(twin);
  if ((numberAt(gang, 'minCount') ?? 0) === 0)
    least.required(gang, twin, 'minCount', `${path}.gang`);
  else least.least(gang, twin, 'minCount', `${path}.gang`, 1);
}

function validateConstraints(judge: Judge, of: JsonObject, old: Holder, path: string): void {
  judge.most(of, old, 'topology', path, 1);
  for (const [at, one] of recordsAt(of, 'topology').entries()) {
    const twin = recordsAt(old, 'topology')[at];
    const where = `${path}.topology[${String(at)}]`;
    judge.within(twin).required(one, twin, 'key', where, qualifiedNameProblems);
  }
}

function validateClaim(
  judge: Judge,
  claim: JsonObject,
  old: Holder,
  path: string,
  { errors }: ValidatedWrite,
): void {
  const members = ['resourceClaimName', 'resourceClaimTemplateName'];
  const present = (of: Holder): readonly string[] =>
    members.filter((name) => textAt(of, name) !== '');
  if (
    present(claim).length !== 1 &&
    !(judge.isUpdate && sameJson([...present(claim)], [...present(old)]))
  ) {
    errors.invalid(path, '', 'must specify exactly one of its sources');
  }
  judge.required(claim, old, 'name', path, dns1123LabelProblems);
  for (const name of members) judge.optional(claim, old, name, path, dns1123SubdomainProblems);
}

function validatePreemption(
  judge: Judge,
  of: JsonObject,
  old: Holder,
  path: string,
  isFixed: boolean,
  { isOn }: ValidatedWrite,
): void {
  const names = ['disruptionMode', 'priorityClassName', 'priority'];
  if (!isOn('WorkloadAwarePreemption')) {
    for (const name of names) {
      if (name === 'priorityClassName' && textAt(of, name) === '') continue;
      judge.forbidden(of, old, name, path);
    }
    return;
  }
  const isSame = new Map(
    names.map((name) => [name, isFixed ? judge.fixed(of, old, name, path) : true]),
  );
  if (isSame.get('priorityClassName') === true) {
    judge.optional(of, old, 'priorityClassName', path, dns1123SubdomainProblems);
  }
  const priority = numberAt(of, 'priority');
  if (priority === undefined || isSame.get('priority') !== true) return;
  judge.range(of, old, 'priority', path, -2_147_483_648, priorityMax);
}

export const validateWorkload: Validator = (write) => {
  const spec = partToJudge(write, 'spec');
  if (spec === undefined) return;
  const old = recordAt(write.old, 'spec');
  const judge = judgeOf(write).within(old);
  judge.fixed(spec, old, 'controllerRef', 'spec');
  const reference = recordAt(spec, 'controllerRef');
  if (reference !== undefined) {
    const twin = recordAt(old, 'controllerRef');
    const inner = judge.within(twin);
    const path = 'spec.controllerRef';
    inner.optional(reference, twin, 'apiGroup', path, dns1123SubdomainProblems);
    inner.required(reference, twin, 'kind', path, pathSegmentProblems);
    inner.required(reference, twin, 'name', path, pathSegmentProblems);
  }
  validateTemplates(judge, spec, old, write);
};

function validateTemplates(
  judge: Judge,
  spec: JsonObject,
  old: Holder,
  write: ValidatedWrite,
): void {
  const name = 'podGroupTemplates';
  const templates = recordsAt(spec, name);
  if (judge.fixed(spec, old, name, 'spec')) {
    if (templates.length === 0) judge.required(spec, old, name, 'spec');
    else if (templates.length > templatesMax) judge.most(spec, old, name, 'spec', templatesMax);
    else judge.unique(spec, old, name, 'spec', 'name');
  }
  for (const [at, template] of templates.entries()) {
    const twin = twinOf(template, recordsAt(old, name));
    const inner = judge.within(twin);
    const path = `spec.${name}[${String(at)}]`;
    inner.required(template, twin, 'name', path, dns1123LabelProblems);
    validatePart(inner, template, twin, path, false, write);
  }
}

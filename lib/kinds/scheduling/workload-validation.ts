// By hand, the migrated rules of pod groups and workloads. The same rules are options of the
// fields; gates choose one of the two.
import { isSet, listAt, numberAt, textAt } from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import { sameJson } from '../../api/json-equal.ts';
import { partOf } from '../part-checks.ts';
import type { PartChecks } from '../part-checks.ts';
import type { Holder, Validator } from '../validator.ts';

const claimsMax = 4;
const templatesMax = 8;
const priorityMax = 1_000_000_000;
const priorityMin = -2_147_483_648;

interface Rules {
  readonly isOn: (gate: string) => boolean;
  /** What decides where the pods run cannot be changed. */
  readonly isFixed: boolean;
}

export const validatePodGroup: Validator = (write) => {
  const spec = partOf(write, 'spec');
  if (spec !== undefined) {
    if (spec.immutable('podGroupTemplateRef')) validateReference(spec);
    validateGroup(spec, { isOn: write.isOn, isFixed: true });
  }
  const status = partOf(write, 'status');
  if (status === undefined || !isClaimList(status, 'resourceClaimStatuses')) return;
  for (const claim of status.elements('resourceClaimStatuses', { key: 'name' })) {
    claim.optionalSet('resourceClaimName', dns1123SubdomainProblems);
  }
};

/** Whether its elements are to be looked into. */
function isClaimList(part: PartChecks, name: string): boolean {
  if (!part.maxItems(name, claimsMax)) return false;
  part.unique(name, { key: 'name' });
  return true;
}

function validateReference(spec: PartChecks): void {
  const reference = spec.part('podGroupTemplateRef');
  if (reference === undefined) return;
  const workload = reference.part('workload');
  if (workload === undefined) {
    const isStored = reference.isUpdate && !isSet(reference.old, 'workload');
    if (!isStored) reference.errors.invalid(reference.path, '', 'must specify one of: `workload`');
    return;
  }
  workload.required('workloadName', dns1123SubdomainProblems);
  workload.required('podGroupTemplateName', dns1123LabelProblems);
}

/** What a pod group and a template for one have in common. */
function validateGroup(group: PartChecks, rules: Rules): void {
  const isRight = (name: string): boolean => !rules.isFixed || group.immutable(name);
  if (isRight('schedulingPolicy')) validatePolicy(group.part('schedulingPolicy'));
  const constraints = 'schedulingConstraints';
  if (!rules.isOn('TopologyAwareWorkloadScheduling')) group.forbidden(constraints);
  else if (isRight(constraints)) validateConstraints(group.part(constraints));
  if (group.immutable('resourceClaims') && isClaimList(group, 'resourceClaims')) {
    for (const claim of group.elements('resourceClaims', { key: 'name' })) validateClaim(claim);
  }
  validatePreemption(group, rules);
}

function validatePolicy(policy: PartChecks | undefined): void {
  if (policy === undefined) return;
  const setIn = (of: Holder): string[] => ['basic', 'gang'].filter((name) => isSet(of, name));
  const set = setIn(policy.value);
  if (set.length !== 1 && !(policy.isUpdate && sameJson(set, setIn(policy.old)))) {
    policy.errors.invalid(policy.path, '', 'must specify exactly one of: `basic`, `gang`');
  }
  const gang = policy.part('gang');
  if (gang === undefined) return;
  if ((numberAt(gang.value, 'minCount') ?? 0) === 0) gang.required('minCount');
  else gang.atLeast('minCount', 1);
}

function validateConstraints(constraints: PartChecks | undefined): void {
  if (constraints === undefined) return;
  if (!constraints.maxItems('topology', 1)) return;
  for (const one of constraints.elements('topology')) one.required('key', qualifiedNameProblems);
}

function validateClaim(claim: PartChecks): void {
  const sources = ['resourceClaimName', 'resourceClaimTemplateName'];
  const setIn = (of: Holder): string[] => sources.filter((name) => textAt(of, name) !== '');
  const set = setIn(claim.value);
  if (set.length !== 1 && !(claim.isUpdate && sameJson(set, setIn(claim.old)))) {
    claim.errors.invalid(claim.path, '', 'must specify exactly one of its sources');
  }
  claim.required('name', dns1123LabelProblems);
  for (const name of sources) claim.optionalSet(name, dns1123SubdomainProblems);
}

function validatePreemption(group: PartChecks, { isOn, isFixed }: Rules): void {
  const names = ['disruptionMode', 'priorityClassName', 'priority'];
  if (!isOn('WorkloadAwarePreemption')) {
    for (const name of names) {
      if (name === 'priorityClassName' && textAt(group.value, name) === '') continue;
      group.forbidden(name);
    }
    return;
  }
  const isAllowed = new Map(names.map((name) => [name, !isFixed || group.immutable(name)]));
  if (isAllowed.get('priorityClassName') === true) {
    group.optional('priorityClassName', dns1123SubdomainProblems);
  }
  if (isAllowed.get('priority') === true) {
    group.inRange('priority', { least: priorityMin, most: priorityMax });
  }
}

export const validateWorkload: Validator = (write) => {
  const spec = partOf(write, 'spec');
  if (spec === undefined) return;
  const reference = spec.immutable('controllerRef') ? spec.part('controllerRef') : undefined;
  reference?.optional('apiGroup', dns1123SubdomainProblems);
  reference?.required('kind', pathSegmentProblems);
  reference?.required('name', pathSegmentProblems);
  const name = 'podGroupTemplates';
  if (!spec.immutable(name)) return;
  if (listAt(spec.value, name).length === 0) spec.required(name);
  if (!spec.maxItems(name, templatesMax)) return;
  spec.unique(name, { key: 'name' });
  for (const template of spec.elements(name, { key: 'name' })) {
    template.required('name', dns1123LabelProblems);
    validateGroup(template, { isOn: write.isOn, isFixed: false });
  }
};

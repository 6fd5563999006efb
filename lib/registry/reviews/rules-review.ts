// What may the sender do in a namespace? The rules that authorizers can write down, and whether
// others decide beside them.
import { recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NonResourceRule, ResolvedRules, ResourceRule } from '../../authz/authorizer.ts';
import { badRequest } from '../../base/status.ts';
import type { Review } from './review.ts';

/** @throws StatusError 400 without a namespace, and of admission plugins. */
export const reviewRules: Review = async (review, { authorizer }) => {
  const { object, user } = review;
  const namespace = textAt(recordAt(object, 'spec'), 'namespace');
  if (namespace === '') throw badRequest('no namespace on request');
  await review.confirm();
  const rules = authorizer.rulesFor?.(user, namespace);
  return { metadata: {}, spec: {}, status: statusOf(rules ?? unknown) };
};

/** Of an authorizer that decides by no rules. */
const unknown: ResolvedRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: '',
};

const statusOf = (rules: ResolvedRules): JsonObject => ({
  resourceRules: rules.resourceRules.map(resourceRule),
  nonResourceRules: rules.nonResourceRules.map(nonResourceRule),
  incomplete: rules.incomplete,
  ...(rules.evaluationError === '' ? {} : { evaluationError: rules.evaluationError }),
});

const resourceRule = (rule: ResourceRule): JsonObject => ({
  verbs: [...rule.verbs],
  ...filled('apiGroups', rule.apiGroups),
  ...filled('resources', rule.resources),
  ...filled('resourceNames', rule.resourceNames),
});

const nonResourceRule = (rule: NonResourceRule): JsonObject => ({
  verbs: [...rule.verbs],
  ...filled('nonResourceURLs', rule.nonResourceURLs),
});

const filled = (member: string, texts: readonly string[]): JsonObject =>
  texts.length === 0 ? {} : { [member]: [...texts] };

// Webhook configurations: names, where a webhook is called, and the rules of what it is asked
// about.
import type { FieldErrors } from '../../api/field-errors.ts';
import { numberAt, recordAt, recordsAt, textAt, textsAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems, labelValueProblems } from '../../api/name-rules.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Scope, ValidatorInSteps } from '../validator.ts';
import {
  allKnown,
  knownReviewVersions,
  validateClient,
  validateReviewVersions,
} from '../webhook-client.ts';
import { matchConditionSteps } from './expressions.ts';

const timeoutSecondsMax = 30;

/**
 * What objects of old have, and a write of today may not say, is tolerated in those that have it:
 * everything else of them can still be changed.
 */
export const validateWebhooks: ValidatorInSteps = function* (write) {
  const { object, old, errors, naming } = write;
  const options = { naming, hasParams: false, hasAuthorizer: true };
  const environments = {
    fresh: policyEnvironment(options),
    stored: policyEnvironment({ ...options, version: 'stored' }),
    storedTexts: new Set(recordsAt(old, 'webhooks').flatMap(expressionsOf)),
  };
  const tolerated = toleratedOf(recordsAt(old, 'webhooks'));
  const webhooks = recordsAt(object, 'webhooks');
  const sameConditions = sameJson(webhooks.map(conditionsOf), old && conditionsOfAll(old));
  const names = new Set<string>();
  for (const [at, webhook] of webhooks.entries()) {
    const path = `webhooks[${String(at)}]`;
    validateWebhook(webhook, path, tolerated, write);
    if (!sameConditions) yield* matchConditionSteps(webhook, path, environments, write);
    const versions = textsAt(webhook, 'admissionReviewVersions');
    const { required, mayBeUnknown } = { ...allKnown, ...tolerated };
    const where = `${path}.admissionReviewVersions`;
    validateReviewVersions(versions, where, errors, { required, mayBeUnknown });
    const name = textAt(webhook, 'name');
    if (name !== '' && names.has(name) && !tolerated.hasNamesakes) {
      errors.duplicate(`${path}.name`, name);
    }
    names.add(name);
    yield undefined;
  }
  return [];
};

const expressionsOf = (webhook: JsonObject): readonly string[] =>
  recordsAt(webhook, 'matchConditions').map((condition) => textAt(condition, 'expression'));

const conditionsOf = (webhook: JsonObject): JsonValue => valueAt(webhook, 'matchConditions') ?? [];
const conditionsOfAll = (of: Readonly<JsonObject>): JsonValue[] =>
  recordsAt(of, 'webhooks').map(conditionsOf);

/** What one of the stored webhooks has: all of the new ones may have it. */
interface Tolerated {
  readonly hasNamesakes: boolean;
  readonly hasSideEffects: boolean;
  readonly mayBeUnknown: boolean;
  readonly hasBadValues: boolean;
}

function toleratedOf(old: readonly JsonObject[]): Tolerated {
  const names = old.map((webhook) => textAt(webhook, 'name'));
  return {
    hasNamesakes: new Set(names).size < names.length,
    hasSideEffects: !old.every((webhook) => harmless.includes(textAt(webhook, 'sideEffects'))),
    mayBeUnknown: !old.every((webhook) =>
      textsAt(webhook, 'admissionReviewVersions').some((one) => knownReviewVersions.includes(one)),
    ),
    hasBadValues: old.some((webhook) => selectorNames.some((name) => hasBadValue(webhook, name))),
  };
}

const harmless = ['None', 'NoneOnDryRun'];
const selectorNames = ['namespaceSelector', 'objectSelector'] as const;

const hasBadValue = (webhook: JsonObject, name: string): boolean =>
  recordsAt(recordAt(webhook, name), 'matchExpressions').some((requirement) =>
    textsAt(requirement, 'values').some((value) => labelValueProblems(value).length > 0),
  );

function validateWebhook(
  webhook: JsonObject,
  path: string,
  { hasSideEffects, hasBadValues }: Tolerated,
  scope: Scope,
): void {
  const { errors } = scope;
  validateName(textAt(webhook, 'name'), `${path}.name`, errors);
  for (const [index, rule] of recordsAt(webhook, 'rules').entries()) {
    validateRule(rule, `${path}.rules[${String(index)}]`, scope);
  }
  const sideEffects = textAt(webhook, 'sideEffects');
  if (sideEffects !== '' && !hasSideEffects && !harmless.includes(sideEffects)) {
    errors.notSupported(`${path}.sideEffects`, sideEffects, harmless);
  }
  const seconds = numberAt(webhook, 'timeoutSeconds') ?? timeoutSecondsMax;
  if (seconds < 1 || seconds > timeoutSecondsMax) {
    const detail = `the timeout value must be between 1 and ${String(timeoutSecondsMax)} seconds`;
    errors.invalid(`${path}.timeoutSeconds`, seconds, detail);
  }
  for (const selector of selectorNames) {
    validateLabelSelector(recordAt(webhook, selector), `${path}.${selector}`, errors, {
      takesBadValues: hasBadValues,
    });
  }
  validateClient(recordAt(webhook, 'clientConfig') ?? {}, `${path}.clientConfig`, errors, {
    swapsNames: true,
  });
}

function validateName(name: string, path: string, errors: FieldErrors): void {
  if (name === '') {
    errors.required(path);
    return;
  }
  const problems = dns1123SubdomainProblems(name);
  errors.problems(path, name, problems);
  if (problems.length > 0 || name.split('.').length >= 3) return;
  const detail = 'should be a domain with at least three segments separated by dots';
  errors.invalid(path, name, detail);
}

const starredLists = [
  ['operations', 'operations'],
  ['apiGroups', 'API groups'],
  ['apiVersions', 'API versions'],
] as const;

/** What a webhook or a policy is asked about. */
export function validateRule(rule: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  for (const [name, noun] of starredLists) {
    const values = textsAt(rule, name);
    if (values.includes('*') && values.length > 1) {
      const detail = `if '*' is present, must not specify other ${noun}`;
      errors.invalid(`${path}.${name}`, values, detail);
    }
    for (const [at, value] of values.entries()) {
      if (name === 'apiVersions' && value === '') errors.required(`${path}.${name}[${String(at)}]`);
    }
  }
  validateResources(textsAt(rule, 'resources'), `${path}.resources`, scope);
}

/**
 * `*`, `resource`, `resource/subresource`, with a star in place of either. Clients rely on what was
 * always accepted: a star behind the resources that it stands for, and what is wide behind what is
 * narrow.
 */
function validateResources(resources: readonly string[], path: string, { errors }: Scope): void {
  const anySubresource = new Set<string>();
  const anyResource = new Set<string>();
  let isLastWhole = false;
  for (const [at, text] of resources.entries()) {
    const where = `${path}[${String(at)}]`;
    if (text === '') {
      errors.required(where);
      continue;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      isLastWhole = text !== '*';
      continue;
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    const refuse = (wider: string): void => {
      errors.invalid(where, text, `if '${wider}' is present, must not specify ${text}`);
    };
    if (anySubresource.has(resource)) refuse(`${resource}/*`);
    if (anyResource.has(subresource)) refuse(`*/${subresource}`);
    if (subresource === '*') anySubresource.add(resource);
    if (resource === '*') anyResource.add(subresource);
  }
  if (resources.includes('*/*') && resources.length > 1) {
    errors.invalid(path, resources, "if '*/*' is present, must not specify other resources");
  }
  if (resources.includes('*') && isLastWhole) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.invalid(path, resources, detail);
  }
}

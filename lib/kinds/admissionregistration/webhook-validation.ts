// Webhook configurations: names, where a webhook is called, and the rules of what it is asked
// about.
import { numberAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Scope, Validator } from '../validator.ts';
import { validateClient, validateReviewVersions } from '../webhook-client.ts';
import { validateMatchConditions } from './expressions.ts';

const timeoutSecondsMax = 30;

export const validateWebhooks: Validator = (write) => {
  const { object, errors, naming } = write;
  const environment = policyEnvironment({ naming, hasParams: false, hasAuthorizer: true });
  for (const [at, webhook] of recordsAt(object, 'webhooks').entries()) {
    const path = `webhooks[${String(at)}]`;
    const name = textAt(webhook, 'name');
    if (name === '') errors.required(`${path}.name`);
    else {
      const problems = dns1123SubdomainProblems(name);
      errors.problems(`${path}.name`, name, problems);
      if (problems.length === 0 && name.split('.').length < 3) {
        const detail = 'should be a domain with at least three segments separated by dots';
        errors.invalid(`${path}.name`, name, detail);
      }
    }
    for (const [index, rule] of recordsAt(webhook, 'rules').entries()) {
      validateRule(rule, `${path}.rules[${String(index)}]`, write);
    }
    const seconds = numberAt(webhook, 'timeoutSeconds') ?? timeoutSecondsMax;
    if (seconds < 1 || seconds > timeoutSecondsMax) {
      const detail = `the timeout value must be between 1 and ${String(timeoutSecondsMax)} seconds`;
      errors.invalid(`${path}.timeoutSeconds`, seconds, detail);
    }
    for (const selector of ['namespaceSelector', 'objectSelector']) {
      validateLabelSelector(recordAt(webhook, selector), `${path}.${selector}`, errors);
    }
    validateClient(recordAt(webhook, 'clientConfig') ?? {}, `${path}.clientConfig`, errors, {
      swapsNames: true,
    });
    validateMatchConditions(webhook, path, environment, write);
    const versions = textsAt(webhook, 'admissionReviewVersions');
    validateReviewVersions(versions, `${path}.admissionReviewVersions`, errors);
  }
};

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

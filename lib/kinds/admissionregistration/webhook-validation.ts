// Webhook configurations: names, where a webhook is called, and the rules of what it is asked
// about.
import { isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { urlPathProblems } from '../../api/formats.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Scope, Validator } from '../validator.ts';
import { validateExpression } from './expressions.ts';

export const validateWebhooks: Validator = (write) => {
  const { object, errors, naming } = write;
  const environment = policyEnvironment({ naming, hasParams: false, hasAuthorizer: true });
  for (const [at, webhook] of recordsAt(object, 'webhooks').entries()) {
    const path = `webhooks[${String(at)}]`;
    const name = textAt(webhook, 'name');
    if (name === '') errors.required(`${path}.name`);
    else {
      errors.problems(`${path}.name`, name, dns1123SubdomainProblems(name));
      if (name.split('.').length < 3) {
        const detail = 'should be a domain with at least three segments separated by dots';
        errors.invalid(`${path}.name`, name, detail);
      }
    }
    validateClient(recordAt(webhook, 'clientConfig') ?? {}, `${path}.clientConfig`, write);
    for (const [index, rule] of recordsAt(webhook, 'rules').entries()) {
      validateRule(rule, `${path}.rules[${String(index)}]`, write);
    }
    for (const selector of ['namespaceSelector', 'objectSelector']) {
      validateLabelSelector(recordAt(webhook, selector), `${path}.${selector}`, errors);
    }
    const versions = textsAt(webhook, 'admissionReviewVersions');
    if (versions.length > 0 && !versions.some((one) => one === 'v1' || one === 'v1beta1')) {
      const detail = 'must include at least one of v1, v1beta1';
      errors.invalid(`${path}.admissionReviewVersions`, versions, detail);
    }
    for (const [index, condition] of recordsAt(webhook, 'matchConditions').entries()) {
      const where = `${path}.matchConditions[${String(index)}]`;
      validateExpression(condition, 'expression', where, { environment, kinds: ['bool'] }, write);
    }
  }
};

/** Where a webhook is called: by a URL, or as a service of the cluster. */
export function validateClient(config: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  const hasUrl = isSet(config, 'url');
  const hasService = isSet(config, 'service');
  if (hasUrl === hasService) {
    errors.required(path, 'exactly one of url or service is required');
  }
  if (hasUrl) validateUrl(textAt(config, 'url'), `${path}.url`, scope);
  const service = recordAt(config, 'service');
  const servicePath = textAt(service, 'path');
  if (servicePath !== '') {
    errors.problems(`${path}.service.path`, servicePath, urlPathProblems(servicePath).slice(1));
  }
}

function validateUrl(text: string, path: string, { errors }: Scope): void {
  const invalid = (detail: string): void => {
    errors.invalid(path, text, detail);
  };
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    invalid('url must be a valid URL, such as https://example.com/validate');
    return;
  }
  if (url.protocol !== 'https:') invalid("'https' is the only allowed URL scheme");
  if (url.host === '') invalid('host must be specified');
  if (url.username !== '' || url.password !== '') {
    invalid('user information is not permitted in the URL');
  }
  if (url.hash !== '' || text.includes('#')) invalid('fragments are not permitted in the URL');
  if (url.search !== '' || text.includes('?')) {
    invalid('query parameters are not permitted in the URL');
  }
}

/** What a webhook or a policy is asked about. */
export function validateRule(rule: JsonObject, path: string, scope: Scope): void {
  const { errors } = scope;
  for (const name of ['operations', 'apiGroups', 'apiVersions']) {
    const values = textsAt(rule, name);
    if (values.includes('*') && values.length > 1) {
      const detail = `if '*' is present, must not specify other ${name}`;
      errors.invalid(`${path}.${name}`, values, detail);
    }
    for (const [at, value] of values.entries()) {
      if (name === 'apiVersions' && value === '') errors.required(`${path}.${name}[${String(at)}]`);
    }
  }
  validateResources(textsAt(rule, 'resources'), `${path}.resources`, scope);
}

function validateResources(resources: readonly string[], path: string, { errors }: Scope): void {
  if (resources.includes('*/*') && resources.length > 1) {
    errors.invalid(path, resources, "if '*/*' is present, must not specify other resources");
    return;
  }
  const whole = new Set<string>();
  const anySubresource = new Set<string>();
  for (const [at, text] of resources.entries()) {
    const where = `${path}[${String(at)}]`;
    const [resource = '', subresource] = text.split('/', 2);
    if (text === '') {
      errors.required(where);
      continue;
    }
    if (resource === '') errors.invalid(where, text, 'must name a resource before the slash');
    if (subresource === '*') anySubresource.add(resource);
    if (resource === '*' && subresource !== undefined) whole.add(subresource);
  }
  for (const [at, text] of resources.entries()) {
    const [resource = '', subresource] = text.split('/', 2);
    const where = `${path}[${String(at)}]`;
    if (text === '*' ? false : subresource === undefined && resources.includes('*')) {
      errors.invalid(
        where,
        text,
        "if '*' is present, must not specify other resources without subresources",
      );
    } else if (subresource !== undefined && subresource !== '*' && anySubresource.has(resource)) {
      errors.invalid(where, text, `if '${resource}/*' is present, must not specify ${text}`);
    } else if (subresource !== undefined && resource !== '*' && whole.has(subresource)) {
      errors.invalid(where, text, `if '*/${subresource}' is present, must not specify ${text}`);
    }
  }
}

// The file of --audit-policy-file: a Policy in YAML or JSON. Decoding is strict: a rule that is
// misspelt would record too little, or too much.
import { FieldErrors } from '../api/field-errors.ts';
import { flagAt, isSet, recordsAt, textAt, textsAt } from '../api/json-access.ts';
import { dns1123SubdomainProblems } from '../api/name-rules.ts';
import type { Scheme } from '../api/scheme.ts';
import type { JsonObject } from '../api/type-info.ts';
import { fieldErrorMessage } from '../base/status.ts';
import { checkDocumentKind } from '../codec/strict-fields.ts';
import { yamlCodec } from '../codec/yaml.ts';
import { AuditPolicy, levels, stages } from './policy.ts';
import type { GroupResources, Level, PolicyRule, Stage } from './policy.ts';

const kind = 'Policy';

/**
 * @param text YAML or JSON
 * @throws Error that names each wrong field
 */
export function readPolicy(text: string, scheme: Pick<Scheme, 'type' | 'profile'>): AuditPolicy {
  const type = scheme.type('audit/v1.Policy');
  const { object, problems } = yamlCodec.decode(Buffer.from(text), type);
  const [problem] = problems;
  if (problem !== undefined) {
    throw new Error(`strict decoding error: ${problem.kind} field "${problem.path}"`);
  }
  checkDocumentKind(object, { kind, apiVersions: [`${scheme.profile.auditGroup}/v1`] });
  const rules = recordsAt(object, 'rules');
  if (rules.length === 0) {
    throw new Error('the policy has no rules: it must have one at least, or it records nothing');
  }
  const errors = new FieldErrors();
  const omitted = stagesIn(object, 'omitStages', errors);
  const omits = flagAt(object, 'omitManagedFields');
  const made = rules.map((rule, at) => {
    const path = `rules[${String(at)}]`;
    checkRule(rule, path, errors);
    const stagesOfRule = stagesIn(rule, `${path}.omitStages`, errors);
    return ruleOf(rule, {
      level: levelIn(rule, `${path}.level`, errors),
      omittedStages: new Set([...omitted, ...stagesOfRule]),
      omitsManagedFields: isSet(rule, 'omitManagedFields')
        ? flagAt(rule, 'omitManagedFields')
        : omits,
    });
  });
  if (errors.list.length > 0) throw new Error(problemsText(errors));
  return new AuditPolicy(made);
}

function levelIn(rule: JsonObject, path: string, errors: FieldErrors): Level {
  const given = textAt(rule, 'level');
  const level = levels.find((one) => one === given);
  if (given === '') errors.required(path);
  else if (level === undefined) errors.notListed(path, given, levels);
  return level ?? 'None';
}

function stagesIn(of: JsonObject, path: string, errors: FieldErrors): readonly Stage[] {
  return textsAt(of, 'omitStages').flatMap((given, at) => {
    const stage = stages.find((one) => one === given);
    if (stage !== undefined) return [stage];
    errors.invalid(`${path}[${String(at)}]`, given, `allowed stages are ${stages.join(',')}`);
    return [];
  });
}

function checkRule(rule: JsonObject, path: string, errors: FieldErrors): void {
  const urls = textsAt(rule, 'nonResourceURLs');
  for (const [at, url] of urls.entries()) {
    if (url === '*') continue;
    const field = `${path}.nonResourceURLs[${String(at)}]`;
    if (!url.startsWith('/')) {
      errors.invalid(field, url, "non-resource URL rules must begin with a '/' character");
    }
    if (url.slice(0, -1).includes('*')) {
      const detail = "non-resource URL wildcards '*' must be the final character of the rule";
      errors.invalid(field, url, detail);
    }
  }
  const resources = recordsAt(rule, 'resources');
  for (const entry of resources) checkResources(entry, `${path}.resources`, errors);
  const namesResources = resources.length > 0 || textsAt(rule, 'namespaces').length > 0;
  if (urls.length > 0 && namesResources) {
    const detail = 'rules cannot match both regular resources and non-resource URLs';
    errors.invalid(`${path}.nonResourceURLs`, urls, detail);
  }
}

function checkResources(entry: JsonObject, path: string, errors: FieldErrors): void {
  const group = textAt(entry, 'group');
  if (group !== '') errors.problems(`${path}.group`, group, dns1123SubdomainProblems(group));
  const names = textsAt(entry, 'resourceNames');
  if (names.length > 0 && textsAt(entry, 'resources').length === 0) {
    const detail = 'using resourceNames requires at least one resource';
    errors.invalid(`${path}.resourceNames`, names, detail);
  }
}

const ruleOf = (rule: JsonObject, outcome: PolicyRule['outcome']): PolicyRule => ({
  users: textsAt(rule, 'users'),
  userGroups: textsAt(rule, 'userGroups'),
  verbs: textsAt(rule, 'verbs'),
  namespaces: textsAt(rule, 'namespaces'),
  nonResourceURLs: textsAt(rule, 'nonResourceURLs'),
  resources: recordsAt(rule, 'resources').map((entry): GroupResources => ({
    group: textAt(entry, 'group'),
    resources: textsAt(entry, 'resources'),
    resourceNames: textsAt(entry, 'resourceNames'),
  })),
  outcome,
});

const problemsText = ({ list }: FieldErrors): string =>
  list.map((error) => `${error.field}: ${fieldErrorMessage(error)}`).join('; ');

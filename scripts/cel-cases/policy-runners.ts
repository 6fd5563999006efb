// Runs the cases of policies and of authentication and authorization configuration.
import { objectCostBudget } from '../../lib/cel/testing/evaluate.ts';
import { loadResourceSchema } from '../../lib/api/load-schema.ts';
import { compileExpression } from '../../lib/authn/jwt/expressions.ts';
import { sourceOf } from '../../lib/api/testing/schema-types.ts';
import { parseLabelRequirements } from '../../lib/api/selector.ts';
import type {
  AuthorizationCheck,
  AuthorizationDecision,
  Authorizer,
} from '../../lib/cel/model/declarations.ts';
import type { Environment } from '../../lib/cel/environment.ts';
import { Budget } from '../../lib/cel/use/budget.ts';
import { composeVariables } from '../../lib/cel/use/composition.ts';
import type { NamedExpression } from '../../lib/cel/use/composition.ts';
import { compileCondition, evaluateConditions } from '../../lib/cel/use/conditions.ts';
import type { ConditionsOutcome } from '../../lib/cel/use/conditions.ts';
import {
  authorizationEnvironment,
  policyEnvironment,
} from '../../lib/cel/use/policy-environment.ts';
import { atOnce } from '../../lib/base/steps.ts';
import { typeCheckPolicy } from '../../lib/cel/use/type-check.ts';
import { naming } from './base-runners.ts';
import type { Runner } from './base-runners.ts';
import { isRecord, plainJson, textOf, typedValue } from './case-values.ts';
import type { Json, JsonRecord } from './case-values.ts';
import type { Outcome } from './differences.ts';

const authentication: Runner = (record) => {
  const compiled = compileExpression(textOf(record['expr']), {
    subject: record['scope'] === 'claims' ? 'claims' : 'user',
    naming,
    result: textOf(record['kind']).endsWith('Condition') ? 'bool' : 'any',
  });
  return { compileError: typeof compiled === 'string' ? compiled : null };
};

const authorization: Runner = (record) => {
  const environment = authorizationEnvironment({
    naming,
    authorizerSelectors: record['authorizeWithSelectors'] === true,
  });
  return { compileError: compileCondition(environment, textOf(record['expr'])).error ?? null };
};

const compile: Runner = (record) => {
  const environment = policyEnvironment({
    naming,
    hasParams: record['hasParams'] === true,
    hasAuthorizer: record['hasAuthorizer'] === true,
  });
  return { compileError: compileCondition(environment, textOf(record['expr'])).error ?? null };
};

function versionOf(record: JsonRecord): number | 'stored' {
  if (record['storedExpressionsEnv'] === true) return 'stored';
  const { compatibilityVersion } = record;
  return typeof compatibilityVersion === 'string' ? Number(compatibilityVersion.split('.')[1]) : 35;
}

const environmentOf = (record: JsonRecord): Environment =>
  policyEnvironment({
    naming,
    version: versionOf(record),
    authorizerSelectors: record['enableSelectors'] !== false,
    hasParams: record['hasParamKind'] === true,
    hasAuthorizer: true,
  });

function bindingsOf(record: JsonRecord): Readonly<Record<string, unknown>> {
  const names = ['object', 'oldObject', 'params', 'request', 'namespaceObject'];
  return Object.fromEntries(names.map((name) => [name, plainJson(record[name] ?? null)]));
}

function outcomeOf(outcome: ConditionsOutcome, budget: Budget): Outcome {
  const remainingBudget = budget.remaining;
  if (outcome.kind === 'pending') return { error: 'pending', remainingBudget };
  if (outcome.kind === 'exhausted') return { error: outcome.message, remainingBudget };
  const results = outcome.results.map((result) =>
    result.kind === 'value' ? { value: typedValue(result.value) } : { error: result.message },
  );
  return { results, remainingBudget };
}

function budgetOf(record: JsonRecord): Budget {
  return new Budget(
    typeof record['costBudget'] === 'number' ? record['costBudget'] : objectCostBudget,
  );
}

const conditions: Runner = (record) => {
  const environment = environmentOf(record);
  const compiled = (record['expressions'] as readonly Json[]).map((text) =>
    compileCondition(environment, textOf(text), 'any'),
  );
  const budget = budgetOf(record);
  const limit = record['perCallLimit'];
  const outcome = evaluateConditions(compiled, bindingsOf(record), budget, {
    authorizer: authorizerOf(record),
    ...(typeof limit === 'number' ? { costLimit: limit } : {}),
  });
  return outcomeOf(outcome, budget);
};

const composition: Runner = (record) => {
  const composed = composeVariables(
    environmentOf(record),
    record['variables'] as unknown as readonly NamedExpression[],
  );
  const compiled = compileCondition(composed.environment, textOf(record['expr']), 'any');
  const budget = budgetOf(record);
  const { bindings, costs } = composed.bind(bindingsOf(record));
  return outcomeOf(
    evaluateConditions([compiled], bindings, budget, { sharedCosts: costs }),
    budget,
  );
};

/** The answers of a case: `onMatch` for the question that equals `match`. */
function authorizerOf(record: JsonRecord): Authorizer {
  const answers = isRecord(record['authorizer']) ? record['authorizer'] : {};
  const answer = (json: Json | undefined): AuthorizationDecision => {
    const found = isRecord(json) ? json : {};
    return {
      decision: (found['decision'] ?? 'noOpinion') as AuthorizationDecision['decision'],
      reason: textOf(found['reason']),
      error: textOf(found['error']),
    };
  };
  return {
    decide: (check) => {
      const { match } = answers;
      const isMatch = isRecord(match) && matches(match, questionOf(check));
      return answer(isMatch ? answers['onMatch'] : answers['default']);
    },
  };
}

const matches = (wanted: JsonRecord, asked: JsonRecord): boolean =>
  Object.entries(wanted).every(
    ([key, value]) => JSON.stringify(value) === JSON.stringify(asked[key]),
  );

function questionOf(check: AuthorizationCheck): JsonRecord {
  const { serviceAccount } = check;
  const user =
    serviceAccount === undefined
      ? {}
      : {
          user: {
            name: `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`,
            groups: [
              'system:serviceaccounts',
              `system:serviceaccounts:${serviceAccount.namespace}`,
            ],
          },
        };
  const {
    resourceRequest,
    verb,
    apiGroup,
    apiVersion,
    resource,
    subresource,
    namespace,
    name,
    path,
  } = check;
  return {
    resourceRequest,
    verb,
    apiGroup,
    apiVersion,
    resource,
    subresource,
    namespace,
    name,
    path,
    ...selectorsOf(check),
    ...user,
  };
}

function selectorsOf(check: AuthorizationCheck): JsonRecord {
  const asked: Record<string, Json> = { fieldSelector: [], labelSelector: '' };
  try {
    const terms = /^$/.test(check.fieldSelector ?? '')
      ? []
      : (check.fieldSelector ?? '').split(',');
    asked['fieldSelector'] = terms.map((term) => {
      const parts = /^([^=!]+)(==?|!=)(.*)$/.exec(term);
      if (parts === null) throw new Error('invalid');
      return {
        operator: parts[2] === '!=' ? '!=' : '=',
        field: parts[1] ?? '',
        value: parts[3] ?? '',
      };
    });
  } catch {
    asked['fieldSelectorInvalid'] = true;
  }
  try {
    parseLabelRequirements(check.labelSelector ?? '');
    asked['labelSelector'] = check.labelSelector ?? '';
  } catch {
    asked['labelSelectorInvalid'] = true;
  }
  return asked;
}

const typeCheck: Runner = (record) => {
  const policy = isRecord(record['policy']) ? record['policy'] : {};
  const spec = isRecord(policy['spec']) ? policy['spec'] : {};
  const schema = record['schema'];
  const type =
    schema === undefined
      ? undefined
      : loadResourceSchema(plainJson(schema), sourceOf('objectType1'));
  const validations = Array.isArray(spec['validations'])
    ? (spec['validations'] as readonly JsonRecord[])
    : [];
  const expressions = validations.flatMap((validation, index) =>
    ['expression', 'messageExpression'].flatMap((field) => {
      const expression = validation[field];
      if (typeof expression !== 'string') return [];
      return [{ fieldRef: `spec.validations[${String(index)}].${field}`, expression }];
    }),
  );
  return {
    warnings: atOnce(
      typeCheckPolicy({
        naming,
        kinds: type === undefined ? [] : kindsOf(spec).map((kind) => ({ ...kind, type })),
        hasParams: spec['paramKind'] !== undefined,
        ...(type === undefined ? {} : { paramsType: type }),
        variables: (spec['variables'] ?? []) as unknown as readonly NamedExpression[],
        expressions,
      }),
    ),
  };
};

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * Every combination that the policy's rules name; resources become kinds by dropping the plural.
 */
function kindsOf(spec: JsonRecord): readonly Kind[] {
  const constraints = isRecord(spec['matchConstraints']) ? spec['matchConstraints'] : {};
  const rules = (constraints['resourceRules'] ?? []) as unknown as readonly JsonRecord[];
  const textsOf = (json: Json | undefined): readonly string[] =>
    Array.isArray(json) ? json.map(String) : [];
  return rules.flatMap((rule) =>
    textsOf(rule['apiGroups']).flatMap((group) =>
      textsOf(rule['apiVersions']).flatMap((version) =>
        textsOf(rule['resources']).map((resource) => {
          const singular = resource.replace(/s$/, '');
          return { group, version, kind: singular.charAt(0).toUpperCase() + singular.slice(1) };
        }),
      ),
    ),
  );
}

export const policyRunners: Readonly<Record<string, Runner>> = {
  'authn_config.json': authentication,
  'authz_config.json': authorization,
  'vap_compile.json': compile,
  'vap_composition.json': composition,
  'vap_conditions.json': conditions,
  'vap_cost_budget.json': conditions,
  'vap_typecheck.json': typeCheck,
};

// Rules of a schema compile, see what they may, and cost no more than an object may spend.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject, ValueInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { longStep } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { summarizeCosts } from '../../cel/schema/cardinality.ts';
import { SchemaTypes } from '../../cel/schema/schema-types.ts';
import { UnsupportedSchemaError, schemaRuleSteps } from '../../cel/use/schema-rules.ts';
import type { CompiledRule, StoredExpressions } from '../../cel/use/schema-rules.ts';
import { shownRule } from './internal-form.ts';

const ruleCostMax = 10_000_000n;
const schemaCostMax = 100_000_000n;

export interface ExpressionOptions {
  readonly naming: NamingProfile;
  /** Where failures go. */
  readonly errors: FieldErrors;
  /** Expressions of the stored definition, which may use all that an older server took. */
  readonly stored: StoredExpressions;
  /** The schema is stored just so: what one rule costs was accepted. */
  readonly isStored: boolean;
  /** Minor of the version that new expressions may use; absent: the default. */
  readonly version?: number | undefined;
}

/** The rules of one node. */
export interface RuleNode {
  readonly rules: readonly JsonObject[];
  readonly path: string;
  readonly value: ValueInfo;
  /** How often a value of the node can occur; undefined: without bound. */
  readonly times: bigint | undefined;
  /** The outermost list whose items have no older value; undefined: there is none around. */
  readonly unrelated: string | undefined;
}

interface RuleCost {
  readonly path: string;
  readonly cost: bigint;
}

/** Judges the rules of one schema, node by node, and then what they cost together. */
export class RuleJudge {
  readonly #options: ExpressionOptions;
  readonly #types = new SchemaTypes();
  readonly #costs: RuleCost[] = [];

  constructor(options: ExpressionOptions) {
    this.#options = options;
  }

  *judge(node: RuleNode): Steps<void> {
    const { errors, naming, stored, version } = this.#options;
    const { path, value } = node;
    try {
      const rules = value.schema?.rules ?? [];
      const options = {
        ...{ naming, stored, types: this.#types },
        ...(version === undefined ? {} : { version }),
      };
      const compiled = yield* schemaRuleSteps(value, options, rules);
      const times = node.times ?? compiled.maxCardinality;
      for (const [at, one] of compiled.rules.entries()) {
        const given = node.rules[at] ?? {};
        this.#judgeRule(one, given, { ...node, path: `${path}[${String(at)}]`, times });
        yield longStep;
      }
    } catch (error) {
      if (!(error instanceof UnsupportedSchemaError)) throw error;
      for (const [at, rule] of node.rules.entries()) {
        errors.invalid(`${path}[${String(at)}].rule`, shownRule(rule), error.message);
      }
    }
  }

  /** Once all nodes are judged; `path` is that of the schema. */
  judgeTotal(path: string): void {
    const { errors, naming } = this.#options;
    const { total, mostExpensive } = summarizeCosts(this.#costs.map(({ cost }) => cost));
    if (total <= schemaCostMax) return;
    const named = new Set<RuleCost>();
    for (const cost of mostExpensive) {
      const found = this.#costs.find((one) => one.cost === cost && !named.has(one));
      if (found === undefined) continue;
      named.add(found);
      const detail =
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
      errors.forbidden(found.path, detail);
    }
    const what = `${naming.schemaExtensionPrefix}validations estimated rule cost total`;
    const detail = costText(`${what} for entire OpenAPIv3 schema`, total, schemaCostMax);
    errors.forbidden(path, detail);
  }

  #judgeRule(
    compiled: CompiledRule,
    given: JsonObject,
    { path, times, unrelated }: RuleNode & { readonly times: bigint },
  ): void {
    const { errors } = this.#options;
    this.#account(`${path}.rule`, 'rule', compiled.maxCost * times);
    if (compiled.error !== undefined) {
      errors.invalid(`${path}.rule`, shownRule(given), compiled.error);
    }
    if (compiled.messageError !== undefined) {
      errors.invalid(`${path}.messageExpression`, shownRule(given), compiled.messageError);
    } else if (compiled.messageProgram !== undefined) {
      const cost = compiled.messageProgram.estimatedCost.max * times;
      this.#account(`${path}.messageExpression`, 'messageExpression', cost);
    }
    if (compiled.usesOldSelf && unrelated !== undefined) {
      const place = `the uncorrelatable portion of the schema within ${unrelated}`;
      errors.invalid(`${path}.rule`, textAt(given, 'rule'), `oldSelf cannot be used on ${place}`);
    } else if (!compiled.usesOldSelf && isSet(given, 'optionalOldSelf')) {
      const detail = 'may not be set if oldSelf is not used in rule';
      errors.invalid(`${path}.optionalOldSelf`, valueAt(given, 'optionalOldSelf'), detail);
    }
  }

  #account(path: string, noun: string, cost: bigint): void {
    const { errors, isStored } = this.#options;
    this.#costs.push({ path, cost });
    if (isStored || cost <= ruleCostMax) return;
    errors.forbidden(path, costText(`estimated ${noun} cost`, cost, ruleCostMax));
  }
}

function costText(what: string, cost: bigint, costMax: bigint): string {
  const factor = Number(cost) / Number(costMax);
  const shown =
    factor > 100
      ? 'more than 100x'
      : factor < 1.5
        ? `${factor.toFixed(6)}x`
        : `${factor.toFixed(1)}x`;
  return (
    `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding ` +
    'maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'
  );
}

// The rules about a value and about the values within it, compiled when they are first needed: a
// schema may have thousands, and most objects use few of its parts.
import type { ValueInfo } from '../../api/type-info.ts';
import { elementOf, memberOf } from '../../api/value-info.ts';
import { isDeclared } from '../schema/value-types.ts';
import { UnsupportedSchemaError, compileSchemaRules } from './schema-rules.ts';
import type { CompiledRule, SchemaRulesOptions } from './schema-rules.ts';

export interface RuleNodeOptions extends SchemaRulesOptions {
  /** The values of the schema that have rules, and those that hold one. */
  readonly reaching: ReadonlySet<ValueInfo>;
  /** Told how long it took to compile the rules of one value. */
  readonly onCompiled?: ((ms: number) => void) | undefined;
}

interface Compiled {
  readonly rules: readonly CompiledRule[];
  readonly failure: string | undefined;
}

export class RuleNode {
  readonly info: ValueInfo;
  /** Whether nothing is around it. */
  readonly isRoot: boolean;
  readonly #rulesOf: ValueInfo;
  readonly #options: RuleNodeOptions;
  readonly #members = new Map<string, RuleNode>();
  #compiled: Compiled | undefined;
  #element: RuleNode | undefined;
  #allOf: readonly RuleNode[] | undefined;

  /** `rulesOf` holds rules, `info` types: they differ below allOf. */
  constructor(
    rulesOf: ValueInfo,
    info: ValueInfo,
    options: RuleNodeOptions,
    { isRoot = true }: { readonly isRoot?: boolean } = {},
  ) {
    this.#rulesOf = rulesOf;
    this.info = info;
    this.#options = options;
    this.isRoot = isRoot;
  }

  get rules(): readonly CompiledRule[] {
    return this.#compile().rules;
  }

  /** Why the rules could not be compiled at all; undefined: they could. */
  get failure(): string | undefined {
    return this.#compile().failure;
  }

  /** Elements of a list or map; undefined: there are no rules about them. */
  get element(): RuleNode | undefined {
    return (this.#element ??= this.#below(this.#rulesOf.element, elementOf(this.info)));
  }

  /** Members without a type are left out of validation, as they are of expressions. */
  member(name: string): RuleNode | undefined {
    const known = this.#members.get(name);
    if (known !== undefined || this.#rulesOf.cardinality !== 'single') return known;
    const info = memberOf(this.info, name);
    if (info === undefined || !isDeclared(info)) return undefined;
    const node = this.#below(memberOf(this.#rulesOf, name), info);
    if (node !== undefined) this.#members.set(name, node);
    return node;
  }

  get allOf(): readonly RuleNode[] {
    const parts = this.#rulesOf.schema?.allOf ?? [];
    return (this.#allOf ??= parts.flatMap((part) => this.#below(part, this.info) ?? []));
  }

  #below(rules: ValueInfo | undefined, info: ValueInfo | undefined): RuleNode | undefined {
    if (rules === undefined || info === undefined) return undefined;
    if (!this.#options.reaching.has(rules)) return undefined;
    return new RuleNode(rules, info, this.#options, { isRoot: false });
  }

  #compile(): Compiled {
    if (this.#compiled !== undefined) return this.#compiled;
    const fromMs = performance.now();
    this.#compiled = compileRules(this.#rulesOf, this.info, this.#options);
    if (this.#rulesOf.schema?.rules.length !== 0) {
      this.#options.onCompiled?.(performance.now() - fromMs);
    }
    return this.#compiled;
  }
}

function compileRules(rulesOf: ValueInfo, info: ValueInfo, options: SchemaRulesOptions): Compiled {
  try {
    return {
      rules: compileSchemaRules(info, options, rulesOf.schema?.rules).rules,
      failure: undefined,
    };
  } catch (error) {
    if (error instanceof UnsupportedSchemaError) return { rules: [], failure: error.message };
    throw error;
  }
}

// What an expression may use: variables, object types and functions. `compile` turns a text into
// an immutable Program, or says everything that is wrong with it. Pure and synchronous; nothing
// here reads the time or the network.
import type { NamingProfile } from '../api/vendor.ts';
import { atOnce } from '../base/steps.ts';
import type { Steps } from '../base/steps.ts';
import type { CelType } from './model/cel-type.ts';
import { checkExpression } from './check/checker.ts';
import type { CheckedExpression } from './model/checked-expression.ts';
import { noObjectTypes } from './model/declarations.ts';
import type { ObjectTypes } from './model/declarations.ts';
import { Scope, typeIdentifiers } from './check/scope.ts';
import type { Identifier } from './model/checked-expression.ts';
import { validateLiterals } from './check/validate-literals.ts';
import { estimateCost } from './cost/estimate.ts';
import type { SizeEstimator } from './model/cost-node.ts';
import { PlanError, planExpression } from './eval/plan.ts';
import type { Value } from './model/value.ts';
import type { DeviceSelectorFeatures } from './library/device-selectors.ts';
import { languageOf } from './library/libraries.ts';
import type { Language } from './library/libraries.ts';
import { Program } from './program.ts';
import { parseExpression } from './syntax/parser.ts';
import { issueLines, renderIssues } from './syntax/source.ts';
import type { Issue } from './syntax/source.ts';

/** A name that expressions may use. */
export interface Variable {
  /** May contain dots: a qualified name. */
  readonly name: string;
  readonly type: CelType;
  /**
   * Makes a value of what the embedding binds, when an evaluation first uses it. Default: as JSON
   * of unknown type.
   */
  readonly wrap?: (bound: unknown) => Value;
  /** The value, where it is always the same and nothing needs to be bound. */
  readonly value?: Value;
}

export interface EnvironmentOptions {
  readonly naming: NamingProfile;
  readonly variables?: readonly Variable[];
  readonly objects?: ObjectTypes;
  /**
   * Minor of the compatibility version 1.x that new expressions may use; `stored`: everything.
   * Default: 35.
   */
  readonly version?: number | 'stored';
  readonly authorizerSelectors?: boolean;
  readonly jsonPatch?: boolean;
  /** What only selectors of devices have. Default: nothing of it. */
  readonly deviceSelectors?: DeviceSelectorFeatures;
  /** Sizes of variables' parts for estimates. Default: nothing is known. */
  readonly sizes?: SizeEstimator;
  /** Compute constant parts when compiling (changes costs). Default: true. */
  readonly foldsConstants?: boolean;
}

/** The version before this release: what a server that is rolled back still understands. */
export const defaultVersion = 35;

/** Why a text is not an expression of its environment. */
export class CompileErrors {
  readonly text: string;
  readonly issues: readonly Issue[];
  constructor(text: string, issues: readonly Issue[]) {
    this.text = text;
    this.issues = issues;
  }
  /** As a person reads it: each error with its line and a mark under the place. */
  toText(): string {
    return renderIssues(this.text, this.issues);
  }
  /** `line:column: message` for each error. */
  toLines(): readonly string[] {
    return issueLines(this.text, this.issues);
  }
}

/** A constant part of the expression fails: it compiles, but can never be evaluated. */
export class ProgramFailure {
  readonly message: string;
  readonly checked: CheckedExpression;
  constructor(message: string, checked: CheckedExpression) {
    this.message = message;
    this.checked = checked;
  }
}

export class Environment {
  readonly options: EnvironmentOptions;
  readonly #language: Language;
  readonly #scope: Scope;
  readonly #objects: ObjectTypes;
  readonly #variables: ReadonlyMap<string, Variable>;

  constructor(options: EnvironmentOptions) {
    this.options = options;
    this.#language = languageOf({
      naming: options.naming,
      version: options.version ?? defaultVersion,
      authorizerSelectors: options.authorizerSelectors ?? true,
      jsonPatch: options.jsonPatch ?? false,
      deviceSelectors: options.deviceSelectors,
    });
    this.#objects = options.objects ?? noObjectTypes;
    const variables = options.variables ?? [];
    this.#variables = new Map(variables.map((variable) => [variable.name, variable]));
    const names = new Map<string, Identifier>(
      typeIdentifiers(this.#language.types, this.#language.hasOptionals),
    );
    for (const { name, type } of variables) {
      names.set(name, { name, type, constant: undefined, isLocal: false });
    }
    this.#scope = new Scope(names);
  }

  /** The same environment with more variables. */
  extend(variables: readonly Variable[]): Environment {
    return new Environment({
      ...this.options,
      variables: [...(this.options.variables ?? []), ...variables],
    });
  }

  /** Parses and checks only. */
  check(text: string): CheckedExpression | CompileErrors {
    return atOnce(this.#checkSteps(text));
  }

  /**
   * The program of a text. The same environment gives equal programs for equal texts: cache them.
   */
  compile(text: string): Program | CompileErrors | ProgramFailure {
    return atOnce(this.compileSteps(text));
  }

  /** `compile`, for texts of any length. */
  *compileSteps(text: string): Steps<Program | CompileErrors | ProgramFailure> {
    const checked = yield* this.#checkSteps(text);
    return checked instanceof CompileErrors ? checked : yield* this.#planSteps(checked);
  }

  /** The program of a checked expression. */
  plan(checked: CheckedExpression): Program | ProgramFailure {
    return atOnce(this.#planSteps(checked));
  }

  *#checkSteps(text: string): Steps<CheckedExpression | CompileErrors> {
    const parsed = parseExpression(text, {
      macros: this.#language.macros,
      optionalSyntax: this.#language.hasOptionals,
    });
    if ('issues' in parsed) return new CompileErrors(text, parsed.issues);
    yield;
    const result = checkExpression(parsed.parsed, {
      scope: this.#scope,
      functions: this.#language.functions,
      objects: this.#objects,
    });
    if ('issues' in result) return new CompileErrors(text, result.issues);
    yield;
    const issues = this.#language.validatesLiterals ? validateLiterals(result.checked) : [];
    return issues.length > 0 ? new CompileErrors(text, issues) : result.checked;
  }

  *#planSteps(checked: CheckedExpression): Steps<Program | ProgramFailure> {
    try {
      const plan = planExpression(checked, {
        objects: this.#objects,
        foldsConstants: this.options.foldsConstants ?? true,
      });
      yield;
      return new Program({
        text: checked.text,
        nodeCount: checked.offsets.length,
        plan,
        resultType: checked.resultType,
        estimatedCost: estimateCost(checked, this.options.sizes ?? (() => undefined)),
        variables: plan.variables.map(({ name, slot }) => {
          const declared = this.#variables.get(name);
          return { slot, name, wrap: declared?.wrap, value: declared?.value };
        }),
      });
    } catch (error) {
      if (error instanceof PlanError) return new ProgramFailure(error.message, checked);
      throw error;
    }
  }
}

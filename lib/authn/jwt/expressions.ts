// Expressions over the claims of a token, or over the user that they give: what they may use, which
// claims they read, and how their values become texts. An evaluation is bounded by its cost.
import { ofProfile } from '../../api/vendor.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { CompileErrors } from '../../cel/environment.ts';
import type { Environment } from '../../cel/environment.ts';
import { childrenOf, operators } from '../../cel/model/ast.ts';
import type { Expr } from '../../cel/model/ast.ts';
import type { CheckedExpression } from '../../cel/model/checked-expression.ts';
import { isList, listItems } from '../../cel/model/value.ts';
import type { Value } from '../../cel/model/value.ts';
import { Program } from '../../cel/program.ts';
import type { Bindings } from '../../cel/program.ts';
import { claimsEnvironment, userEnvironment } from '../../cel/use/policy-environment.ts';

/** What an expression is about: the variable `claims` or `user`. */
export type ExpressionSubject = 'claims' | 'user';

export interface CompiledExpression {
  readonly program: Program;
  /** With the types and meanings of all its parts. */
  readonly checked: CheckedExpression;
}

const environments = ofProfile((naming): Readonly<Record<ExpressionSubject, Environment>> => ({
  claims: claimsEnvironment({ naming }),
  user: userEnvironment({ naming }),
}));

/** The compiled expression, or in words why there is none. */
export function compileExpression(
  text: string,
  of: {
    readonly subject: ExpressionSubject;
    readonly naming: NamingProfile;
    readonly result: 'bool' | 'any';
  },
): CompiledExpression | string {
  const environment = environments(of.naming)[of.subject];
  const checked = environment.check(text);
  if (checked instanceof CompileErrors) return `compilation failed: ${checked.toText()}`;
  if (of.result === 'bool' && checked.resultType.kind !== 'bool') return 'must evaluate to bool';
  const program = environment.plan(checked);
  if (program instanceof Program) return { program, checked };
  return `program instantiation failed: ${program.message}`;
}

/**
 * Whether the expression looks at a claim: `claims.email`, `claims.?email`, `has(claims.email)`,
 * `claims["email"]`. Names are those of the checked tree: a loop's own `claims` does not count.
 */
export function readsClaim(checked: CheckedExpression, claim: string): boolean {
  const isClaims = (expr: Expr | undefined): boolean => {
    if (expr?.kind !== 'ident') return false;
    const reference = checked.references[expr.id];
    return (
      reference?.kind === 'name' &&
      !reference.identifier.isLocal &&
      reference.identifier.name === 'claims'
    );
  };
  const selects = (expr: Expr): boolean => {
    if (expr.kind === 'select') return expr.field === claim && isClaims(expr.operand);
    if (expr.kind !== 'call' || !selections.has(expr.function)) return false;
    const [operand, key] = expr.args;
    return isClaims(operand) && key?.kind === 'literal' && key.value === claim;
  };
  const within = (expr: Expr): boolean => selects(expr) || childrenOf(expr).some(within);
  return within(checked.root);
}

const selections: ReadonlySet<string> = new Set([
  operators.optionalSelect,
  operators.index,
  operators.optionalIndex,
]);

/** @throws Error that says why the expression has no value. */
export function evaluate({ program }: CompiledExpression, bindings: Bindings): Value {
  const result = program.evaluate(bindings);
  if (result.kind === 'value') return result.value;
  const why = result.kind === 'error' ? result.message : 'it asks an authorizer';
  throw new Error(`expression '${program.text}' resulted in error: ${why}`);
}

/**
 * A text, or a list of texts; what is empty or null is as good as absent.
 * @throws Error for a value of any other type.
 */
export function textsOf(value: Value): readonly string[] {
  if (value === null || value === '') return [];
  if (typeof value === 'string') return [value];
  if (!isList(value)) throw new Error(noTexts);
  return listItems(value).flatMap((item) => {
    if (typeof item !== 'string') throw new Error(noTexts);
    return item === '' ? [] : [item];
  });
}

const noTexts = 'expression must return a string or a list of strings';

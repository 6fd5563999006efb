// What a macro is: a call that the parser replaces by other expressions.
import type { Expr } from './ast.ts';
import type { NodeFactory } from './node-factory.ts';

/** Why a macro cannot be expanded, and at which expression. */
export class MacroError extends Error {
  readonly at: Expr;
  constructor(at: Expr, message: string) {
    super(message);
    this.at = at;
  }
}

export interface Macro {
  readonly name: string;
  readonly argCount: number;
  /** A method (`x.all(...)`) or a function (`has(...)`). */
  readonly isMember: boolean;
  /** The only name that it is a method of. */
  readonly receiver?: string;
  /** The expansion. `target` is the receiver of a method. Throws a MacroError. */
  readonly expand: (make: NodeFactory, args: readonly Expr[], target: Expr) => Expr;
}

export function isMacroFor(macro: Macro, argCount: number, target: Expr | undefined): boolean {
  const { isMember, receiver } = macro;
  if (macro.argCount !== argCount || isMember !== (target !== undefined)) return false;
  return receiver === undefined || (target?.kind === 'ident' && target.name === receiver);
}

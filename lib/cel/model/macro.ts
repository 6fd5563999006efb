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
  /** The expansion. `target` is the receiver of a method. Throws a MacroError. */
  readonly expand: (make: NodeFactory, args: readonly Expr[], target: Expr) => Expr;
}

// What the checker found out about a tree: a type per node, and what names and calls mean.
import type { CelType } from './cel-type.ts';
import type { FunctionDeclaration, Overload } from './declarations.ts';
import type { ParsedExpression } from './ast.ts';
import type { Value } from './value.ts';

/** A name, as far as its scope knows it. */
export interface Identifier {
  readonly name: string;
  readonly type: CelType;
  /** The value, where the name stands for a constant (a type). */
  readonly constant: Value | undefined;
  readonly isLocal: boolean;
}

/** What a name or call means. */
export type Reference =
  | { readonly kind: 'name'; readonly identifier: Identifier }
  | {
      readonly kind: 'function';
      readonly function: FunctionDeclaration;
      /** All overloads that fit the static types. */
      readonly overloads: readonly Overload[];
      /**
       * The call is written like a method but names a function (`lists.range(3)`): there is no
       * receiver.
       */
      readonly isQualified: boolean;
    };

export interface CheckedExpression extends ParsedExpression {
  readonly types: readonly (CelType | undefined)[];
  readonly references: readonly (Reference | undefined)[];
  readonly resultType: CelType;
}

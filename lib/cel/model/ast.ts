// The syntax tree of an expression, macros expanded. Nodes are immutable and numbered; a number
// gives the place in the text.
import type { Value } from './value.ts';

export interface Literal {
  readonly kind: 'literal';
  readonly id: number;
  readonly value: Value;
}
/** A simple or, with a leading dot, absolute name. */
export interface Ident {
  readonly kind: 'ident';
  readonly id: number;
  readonly name: string;
}
/** `operand.field`, or with `testOnly` the question whether it is there. */
export interface Select {
  readonly kind: 'select';
  readonly id: number;
  readonly operand: Expr;
  readonly field: string;
  readonly testOnly: boolean;
}
/** A call of a function or operator; with a target, of a method. */
export interface Call {
  readonly kind: 'call';
  readonly id: number;
  readonly function: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
}
export interface ListLiteral {
  readonly kind: 'list';
  readonly id: number;
  readonly elements: readonly Expr[];
  /** Indexes of the elements written `?x`. */
  readonly optionals: readonly number[];
}
export interface MapEntry {
  readonly id: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface MapLiteral {
  readonly kind: 'map';
  readonly id: number;
  readonly entries: readonly MapEntry[];
}
export interface StructField {
  readonly id: number;
  readonly name: string;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface StructLiteral {
  readonly kind: 'struct';
  readonly id: number;
  readonly typeName: string;
  readonly fields: readonly StructField[];
}
/** The loop that every macro expands to. */
export interface Comprehension {
  readonly kind: 'comprehension';
  readonly id: number;
  readonly range: Expr;
  readonly iterVar: string;
  /** The second variable (value beside index or key), where there is one. */
  readonly iterVar2: string | undefined;
  readonly accuVar: string;
  readonly accuInit: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

export type Expr =
  Literal | Ident | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension;

/** Names of the operators as functions. */
export const operators = {
  conditional: '_?_:_',
  and: '_&&_',
  or: '_||_',
  not: '!_',
  equals: '_==_',
  notEquals: '_!=_',
  less: '_<_',
  lessEquals: '_<=_',
  greater: '_>_',
  greaterEquals: '_>=_',
  add: '_+_',
  subtract: '_-_',
  multiply: '_*_',
  divide: '_/_',
  modulo: '_%_',
  negate: '-_',
  index: '_[_]',
  optionalIndex: '_[?_]',
  optionalSelect: '_?._',
  in: '@in',
  notStrictlyFalse: '@not_strictly_false',
} as const;

/** A parsed expression: the tree and, for each node number, the offset in the text. */
export interface ParsedExpression {
  readonly text: string;
  readonly root: Expr;
  readonly offsets: readonly number[];
}

/** `a.b.c` as text, where an expression consists of names and plain selections only. */
export function qualifiedNameOf(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name;
  if (expr.kind !== 'select' || expr.testOnly) return undefined;
  const prefix = qualifiedNameOf(expr.operand);
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`;
}

/** The direct sub-expressions of a node in the order they are written. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap((entry) => [entry.key, entry.value]);
    case 'struct':
      return expr.fields.map((field) => field.value);
    case 'comprehension':
      return [expr.range, expr.accuInit, expr.condition, expr.step, expr.result];
  }
}

// Numbers the nodes of one expression and remembers where each is in the text and how deeply it
// nests.
import { limits } from '../../base/limits.ts';
import type { Value } from './value.ts';
import type { Expr, MapEntry, StructField } from './ast.ts';

/** Thrown when an expression nests too deeply; the parser turns it into its only error. */
export class RecursionLimitError extends Error {}

const { expressionDepthMax } = limits;

export class NodeFactory {
  readonly offsets: number[] = [];
  // Nesting of operators, selections and method calls below a node: what the recursion limit
  // counts.
  readonly #depths: number[] = [];
  /** Where nodes made by a macro are said to be. */
  #macroOffset = 0;

  /** Takes the next number for something at `offset`. */
  nextId(offset: number): number {
    return this.offsets.push(offset) - 1;
  }

  offsetOf(id: number): number {
    return this.offsets[id] ?? -1;
  }

  /** Runs `expand`; nodes it makes without an offset are at `offset`. */
  atMacro<T>(offset: number, expand: () => T): T {
    const outer = this.#macroOffset;
    this.#macroOffset = offset;
    try {
      return expand();
    } finally {
      this.#macroOffset = outer;
    }
  }

  literal(value: Value, offset = this.#macroOffset): Expr {
    return { kind: 'literal', id: this.nextId(offset), value };
  }

  ident(name: string, offset = this.#macroOffset): Expr {
    return { kind: 'ident', id: this.nextId(offset), name };
  }

  select(operand: Expr, field: string, offset: number): Expr {
    const id = this.nextId(offset);
    this.#nest(id, 1, operand);
    return { kind: 'select', id, operand, field, testOnly: false };
  }

  /** The question of `has()`. */
  presenceTest(operand: Expr, field: string): Expr {
    const id = this.nextId(this.#macroOffset);
    this.#nest(id, 0, operand);
    return { kind: 'select', id, operand, field, testOnly: true };
  }

  call(name: string, args: readonly Expr[], offset = this.#macroOffset): Expr {
    const id = this.nextId(offset);
    this.#nest(id, 0, ...args);
    return { kind: 'call', id, function: name, target: undefined, args };
  }

  /** A call that counts as a level of nesting: operators of relations and sums, the ternary. */
  operator(name: string, args: readonly Expr[], offset: number): Expr {
    const id = this.nextId(offset);
    this.#nest(id, 1, ...args);
    return { kind: 'call', id, function: name, target: undefined, args };
  }

  memberCall(name: string, target: Expr, args: readonly Expr[], offset = this.#macroOffset): Expr {
    const id = this.nextId(offset);
    this.#nest(id, 1, target, ...args);
    return { kind: 'call', id, function: name, target, args };
  }

  list(
    elements: readonly Expr[],
    optionals: readonly number[] = [],
    offset = this.#macroOffset,
  ): Expr {
    const id = this.nextId(offset);
    this.#nest(id, 0, ...elements);
    return { kind: 'list', id, elements, optionals };
  }

  map(entries: readonly MapEntry[] = [], offset = this.#macroOffset): Expr {
    const id = this.nextId(offset);
    for (const entry of entries) this.#nest(id, 0, entry.key, entry.value);
    return { kind: 'map', id, entries };
  }

  struct(typeName: string, fields: readonly StructField[], offset: number): Expr {
    const id = this.nextId(offset);
    for (const field of fields) this.#nest(id, 0, field.value);
    return { kind: 'struct', id, typeName, fields };
  }

  comprehension(parts: {
    range: Expr;
    iterVar: string;
    iterVar2?: string;
    accuVar: string;
    accuInit: Expr;
    condition: Expr;
    step: Expr;
    result: Expr;
  }): Expr {
    const id = this.nextId(this.#macroOffset);
    this.#nest(id, 0, parts.range, parts.accuInit, parts.condition, parts.step, parts.result);
    return { kind: 'comprehension', id, iterVar2: undefined, ...parts };
  }

  /** The same expression with numbers of its own, each at the place of its original. */
  copy(expr: Expr): Expr {
    const at = this.offsetOf(expr.id);
    switch (expr.kind) {
      case 'literal':
      case 'ident':
        return { ...expr, id: this.nextId(at) };
      case 'select':
        return { ...expr, id: this.nextId(at), operand: this.copy(expr.operand) };
      case 'call': {
        const target = expr.target === undefined ? undefined : this.copy(expr.target);
        return {
          ...expr,
          id: this.nextId(at),
          target,
          args: expr.args.map((arg) => this.copy(arg)),
        };
      }
      case 'list':
        return { ...expr, id: this.nextId(at), elements: expr.elements.map((e) => this.copy(e)) };
      case 'map':
        return {
          ...expr,
          id: this.nextId(at),
          entries: expr.entries.map((entry) => ({
            ...entry,
            id: this.nextId(this.offsetOf(entry.id)),
            key: this.copy(entry.key),
            value: this.copy(entry.value),
          })),
        };
      case 'struct':
        return {
          ...expr,
          id: this.nextId(at),
          fields: expr.fields.map((field) => ({
            ...field,
            id: this.nextId(this.offsetOf(field.id)),
            value: this.copy(field.value),
          })),
        };
      case 'comprehension':
        return {
          ...expr,
          id: this.nextId(at),
          range: this.copy(expr.range),
          accuInit: this.copy(expr.accuInit),
          condition: this.copy(expr.condition),
          step: this.copy(expr.step),
          result: this.copy(expr.result),
        };
    }
  }

  #nest(id: number, levels: 0 | 1, ...below: readonly Expr[]): void {
    let deepest = this.#depths[id] ?? 0;
    for (const child of below) deepest = Math.max(deepest, (this.#depths[child.id] ?? 0) + levels);
    if (levels === 1 && deepest === 0) deepest = 1;
    if (deepest > expressionDepthMax) throw new RecursionLimitError();
    this.#depths[id] = deepest;
  }
}

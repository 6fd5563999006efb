// The static cost of a checked expression: the cheapest and dearest evaluation, from the sizes that
// literals, operations and declared limits give. Written next to the runtime counter in eval/: a
// change to one needs a change to the other.
import { typeParam, dynType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { CheckedExpression } from '../model/checked-expression.ts';
import type { Overload } from '../model/declarations.ts';
import { operators } from '../model/ast.ts';
import type { Call, Comprehension, Expr } from '../model/ast.ts';
import { isScalar, literalSize } from './known-size.ts';
import type { CallEstimate, CostNode, SizeEstimator } from '../model/cost-node.ts';
import {
  addRanges,
  fixed,
  listCreateCost,
  mapCreateCost,
  multiplyRanges,
  one,
  structCreateCost,
  uniteRanges,
  unknownSize,
  unsignedMax,
  zero,
} from '../model/range.ts';
import type { Range } from '../model/range.ts';

/** The range of costs of evaluating `checked`. */
export function estimateCost(checked: CheckedExpression, sizes: SizeEstimator): Range {
  return new Estimator(checked, sizes).cost(checked.root);
}

/** Sizes of the keys (or indexes) and values (or elements) of a container. */
interface EntrySizes {
  readonly kind: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface LocalVariable {
  readonly path: readonly string[] | undefined;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
}

const noneYet: Range = { min: unsignedMax, max: 0n };
const isAccumulator = (name: string | undefined): boolean =>
  name === '@result' || name === '__result__';

class Estimator {
  readonly #checked: CheckedExpression;
  readonly #estimateSize: SizeEstimator;
  readonly #paths: (readonly string[] | undefined)[] = [];
  readonly #sizes: (Range | undefined)[] = [];
  readonly #entries: (EntrySizes | undefined)[] = [];
  readonly #locals = new Map<string, LocalVariable[]>();

  constructor(checked: CheckedExpression, sizes: SizeEstimator) {
    this.#checked = checked;
    this.#estimateSize = sizes;
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return zero;
      case 'ident':
        this.#paths[expr.id] = this.#path(expr);
        return one;
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct': {
        const values = expr.fields.map((field) => this.cost(field.value));
        return values.reduce(addRanges, fixed(structCreateCost));
      }
      case 'comprehension':
        return isBinding(expr) ? this.#binding(expr) : this.#loop(expr);
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types[expr.id] ?? dynType;
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #push(name: string, local: LocalVariable): void {
    const stack = this.#locals.get(name);
    if (stack === undefined) this.#locals.set(name, [local]);
    else stack.push(local);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #path(expr: Expr): readonly string[] | undefined {
    if (expr.kind !== 'ident') return this.#paths[expr.id];
    const local = this.#local(expr.name);
    return local === undefined ? [this.#nameOf(expr)] : local.path;
  }

  #nameOf(expr: Expr & { kind: 'ident' }): string {
    const reference = this.#checked.references[expr.id];
    return reference?.kind === 'name' ? reference.identifier.name : expr.name;
  }

  #select(expr: Expr & { kind: 'select' }): Range {
    const reference = this.#checked.references[expr.id];
    if (reference?.kind === 'name') {
      this.#paths[expr.id] = [reference.identifier.name];
      return one;
    }
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    this.#paths[expr.id] = [...(this.#path(expr.operand) ?? []), expr.field];
    const { kind } = this.#typeOf(expr.operand);
    return kind === 'map' || kind === 'struct' || kind === 'param'
      ? addRanges(operand, one)
      : operand;
  }

  #call(expr: Call): Range {
    if (expr.function === 'dyn') return this.#dyn(expr);
    const costs = expr.args.map((arg) => this.cost(arg));
    const nodes = expr.args.map((arg) => this.#node(arg));
    const reference = this.#checked.references[expr.id];
    // Optional selections have no declaration; they cost like any other call.
    const overloads = reference?.kind === 'function' ? reference.overloads : [undefined];
    const isMember =
      expr.target !== undefined && !(reference?.kind === 'function' && reference.isQualified);
    let targetCost = zero;
    let target: CostNode | undefined;
    if (isMember && expr.target !== undefined) {
      targetCost = this.cost(expr.target);
      target = this.#node(expr.target);
    }
    let total = noneYet;
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate = this.#overload(expr, overload, { target, nodes, costs });
      total = uniteRanges(total, estimate.cost);
      if (estimate.resultSize !== undefined) {
        size = size === undefined ? estimate.resultSize : uniteRanges(size, estimate.resultSize);
      }
      size = this.#indexed(expr, overload?.id, size) ?? this.#sizeOf(expr);
    }
    if (size !== undefined) this.#sizes[expr.id] = size;
    return addRanges(targetCost, total);
  }

  /**
   * Indexing leads to an element: its path, and its size where the container's entries have one.
   */
  #indexed(expr: Call, overload: string | undefined, size: Range | undefined): Range | undefined {
    const container = expr.args[0];
    if (container === undefined || (overload !== 'index_list' && overload !== 'index_map'))
      return size;
    const part = overload === 'index_list' ? '@items' : '@values';
    const element = this.#entrySizes(container)?.value;
    this.#paths[expr.id] = [...(this.#path(container) ?? []), part];
    return element;
  }

  /** dyn() only hides the type: the argument and one more. */
  #dyn(expr: Call): Range {
    const arg = expr.args[0] as Expr;
    const cost = this.cost(arg);
    this.#copySizes(expr, arg);
    return addRanges(one, cost);
  }

  #overload(
    expr: Call,
    overload: Overload | undefined,
    call: { target: CostNode | undefined; nodes: readonly CostNode[]; costs: readonly Range[] },
  ): CallEstimate {
    const { costs } = call;
    const [left, right, other] = costs;
    if (left !== undefined && right !== undefined) {
      if (expr.function === operators.and || expr.function === operators.or) {
        return { cost: { min: left.min, max: addRanges(left, right).max } };
      }
      if (expr.function === operators.conditional && other !== undefined) {
        return this.#conditional(expr, addRanges(left, uniteRanges(right, other)));
      }
      if (expr.function === operators.add) this.#uniteEntries(expr, 0, 1);
    }
    const estimate = overload?.estimate?.(call.target, call.nodes) ?? { cost: one };
    return { cost: costs.reduce(addRanges, estimate.cost), resultSize: estimate.resultSize };
  }

  #conditional(expr: Call, cost: Range): CallEstimate {
    this.#uniteEntries(expr, 1, 2);
    const [, whenTrue, whenFalse] = expr.args as readonly [Expr, Expr, Expr];
    const resultSize = uniteRanges(
      this.#sizeOf(whenTrue) ?? unknownSize,
      this.#sizeOf(whenFalse) ?? unknownSize,
    );
    return { cost, resultSize };
  }

  /** A sum or choice of two containers holds what either holds. */
  #uniteEntries(expr: Call, first: number, second: number): void {
    const left = this.#entrySizes(expr.args[first] as Expr);
    const right = this.#entrySizes(expr.args[second] as Expr);
    if (left === undefined || right === undefined) return;
    this.#entries[expr.id] = {
      kind: left.kind,
      key: uniteRanges(left.key, right.key),
      value: uniteRanges(left.value, right.value),
    };
  }

  #list(expr: Expr & { kind: 'list' }): Range {
    let cost = fixed(listCreateCost);
    let value = expr.elements.length === 0 ? zero : noneYet;
    for (const element of expr.elements) {
      cost = addRanges(cost, this.cost(element));
      value = uniteRanges(value, this.#sizeOf(element) ?? unknownSize);
    }
    this.#entries[expr.id] = { kind: 'list', key: one, value };
    return cost;
  }

  #map(expr: Expr & { kind: 'map' }): Range {
    let cost = fixed(mapCreateCost);
    let key = expr.entries.length === 0 ? zero : noneYet;
    let value = key;
    for (const entry of expr.entries) {
      cost = addRanges(cost, addRanges(this.cost(entry.key), this.cost(entry.value)));
      key = uniteRanges(key, this.#sizeOf(entry.key) ?? unknownSize);
      value = uniteRanges(value, this.#sizeOf(entry.value) ?? unknownSize);
    }
    this.#entries[expr.id] = { kind: 'map', key, value };
    return cost;
  }

  #loop(expr: Comprehension): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.accuInit));
    this.#push(expr.accuVar, {
      path: this.#path(expr.accuInit),
      size: this.#sizeOf(expr.accuInit),
      entries: this.#entrySizes(expr.accuInit),
    });
    this.#pushLoopVariables(expr);
    const condition = this.cost(expr.condition);
    const turn = addRanges(this.cost(expr.step), condition);
    this.#pop(expr.iterVar);
    if (expr.iterVar2 !== undefined) this.#pop(expr.iterVar2);
    const result = this.cost(expr.result);
    this.#pop(expr.accuVar);
    const turns = this.#sizeOf(expr.range) ?? unknownSize;
    this.#setLoopSize(expr, turns);
    return addRanges(addRanges(before, result), multiplyRanges(turns, turn));
  }

  #pushLoopVariables(expr: Comprehension): void {
    const entries = this.#entrySizes(expr.range);
    const path = this.#path(expr.range);
    const isList = (entries?.kind ?? this.#typeOf(expr.range).kind) === 'list';
    const variable = (part: string, size: Range | undefined): LocalVariable => ({
      path: [...(path ?? []), part],
      size,
      entries: undefined,
    });
    const value = variable(isList ? '@items' : '@values', entries?.value);
    if (expr.iterVar2 !== undefined) {
      this.#push(expr.iterVar, variable(isList ? '@indices' : '@keys', entries?.key));
      this.#push(expr.iterVar2, value);
    } else {
      this.#push(expr.iterVar, isList ? value : variable('@keys', entries?.key));
    }
  }

  /** A loop that builds a container makes at most one entry a turn. */
  #setLoopSize(expr: Comprehension, turns: Range): void {
    const { kind } = expr.accuInit;
    if (kind === 'literal') {
      const size = this.#sizeOf(expr.accuInit);
      if (size !== undefined) this.#sizes[expr.id] = size;
    } else if (kind === 'list' || kind === 'map') {
      this.#sizes[expr.id] = turns;
      const entries = this.#entrySizes(expr.step);
      if (entries !== undefined) this.#entries[expr.id] = entries;
    }
  }

  #binding(expr: Comprehension): Range {
    const before = addRanges(this.cost(expr.range), this.cost(expr.accuInit));
    this.#push(expr.accuVar, {
      path: this.#path(expr.accuInit),
      size: this.#sizeOf(expr.accuInit),
      entries: this.#entrySizes(expr.accuInit),
    });
    const result = this.cost(expr.result);
    this.#pop(expr.accuVar);
    this.#copySizes(expr, expr.result);
    return addRanges(before, result);
  }

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#sizeOf(from);
    if (size !== undefined) this.#sizes[to.id] = size;
    const entries = this.#entrySizes(from);
    if (entries !== undefined) this.#entries[to.id] = entries;
  }

  #entrySizes(expr: Expr): EntrySizes | undefined {
    const known = this.#entries[expr.id];
    if (known !== undefined || expr.kind !== 'ident') return known;
    return this.#local(expr.name)?.entries;
  }

  #sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes[expr.id];
    if (known !== undefined) return known;
    const literal = literalSize(expr);
    if (literal !== undefined) return literal;
    const path = this.#path(expr);
    const type = this.#typeOf(expr);
    const declared = this.#estimateSize(path ?? [], type);
    if (declared !== undefined) {
      this.#sizes[expr.id] = declared;
      return declared;
    }
    if (isScalar(type)) return one;
    return expr.kind === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  #node(expr: Expr): CostNode {
    const path = this.#path(expr);
    return this.#nodeAt({
      path: isAccumulator(path?.[0]) ? undefined : path,
      type: this.#typeOf(expr),
      computedSize: this.#sizeOf(expr),
      literal: expr.kind === 'literal' ? expr.value : undefined,
    });
  }

  #nodeAt(known: {
    path: readonly string[] | undefined;
    type: CelType;
    computedSize: Range | undefined;
    literal: CostNode['literal'];
  }): CostNode {
    const { path, type, computedSize, literal } = known;
    const sizes = this.#estimateSize;
    const elementAt = (): CostNode | undefined => {
      if (type.params.length === 0) return undefined;
      return this.#nodeAt({
        path: path === undefined ? undefined : [...path, '@items'],
        type: typeParam(type, 0),
        computedSize: undefined,
        literal: undefined,
      });
    };
    return {
      type,
      literal,
      computedSize,
      get size() {
        return computedSize ?? sizes(path ?? [], type) ?? unknownSize;
      },
      get element() {
        return elementAt();
      },
    };
  }
}

/** A loop over nothing that only names a value. */
function isBinding(expr: Comprehension): boolean {
  return (
    expr.range.kind === 'list' &&
    expr.range.elements.length === 0 &&
    expr.condition.kind === 'literal' &&
    expr.condition.value === false &&
    !isAccumulator(expr.accuVar)
  );
}

// Assignability between types with variables. A binding of a variable is undone when the comparison
// it belongs to fails.
import { dynType, isDynOrError, sameType, typeParam } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';

/** What the variables of one expression stand for. */
export class Substitutions {
  readonly #bindings = new Map<string, CelType>();
  readonly #trail: (readonly [string, CelType | undefined])[] = [];
  #variables = 0;

  /** A variable that nothing is known about. */
  fresh(): CelType {
    return { kind: 'param', name: `_var${String(this.#variables++)}`, params: [] };
  }

  /**
   * Whether a value of type `from` may stand where `to` is wanted. Binds variables only when it
   * may.
   */
  isAssignable(from: CelType, to: CelType): boolean {
    return this.#attempt(() => this.#assignable(from, to));
  }

  /** The same for lists of arguments. */
  areAssignable(from: readonly CelType[], to: readonly CelType[]): boolean {
    if (from.length !== to.length) return false;
    return this.#attempt(() => this.#allAssignable(from, to));
  }

  /** The type with bound variables replaced. */
  apply(type: CelType): CelType {
    return this.#replace(type, (unbound) => unbound);
  }

  /** The type with bound variables replaced, and the unbound ones by dyn. */
  applyOrDyn(type: CelType): CelType {
    return this.#replace(type, () => dynType);
  }

  #replace(type: CelType, ofUnbound: (variable: CelType) => CelType): CelType {
    if (type.kind === 'param') {
      const bound = this.#bindings.get(type.name);
      return bound === undefined ? ofUnbound(type) : this.#replace(bound, ofUnbound);
    }
    if (type.params.length === 0) return type;
    const params = type.params.map((param) => this.#replace(param, ofUnbound));
    return params.every((param, index) => param === type.params[index])
      ? type
      : { ...type, params };
  }

  #attempt(compare: () => boolean): boolean {
    const mark = this.#trail.length;
    if (compare()) return true;
    while (this.#trail.length > mark) {
      const [name, before] = this.#trail.pop() as readonly [string, CelType | undefined];
      if (before === undefined) this.#bindings.delete(name);
      else this.#bindings.set(name, before);
    }
    return false;
  }

  #bind(variable: CelType, type: CelType): void {
    this.#trail.push([variable.name, this.#bindings.get(variable.name)]);
    this.#bindings.set(variable.name, type);
  }

  #allAssignable(from: readonly CelType[], to: readonly CelType[]): boolean {
    return from.every((type, index) => this.#assignable(type, to[index] ?? dynType));
  }

  #assignable(from: CelType, to: CelType): boolean {
    if (to.kind === 'param') {
      const outcome = this.#substitutes(from, to);
      if (outcome !== 'unknown') return outcome === 'yes';
    }
    if (from.kind === 'param') return this.#substitutes(to, from) === 'yes';
    if (isDynOrError(from) || isDynOrError(to)) return true;
    if (from.kind === 'null') return to.kind === 'null' || isNullable(to);
    if (to.kind === 'null') return isNullable(from);
    if (from.kind !== to.kind) return false;
    switch (from.kind) {
      case 'opaque':
      case 'list':
      case 'map':
        return from.name === to.name && this.#allAssignable(from.params, to.params);
      case 'struct':
        return from.name === to.name;
      default:
        return true;
    }
  }

  /**
   * Whether variable `to` may stand for `type`. `unknown`: it is free, but occurs within the type.
   */
  #substitutes(type: CelType, to: CelType): 'yes' | 'no' | 'unknown' {
    if (sameType(type, to)) return 'yes';
    const bound = this.#bindings.get(to.name);
    if (bound !== undefined) {
      if (sameType(type, bound)) return 'yes';
      if (!this.#assignable(type, bound)) return 'no';
      const general = mostGeneral(type, bound);
      if (!this.#occurs(to, general)) this.#bind(to, general);
      return 'yes';
    }
    if (this.#occurs(to, type)) return 'unknown';
    this.#bind(to, type);
    return 'yes';
  }

  #occurs(variable: CelType, within: CelType): boolean {
    if (sameType(variable, within)) return true;
    if (within.kind === 'param') {
      const bound = this.#bindings.get(within.name);
      return bound !== undefined && this.#occurs(variable, bound);
    }
    return within.params.some((param) => this.#occurs(variable, param));
  }
}

function isNullable(type: CelType): boolean {
  switch (type.kind) {
    case 'duration':
    case 'timestamp':
    case 'opaque':
    case 'struct':
      return true;
    default:
      return false;
  }
}

/** The more general one of two compatible types. */
export function mostGeneral(left: CelType, right: CelType): CelType {
  return isEqualOrLessSpecific(left, right) ? left : right;
}

function isEqualOrLessSpecific(left: CelType, right: CelType): boolean {
  if (left.kind === 'dyn' || left.kind === 'param') return true;
  if (right.kind === 'dyn' || right.kind === 'param') return false;
  if (left.kind !== right.kind) return false;
  switch (left.kind) {
    case 'opaque':
      if (left.name !== right.name || left.params.length !== right.params.length) return false;
      return left.params.every((p, index) => isEqualOrLessSpecific(p, typeParam(right, index)));
    case 'list':
    case 'map':
      return left.params.every((p, index) => isEqualOrLessSpecific(p, typeParam(right, index)));
    case 'type':
      return true;
    default:
      return sameType(left, right);
  }
}

// Turns a checked expression into closures over numbered slots. Constant lists, maps, conversions
// and memberships are computed here, once: the reference does so too, and it changes what an
// evaluation costs.
import { dynType } from '../model/cel-type.ts';
import type { CheckedExpression, Reference } from '../model/checked-expression.ts';
import type {
  CallContext,
  FunctionDeclaration,
  Implementation,
  ObjectTypes,
  Overload,
} from '../model/declarations.ts';
import { listCreateCost, mapCreateCost, structCreateCost } from '../model/range.ts';
import { operators } from '../model/ast.ts';
import type { Call, Comprehension, Expr } from '../model/ast.ts';
import type { Code, Frame } from './frame.ts';
import { callCode, logicalCode, membershipCode } from './plan-call.ts';
import { constantCode } from './plan-text-sum.ts';
import { attributeCode, resolveCode, withQualifier } from './plan-attribute.ts';
import type { Attribute } from './plan-attribute.ts';
import { listCode, mapCode, structCode } from './plan-literal.ts';
import { loopCode } from './plan-loop.ts';
import { dispatch } from './dispatch.ts';
import { ArrayList, CelError, Double, Uint, isError, isList } from '../model/value.ts';
import type { ListValue, Value } from '../model/value.ts';

export interface Plan {
  readonly code: Code;
  readonly slotCount: number;
  /** Variables of the environment that the expression uses, by slot. */
  readonly variables: readonly { readonly name: string; readonly slot: number }[];
}

/** Thrown when a constant part of the expression fails: the program cannot be made. */
export class PlanError extends Error {}

export function planExpression(
  checked: CheckedExpression,
  options: { readonly objects: ObjectTypes; readonly foldsConstants: boolean },
): Plan {
  const planner = new Planner(checked, options.objects, options.foldsConstants);
  const code = codeOf(planner.plan(checked.root));
  return { code, slotCount: planner.slotCount, variables: planner.variables };
}

type Planned =
  | { readonly kind: 'constant'; readonly value: Value }
  | { readonly kind: 'attribute'; readonly attribute: Attribute; readonly isTest: boolean }
  | { readonly kind: 'code'; readonly code: Code };

function codeOf(planned: Planned): Code {
  if (planned.kind === 'code') return planned.code;
  if (planned.kind === 'attribute') return attributeCode(planned.attribute, planned.isTest);
  return constantCode(planned.value);
}

/**
 * Something that can be selected from: an attribute as it is, anything else as the start of one.
 */
function attributeOf(planned: Planned): Attribute {
  if (planned.kind === 'attribute' && !planned.isTest) return planned.attribute;
  return { kind: 'relative', code: codeOf(planned), qualifiers: [] };
}

/** A branch of a ternary. A presence test stays one, without a charge of its own. */
function branchOf(planned: Planned): Attribute {
  return planned.kind === 'attribute' ? planned.attribute : attributeOf(planned);
}

const conversions = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

const noContext: CallContext = {
  authorizer: undefined,
  afford: () => undefined,
  allocate: () => undefined,
};

class Planner {
  readonly variables: { readonly name: string; readonly slot: number }[] = [];
  slotCount = 0;
  readonly #checked: CheckedExpression;
  readonly #objects: ObjectTypes;
  readonly #folds: boolean;
  /** Slots of the variables of the loops around the current node, innermost last. */
  readonly #locals: { readonly name: string; readonly slot: number }[] = [];

  constructor(checked: CheckedExpression, objects: ObjectTypes, folds: boolean) {
    this.#checked = checked;
    this.#objects = objects;
    this.#folds = folds;
  }

  plan(expr: Expr): Planned {
    switch (expr.kind) {
      case 'literal':
        return { kind: 'constant', value: expr.value };
      case 'ident':
        return this.#name(expr);
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'struct': {
        const values = expr.fields.map((field) => this.#code(field.value));
        const type = this.#checked.types[expr.id] ?? dynType;
        const code = structCode(expr.fields, values, type.name, this.#objects);
        return { kind: 'code', code: charged(code, structCreateCost) };
      }
      case 'comprehension':
        return { kind: 'code', code: this.#loop(expr) };
    }
  }

  #code(expr: Expr): Code {
    return codeOf(this.plan(expr));
  }

  #reference(expr: Expr): Reference | undefined {
    return this.#checked.references[expr.id];
  }

  #name(expr: Expr): Planned {
    const reference = this.#reference(expr);
    if (reference?.kind !== 'name') throw new PlanError('a name without a meaning');
    const { identifier } = reference;
    if (identifier.constant !== undefined) return { kind: 'constant', value: identifier.constant };
    const slot = identifier.isLocal
      ? this.#localSlot(identifier.name)
      : this.#slotOf(identifier.name);
    return {
      kind: 'attribute',
      attribute: { kind: 'variable', slot, qualifiers: [] },
      isTest: false,
    };
  }

  #localSlot(name: string): number {
    const local = this.#locals.findLast((candidate) => candidate.name === name);
    if (local === undefined) throw new PlanError(`no such attribute: ${name}`);
    return local.slot;
  }

  #slotOf(name: string): number {
    const known = this.variables.find((variable) => variable.name === name);
    if (known !== undefined) return known.slot;
    const slot = this.slotCount++;
    this.variables.push({ name, slot });
    return slot;
  }

  #select(expr: Expr & { kind: 'select' }): Planned {
    if (this.#reference(expr)?.kind === 'name') return this.#name(expr);
    const operand = attributeOf(this.plan(expr.operand));
    const qualifier = { key: expr.field, isOptional: false, isTest: expr.testOnly };
    return {
      kind: 'attribute',
      attribute: withQualifier(operand, qualifier),
      isTest: expr.testOnly,
    };
  }

  #call(expr: Call): Planned {
    switch (expr.function) {
      case operators.and:
      case operators.or: {
        const [left, right] = expr.args.map((arg) => this.#code(arg)) as [Code, Code];
        return { kind: 'code', code: logicalCode(expr.function === operators.or, left, right) };
      }
      case operators.conditional: {
        const [condition, whenTrue, whenFalse] = expr.args as readonly [Expr, Expr, Expr];
        const attribute: Attribute = {
          kind: 'conditional',
          condition: this.#code(condition),
          whenTrue: branchOf(this.plan(whenTrue)),
          whenFalse: branchOf(this.plan(whenFalse)),
        };
        return { kind: 'attribute', attribute, isTest: false };
      }
      case operators.index:
        return this.#index(expr, { isOptional: false });
      case operators.optionalIndex:
      case operators.optionalSelect:
        return this.#index(expr, { isOptional: true });
      default:
        return this.#function(expr);
    }
  }

  #index(expr: Call, { isOptional }: { readonly isOptional: boolean }): Planned {
    const [container, index] = expr.args as readonly [Expr, Expr];
    const operand = attributeOf(this.plan(container));
    const qualifier = { key: keyOf(this.plan(index)), isOptional, isTest: false };
    return { kind: 'attribute', attribute: withQualifier(operand, qualifier), isTest: false };
  }

  #function(expr: Call): Planned {
    const reference = this.#reference(expr);
    if (reference?.kind !== 'function') throw new PlanError('a call without a meaning');
    const hasReceiver = expr.target !== undefined && !reference.isQualified;
    const written = hasReceiver ? [expr.target, ...expr.args] : expr.args;
    const args = written.map((arg) => this.plan(arg));
    const { function: declared, overloads } = reference;
    if (this.#folds) {
      const folded = this.#fold(declared, overloads, args);
      if (folded !== undefined) return folded;
    }
    const code = callCode({
      declared,
      overloads,
      args: args.map(codeOf),
      implementation: implementationOf(declared, overloads, args),
    });
    return { kind: 'code', code };
  }

  #fold(
    declared: FunctionDeclaration,
    overloads: readonly Overload[],
    args: readonly Planned[],
  ): Planned | undefined {
    const [first, second] = args;
    const isMembership = overloads.length === 1 && overloads[0]?.id === 'in_list';
    if (
      isMembership &&
      first !== undefined &&
      second?.kind === 'constant' &&
      isList(second.value)
    ) {
      return membershipOf(first, second.value);
    }
    if (!conversions.has(declared.name) || args.length !== 1 || first?.kind !== 'constant') {
      return undefined;
    }
    const value = dispatch(declared, overloads)([first.value], noContext);
    if (isError(value)) throw new PlanError(value.message);
    return { kind: 'constant', value };
  }

  #list(expr: Expr & { kind: 'list' }): Planned {
    const elements = expr.elements.map((element) => this.plan(element));
    const code = listCode(elements.map(codeOf), expr.optionals);
    return this.#constantOr(elements, code, listCreateCost);
  }

  #map(expr: Expr & { kind: 'map' }): Planned {
    const entries = expr.entries.map((entry) => ({
      key: this.plan(entry.key),
      value: this.plan(entry.value),
      isOptional: entry.optional,
    }));
    const code = mapCode(
      entries.map(({ key, value, isOptional }) => ({
        key: codeOf(key),
        value: codeOf(value),
        isOptional,
      })),
    );
    return this.#constantOr(
      entries.flatMap(({ key, value }) => [key, value]),
      code,
      mapCreateCost,
    );
  }

  /** A literal whose parts are all constant is a constant: made once, and free. */
  #constantOr(parts: readonly Planned[], code: Code, cost: number): Planned {
    if (!this.#folds || parts.some((part) => part.kind !== 'constant')) {
      return { kind: 'code', code: charged(code, cost) };
    }
    return { kind: 'constant', value: code(constantFrame) };
  }

  #loop(expr: Comprehension): Code {
    const accuInit = this.#code(expr.accuInit);
    const range = this.#code(expr.range);
    const accuSlot = this.#open(expr.accuVar);
    const iterSlot = this.#open(expr.iterVar);
    const iterSlot2 = expr.iterVar2 === undefined ? undefined : this.#open(expr.iterVar2);
    const condition = this.plan(expr.condition);
    const step = this.#code(expr.step);
    this.#locals.length -= iterSlot2 === undefined ? 1 : 2;
    const result = this.#code(expr.result);
    this.#locals.length -= 1;
    const always = condition.kind === 'constant' ? condition.value : undefined;
    return loopCode({
      range,
      iterSlot,
      iterSlot2,
      accuSlot,
      accuInit,
      condition: always === true ? undefined : codeOf(condition),
      step,
      result,
      isBinding: always === false,
    });
  }

  #open(name: string): number {
    const slot = this.slotCount++;
    this.#locals.push({ name, slot });
    return slot;
  }
}

/** Constants need no variables and charge nothing. */
const constantFrame = {
  slots: [],
  charge: () => undefined,
} as unknown as Frame;

function charged(code: Code, cost: number): Code {
  return (frame) => {
    const value = code(frame);
    frame.charge(cost);
    return value;
  };
}

function keyOf(index: Planned): Value | Code {
  if (index.kind === 'constant') return index.value;
  return index.kind === 'attribute' && !index.isTest ? resolveCode(index.attribute) : codeOf(index);
}

/**
 * `x in [constants]`: free but for x. Lists with other than simple values are searched as usual.
 */
function membershipOf(wanted: Planned, list: ListValue): Planned | undefined {
  if (list.size() === 0) return { kind: 'constant', value: false };
  const items = list instanceof ArrayList ? list.items : [];
  const isPrimitive = (value: Value): boolean =>
    (typeof value !== 'object' && value !== null) ||
    value instanceof Double ||
    value instanceof Uint;
  if (items.length === 0 || !items.every(isPrimitive)) return undefined;
  return { kind: 'code', code: membershipCode(codeOf(wanted), items) };
}

/** The code of a call, with a constant argument compiled in where the function can. */
function implementationOf(
  declared: FunctionDeclaration,
  overloads: readonly Overload[],
  args: readonly Planned[],
): Implementation {
  const { precompile } = declared;
  const constant = precompile === undefined ? undefined : args[precompile.index];
  if (precompile === undefined || constant?.kind !== 'constant')
    return dispatch(declared, overloads);
  const prepared = precompile.prepare(constant.value);
  if (prepared instanceof CelError) throw new PlanError(prepared.message);
  const guarded = overloads.map((overload) => ({ ...overload, call: prepared }));
  return dispatch(declared, guarded);
}

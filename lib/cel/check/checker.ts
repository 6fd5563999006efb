// Gives every node a type, every name a meaning and every call its overloads, and reports all
// errors with their places.
import {
  anyType,
  boolType,
  dynType,
  errorType,
  errorTypeText,
  intType,
  isDynOrError,
  isOptionalType,
  listType,
  mapType,
  optionalType,
  sameType,
  stringType,
  typeParam,
} from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { CheckedExpression, Reference } from '../model/checked-expression.ts';
import { literalType } from './literal-type.ts';
import type { FunctionDeclaration, ObjectTypes, Overload } from '../model/declarations.ts';
import type { Identifier } from '../model/checked-expression.ts';
import type { Scope } from './scope.ts';
import { Substitutions, mostGeneral } from './unify.ts';
import { operators, qualifiedNameOf } from '../model/ast.ts';
import type { Call, Comprehension, Expr, ParsedExpression, Select } from '../model/ast.ts';
import type { Issue } from '../syntax/source.ts';

export interface CheckerEnvironment {
  readonly scope: Scope;
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly objects: ObjectTypes;
}

/** The checked expression, or the errors. */
export function checkExpression(
  parsed: ParsedExpression,
  environment: CheckerEnvironment,
): { readonly checked: CheckedExpression } | { readonly issues: readonly Issue[] } {
  const checker = new Checker(parsed, environment);
  checker.check(parsed.root);
  if (checker.issues.length > 0) return { issues: checker.issues };
  const types = checker.types.map((type) => type && checker.substitutions.applyOrDyn(type));
  const resultType = types[parsed.root.id] ?? dynType;
  return { checked: { ...parsed, types, references: checker.references, resultType } };
}

class Checker {
  readonly issues: Issue[] = [];
  readonly types: (CelType | undefined)[] = [];
  readonly references: (Reference | undefined)[] = [];
  readonly substitutions = new Substitutions();
  readonly #environment: CheckerEnvironment;
  readonly #offsets: readonly number[];
  #scope: Scope;

  constructor(parsed: ParsedExpression, environment: CheckerEnvironment) {
    this.#environment = environment;
    this.#offsets = parsed.offsets;
    this.#scope = environment.scope;
  }

  check(expr: Expr): void {
    switch (expr.kind) {
      case 'literal':
        this.types[expr.id] = literalType(expr.value);
        return;
      case 'ident':
        this.#checkIdent(expr.id, expr.name);
        return;
      case 'select':
        this.#checkSelect(expr);
        return;
      case 'call':
        this.#checkCall(expr);
        return;
      case 'list':
        this.#checkList(expr);
        return;
      case 'map':
        this.#checkMap(expr);
        return;
      case 'struct':
        this.#checkStruct(expr);
        return;
      case 'comprehension':
        this.#checkComprehension(expr);
        return;
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.types[expr.id] ?? errorType;
  }

  #report(id: number, message: string): void {
    this.issues.push({ offset: this.#offsets[id] ?? -1, message });
  }

  #mismatch(id: number, expected: CelType, found: CelType): void {
    const texts = [expected, found].map((type) => `'${errorTypeText(type)}'`);
    this.#report(id, `expected type ${texts[0] ?? ''} but found ${texts[1] ?? ''}`);
  }

  #undeclared(id: number, name: string): void {
    this.types[id] = errorType;
    this.#report(id, `undeclared reference to '${name}' (in container '')`);
  }

  #useName(id: number, identifier: Identifier): void {
    this.types[id] = identifier.type;
    this.references[id] = { kind: 'name', identifier };
  }

  #checkIdent(id: number, name: string): void {
    const identifier = this.#scope.find(name);
    if (identifier === undefined) this.#undeclared(id, name);
    else this.#useName(id, identifier);
  }

  #checkSelect(expr: Select): void {
    const name = qualifiedNameOf(expr);
    const identifier = name === undefined ? undefined : this.#scope.find(name);
    if (identifier !== undefined) {
      this.#useName(expr.id, identifier);
      return;
    }
    const type = this.#fieldType(expr, expr.operand, expr.field);
    this.types[expr.id] = expr.testOnly ? boolType : this.substitutions.apply(type);
  }

  /** The type of `operand.field`; optional for `.?field`, a call, and for optional operands. */
  #fieldType({ id, kind }: Select | Call, operand: Expr, field: string): CelType {
    this.check(operand);
    const operandType = this.substitutions.apply(this.#typeOf(operand));
    const wasOptional = isOptionalType(operandType);
    const target = wasOptional ? typeParam(operandType, 0) : operandType;
    const type = this.#fieldOf(id, target, field);
    return wasOptional || kind === 'call' ? optionalType(type) : type;
  }

  #fieldOf(id: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return typeParam(target, 1);
      case 'struct': {
        const { objects } = this.#environment;
        if (!objects.has(target.name)) {
          this.#report(id, `unexpected failed resolution of '${target.name}'`);
          return errorType;
        }
        const declared = objects.field(target.name, field);
        if (declared === undefined) this.#report(id, `undefined field '${field}'`);
        return declared?.type ?? errorType;
      }
      case 'param':
        this.substitutions.isAssignable(dynType, target);
        return dynType;
      default:
        if (!isDynOrError(target)) {
          this.#report(id, `type '${errorTypeText(target)}' does not support field selection`);
        }
        return dynType;
    }
  }

  #checkCall(expr: Call): void {
    if (expr.function === operators.optionalSelect) {
      this.#checkOptionalSelect(expr);
      return;
    }
    for (const arg of expr.args) this.check(arg);
    const { functions } = this.#environment;
    if (expr.target === undefined) {
      const name = expr.function.startsWith('.') ? expr.function.slice(1) : expr.function;
      const declared = functions.get(name);
      if (declared === undefined) this.#undeclared(expr.id, expr.function);
      else this.#resolve(expr, declared, undefined);
      return;
    }
    const prefix = qualifiedNameOf(expr.target)?.replace(/^\./, '');
    const qualified =
      prefix === undefined ? undefined : functions.get(`${prefix}.${expr.function}`);
    if (qualified !== undefined) {
      this.#resolve(expr, qualified, undefined);
      return;
    }
    this.check(expr.target);
    const declared = functions.get(expr.function);
    if (declared === undefined) this.#undeclared(expr.id, expr.function);
    else this.#resolve(expr, declared, expr.target);
  }

  #checkOptionalSelect(expr: Call): void {
    const [operand, field] = expr.args as [Expr, Expr];
    const name = field.kind === 'literal' && typeof field.value === 'string' ? field.value : '';
    this.types[field.id] = stringType;
    const type = this.#fieldType(expr, operand, name);
    this.types[expr.id] = this.substitutions.apply(type);
  }

  /** Picks the overloads that fit; the result is dyn when they disagree. */
  #resolve(expr: Call, declared: FunctionDeclaration, target: Expr | undefined): void {
    if (declared.name === operators.and || declared.name === operators.or) {
      this.#resolveLogical(expr, declared);
      return;
    }
    const written = target === undefined ? expr.args : [target, ...expr.args];
    const args = written.map((arg) => this.#typeOf(arg));
    const fitting: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of declared.overloads) {
      if (overload.isMember !== (target !== undefined)) continue;
      const signature = this.#instantiate(overload);
      if (!this.substitutions.areAssignable(args, signature.args)) continue;
      fitting.push(overload);
      const type = this.substitutions.apply(signature.result);
      if (result === undefined) result = type;
      else if (result.kind !== 'dyn' && !sameType(type, result)) result = dynType;
    }
    if (result === undefined) {
      this.#noMatchingOverload(expr.id, declared.name, args, target !== undefined);
      return;
    }
    this.types[expr.id] = result;
    const isQualified = expr.target !== undefined && target === undefined;
    this.references[expr.id] = {
      kind: 'function',
      function: declared,
      overloads: fitting,
      isQualified,
    };
  }

  #resolveLogical(expr: Call, declared: FunctionDeclaration): void {
    let isValid = true;
    for (const arg of expr.args) {
      const type = this.#typeOf(arg);
      if (this.substitutions.isAssignable(type, boolType)) continue;
      this.#mismatch(arg.id, boolType, this.substitutions.apply(type));
      isValid = false;
    }
    this.types[expr.id] = isValid ? boolType : errorType;
    const { overloads } = declared;
    this.references[expr.id] = {
      kind: 'function',
      function: declared,
      overloads,
      isQualified: false,
    };
  }

  #instantiate(overload: Overload): { args: readonly CelType[]; result: CelType } {
    if (overload.typeParams.length === 0) return overload;
    const fresh = new Map(overload.typeParams.map((name) => [name, this.substitutions.fresh()]));
    const replace = (type: CelType): CelType => {
      if (type.kind === 'param') return fresh.get(type.name) ?? type;
      return type.params.length === 0 ? type : { ...type, params: type.params.map(replace) };
    };
    return { args: overload.args.map(replace), result: replace(overload.result) };
  }

  #noMatchingOverload(id: number, name: string, args: readonly CelType[], isMember: boolean): void {
    this.types[id] = errorType;
    const texts = args.map((type) => errorTypeText(this.substitutions.applyOrDyn(type)));
    const receiver = isMember ? `${texts.shift() ?? ''}.` : '';
    this.#report(
      id,
      `found no matching overload for '${name}' applied to '${receiver}(${texts.join(', ')})'`,
    );
  }

  #checkList(expr: Expr & { kind: 'list' }): void {
    let elements: CelType | undefined;
    expr.elements.forEach((element, index) => {
      this.check(element);
      const isOptional = expr.optionals.includes(index);
      elements = this.#join(elements, this.#elementType(element, isOptional));
    });
    this.types[expr.id] = listType(elements ?? this.substitutions.fresh());
  }

  #checkMap(expr: Expr & { kind: 'map' }): void {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    for (const entry of expr.entries) {
      this.check(entry.key);
      keys = this.#join(keys, this.#typeOf(entry.key));
      this.check(entry.value);
      values = this.#join(values, this.#elementType(entry.value, entry.optional));
    }
    this.types[expr.id] = mapType(
      keys ?? this.substitutions.fresh(),
      values ?? this.substitutions.fresh(),
    );
  }

  /** The type of an element; of one written `?x` what the optional holds. */
  #elementType(element: Expr, isOptional: boolean): CelType {
    const type = this.#typeOf(element);
    if (!isOptional) return type;
    const resolved = this.substitutions.apply(type);
    if (isOptionalType(resolved)) return typeParam(resolved, 0);
    if (resolved.kind !== 'dyn') this.#mismatch(element.id, optionalType(resolved), resolved);
    return type;
  }

  #join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.substitutions.isAssignable(previous, current)
      ? mostGeneral(previous, current)
      : dynType;
  }

  #checkStruct(expr: Expr & { kind: 'struct' }): void {
    const { objects } = this.#environment;
    const name = expr.typeName.startsWith('.') ? expr.typeName.slice(1) : expr.typeName;
    if (!objects.has(name)) {
      if (this.#environment.scope.find(name)?.constant === undefined) {
        this.#undeclared(expr.id, expr.typeName);
      } else {
        this.types[expr.id] = errorType;
        this.#report(expr.id, `'${name}' is not a message type`);
      }
      return;
    }
    this.types[expr.id] = { kind: 'struct', name, params: [] };
    for (const field of expr.fields) {
      this.check(field.value);
      const declared = objects.field(name, field.name);
      if (declared === undefined) {
        this.#report(field.id, `undefined field '${field.name}'`);
        continue;
      }
      const type = this.#elementType(field.value, field.optional);
      if (this.substitutions.isAssignable(declared.type, type)) continue;
      const found = errorTypeText(type);
      const wanted = errorTypeText(declared.type);
      this.#report(
        field.id,
        `expected type of field '${field.name}' is '${wanted}' but provided type is '${found}'`,
      );
    }
  }

  #checkComprehension(expr: Comprehension): void {
    this.check(expr.range);
    this.check(expr.accuInit);
    const rangeType = this.substitutions.apply(this.#typeOf(expr.range));
    const accuType = this.#typeOf(expr.accuInit);
    const outer = this.#scope;
    const withAccumulator = outer.inner([[expr.accuVar, accuType]]);
    this.#scope = withAccumulator.inner(this.#loopVariables(expr, rangeType));
    this.check(expr.condition);
    this.#assertType(expr.condition, boolType);
    this.check(expr.step);
    this.#assertType(expr.step, accuType);
    this.#scope = withAccumulator;
    this.check(expr.result);
    this.#scope = outer;
    this.types[expr.id] = this.substitutions.apply(this.#typeOf(expr.result));
  }

  #loopVariables(expr: Comprehension, range: CelType): (readonly [string, CelType])[] {
    const [first, second] = this.#rangeTypes(expr, range);
    if (expr.iterVar2 === undefined)
      return [[expr.iterVar, range.kind === 'list' ? second : first]];
    return [
      [expr.iterVar, first],
      [expr.iterVar2, second],
    ];
  }

  /** Types of index or key, and of element or value. */
  #rangeTypes(expr: Comprehension, range: CelType): readonly [CelType, CelType] {
    switch (sameType(range, anyType) ? 'any' : range.kind) {
      case 'list':
        return [intType, typeParam(range, 0)];
      case 'map':
        return [typeParam(range, 0), typeParam(range, 1)];
      case 'dyn':
      case 'error':
      case 'param':
        this.substitutions.isAssignable(dynType, range);
        return [dynType, dynType];
      default: {
        const text = 'cannot be range of a comprehension (must be list, map, or dynamic)';
        this.#report(expr.range.id, `expression of type '${errorTypeText(range)}' ${text}`);
        return [errorType, errorType];
      }
    }
  }

  #assertType(expr: Expr, wanted: CelType): void {
    const type = this.#typeOf(expr);
    if (!this.substitutions.isAssignable(wanted, type)) this.#mismatch(expr.id, wanted, type);
  }
}

// Errors that constants show before anything is evaluated: wrong durations, timestamps, regular
// expressions and formats, and lists and maps whose entries differ in type.
import { dynType, errorTypeText, sameType, typeParam } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { CheckedExpression } from '../model/checked-expression.ts';
import { parseDuration, parseTimestamp, isTimestampSeconds } from '../model/time.ts';
import { CelError } from '../model/value.ts';
import type { Value } from '../model/value.ts';
import { clauseProblem, parseFormat } from '../library/format-clauses.ts';
import { patternOf } from '../library/pattern.ts';
import { childrenOf } from '../model/ast.ts';
import type { Call, Expr } from '../model/ast.ts';
import type { Issue } from '../syntax/source.ts';

export function validateLiterals(checked: CheckedExpression): readonly Issue[] {
  const validator = new LiteralValidator(checked);
  validator.visit(checked.root, { isFormatted: false });
  return validator.issues;
}

class LiteralValidator {
  readonly issues: Issue[] = [];
  readonly #checked: CheckedExpression;

  constructor(checked: CheckedExpression) {
    this.#checked = checked;
  }

  /** `isFormatted`: within the arguments of a format, where entries may differ. */
  visit(expr: Expr, { isFormatted }: { readonly isFormatted: boolean }): void {
    if (expr.kind === 'call') this.#call(expr);
    if (expr.kind === 'list' && !isFormatted) this.#list(expr);
    if (expr.kind === 'map' && !isFormatted) this.#map(expr);
    const isFormat = expr.kind === 'call' && expr.function === 'format';
    const inner = { isFormatted: isFormatted || isFormat };
    for (const child of childrenOf(expr)) this.visit(child, inner);
  }

  #report(id: number, message: string): void {
    this.issues.push({ offset: this.#checked.offsets[id] ?? -1, message });
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types[expr.id] ?? dynType;
  }

  #call(expr: Call): void {
    const last = expr.args.at(-1);
    if (last?.kind === 'literal') {
      const count = expr.args.length + (expr.target === undefined ? 0 : 1);
      if (isWrongLiteral(expr.function, count, last.value)) {
        this.#report(last.id, `invalid ${expr.function} argument`);
      }
    }
    if (expr.function === 'format' && last?.kind === 'list') this.#format(expr, last);
  }

  #format(expr: Call, list: Expr & { kind: 'list' }): void {
    const { target } = expr;
    if (target?.kind !== 'literal' || typeof target.value !== 'string') return;
    const parts = parseFormat(target.value, list.elements.length);
    if (parts instanceof CelError) {
      this.#report(expr.id, parts.message);
      return;
    }
    const clauses = parts.filter((part) => typeof part !== 'string');
    clauses.forEach((clause, index) => {
      const element = list.elements[index];
      const type = element === undefined ? dynType : this.#typeOf(element);
      if (element === undefined || type.kind === 'dyn' || type.kind === 'param') return;
      const problem = clauseProblem(clause, type.name);
      if (problem !== undefined) this.#report(element.id, problem.message);
    });
  }

  /** The first element that differs from the first one. */
  #list(expr: Expr & { kind: 'list' }): void {
    let wanted: CelType | undefined;
    for (const [index, element] of expr.elements.entries()) {
      const type = this.#entryType(element, expr.optionals.includes(index));
      wanted ??= type;
      if (agrees(wanted, type)) continue;
      this.#mismatch(element, wanted, type);
      return;
    }
  }

  #map(expr: Expr & { kind: 'map' }): void {
    const [first] = expr.entries;
    if (first === undefined) return;
    const key = this.#typeOf(first.key);
    const value = this.#entryType(first.value, first.optional);
    for (const entry of expr.entries) {
      const keyType = this.#typeOf(entry.key);
      if (!agrees(key, keyType)) this.#mismatch(entry.key, key, keyType);
      const valueType = this.#entryType(entry.value, entry.optional);
      if (!agrees(value, valueType)) this.#mismatch(entry.value, value, valueType);
    }
  }

  #entryType(element: Expr, isOptional: boolean): CelType {
    const type = this.#typeOf(element);
    return isOptional ? typeParam(type, 0) : type;
  }

  #mismatch(expr: Expr, wanted: CelType, found: CelType): void {
    this.#report(
      expr.id,
      `expected type '${errorTypeText(wanted)}' but found '${errorTypeText(found)}'`,
    );
  }
}

/** Entries of dynamic type agree with all others. */
function agrees(wanted: CelType, found: CelType): boolean {
  return wanted.kind === 'dyn' || found.kind === 'dyn' || sameType(wanted, found);
}

function isWrongLiteral(name: string, argCount: number, value: Value): boolean {
  switch (name) {
    case 'duration':
      return argCount === 1 && typeof value === 'string' && parseDuration(value) === undefined;
    case 'timestamp':
      if (argCount !== 1) return false;
      if (typeof value === 'string') return parseTimestamp(value) === undefined;
      return (
        (typeof value === 'number' || typeof value === 'bigint') &&
        !isTimestampSeconds(Number(value))
      );
    case 'matches':
      return argCount === 2 && typeof value === 'string' && patternOf(value) instanceof CelError;
    default:
      return false;
  }
}

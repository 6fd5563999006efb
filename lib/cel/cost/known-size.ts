// Sizes that need no evaluation and no declared limit.
import { isOptionalType, typeParam } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { Expr } from '../model/ast.ts';
import { codePointCount } from '../model/value.ts';
import { fixed, one } from '../model/range.ts';
import type { Range } from '../model/range.ts';

/** The size of a literal; undefined: the size depends on the evaluation. */
export function literalSize(expr: Expr): Range | undefined {
  switch (expr.kind) {
    case 'literal':
      if (typeof expr.value === 'string') return fixed(codePointCount(expr.value));
      return expr.value instanceof Uint8Array ? fixed(expr.value.length) : one;
    case 'list':
      return fixed(expr.elements.length);
    case 'map':
      return fixed(expr.entries.length);
    default:
      return undefined;
  }
}

/** Whether all values of a type have size one. */
export function isScalar(type: CelType): boolean {
  switch (type.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return true;
    default:
      return isOptionalType(type) && isScalar(typeParam(type, 0));
  }
}

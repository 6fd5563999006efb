// The standard macros: has, all, exists, exists_one, map, filter, optMap, optFlatMap. Each becomes
// a loop or a test; costs are defined over exactly these shapes.
import type { Expr } from '../model/ast.ts';
import { operators } from '../model/ast.ts';
import { MacroError } from '../model/macro.ts';
import type { Macro } from '../model/macro.ts';
import type { NodeFactory } from '../model/node-factory.ts';
import { reservedWords } from './reserved-words.ts';

/**
 * The name of the variable that a loop collects its result in. Cannot be written in an expression.
 */
export const accumulatorName = '@result';
const legacyAccumulatorName = '__result__';

/** The argument at `index`; the parser has checked their number. */
export function argument(args: readonly Expr[], index: number): Expr {
  return args[index] as Expr;
}

/** The name of a loop variable. */
export function iterationVariable(expr: Expr, message = 'argument must be a simple name'): string {
  const isName = expr.kind === 'ident' && !expr.name.startsWith('.');
  if (!isName || reservedWords.has(expr.name)) throw new MacroError(expr, message);
  if (expr.name === accumulatorName || expr.name === legacyAccumulatorName) {
    throw new MacroError(expr, 'iteration variable overwrites accumulator variable');
  }
  return expr.name;
}

const has: Macro['expand'] = (make, args) => {
  const arg = argument(args, 0);
  if (arg.kind !== 'select' || arg.testOnly) {
    throw new MacroError(arg, 'invalid argument to has() macro');
  }
  return make.presenceTest(arg.operand, arg.field);
};

/** What differs between the quantifiers: start, loop condition, step and result of the loop. */
export interface Quantifier {
  accuInit(make: NodeFactory): Expr;
  condition(make: NodeFactory): Expr;
  step(make: NodeFactory, predicate: Expr): Expr;
  result(make: NodeFactory): Expr;
}

const accu = (make: NodeFactory): Expr => make.ident(accumulatorName);

export const quantifiers = {
  all: {
    accuInit: (make) => make.literal(true),
    condition: (make) => make.call(operators.notStrictlyFalse, [accu(make)]),
    step: (make, predicate) => make.call(operators.and, [accu(make), predicate]),
    result: accu,
  },
  exists: {
    accuInit: (make) => make.literal(false),
    condition: (make) =>
      make.call(operators.notStrictlyFalse, [make.call(operators.not, [accu(make)])]),
    step: (make, predicate) => make.call(operators.or, [accu(make), predicate]),
    result: accu,
  },
  existsOne: {
    accuInit: (make) => make.literal(0),
    condition: (make) => make.literal(true),
    step: (make, predicate) =>
      make.call(operators.conditional, [
        predicate,
        make.call(operators.add, [accu(make), make.literal(1)]),
        accu(make),
      ]),
    result: (make) => make.call(operators.equals, [accu(make), make.literal(1)]),
  },
} as const satisfies Record<string, Quantifier>;

const quantify =
  (quantifier: Quantifier): Macro['expand'] =>
  (make, args, range) => {
    const iterVar = iterationVariable(argument(args, 0));
    return make.comprehension({
      range,
      iterVar,
      accuVar: accumulatorName,
      accuInit: quantifier.accuInit(make),
      condition: quantifier.condition(make),
      step: quantifier.step(make, argument(args, 1)),
      result: quantifier.result(make),
    });
  };

/** `list + [element]`, only where the filter holds. */
export function appendStep(make: NodeFactory, element: Expr, filter: Expr | undefined): Expr {
  const step = make.call(operators.add, [accu(make), make.list([element])]);
  return filter === undefined ? step : make.call(operators.conditional, [filter, step, accu(make)]);
}

/** `x.map(v, f(v))` and `x.map(v, p(v), f(v))`. */
export const expandMap: Macro['expand'] = (make, args, range) => {
  const iterVar = iterationVariable(argument(args, 0), 'argument is not an identifier');
  const filter = args.length === 3 ? argument(args, 1) : undefined;
  return make.comprehension({
    range,
    iterVar,
    accuVar: accumulatorName,
    accuInit: make.list([]),
    condition: make.literal(true),
    step: appendStep(make, argument(args, args.length - 1), filter),
    result: accu(make),
  });
};

const filter: Macro['expand'] = (make, args, range) => {
  const variable = argument(args, 0);
  const iterVar = iterationVariable(variable, 'argument is not an identifier');
  return make.comprehension({
    range,
    iterVar,
    accuVar: accumulatorName,
    accuInit: make.list([]),
    condition: make.literal(true),
    step: appendStep(make, variable, argument(args, 1)),
    result: accu(make),
  });
};

export const standardMacros: readonly Macro[] = [
  { name: 'has', argCount: 1, isMember: false, expand: has },
  { name: 'all', argCount: 2, isMember: true, expand: quantify(quantifiers.all) },
  { name: 'exists', argCount: 2, isMember: true, expand: quantify(quantifiers.exists) },
  { name: 'exists_one', argCount: 2, isMember: true, expand: quantify(quantifiers.existsOne) },
  { name: 'map', argCount: 2, isMember: true, expand: expandMap },
  { name: 'map', argCount: 3, isMember: true, expand: expandMap },
  { name: 'filter', argCount: 2, isMember: true, expand: filter },
];

/** `target.hasValue() ? wrap(target.value() as v in f(v)) : optional.none()`. */
const optionalMap =
  (name: string, { isWrapped }: { readonly isWrapped: boolean }): Macro['expand'] =>
  (make, args, target) => {
    const variable = argument(args, 0);
    if (variable.kind !== 'ident') {
      throw new MacroError(variable, `${name}() variable name must be a simple identifier`);
    }
    const mapped = bindValue(make, {
      name: variable.name,
      value: make.memberCall('value', make.copy(target), []),
      body: argument(args, 1),
    });
    return make.call(operators.conditional, [
      make.memberCall('hasValue', target, []),
      isWrapped ? make.call('optional.of', [mapped]) : mapped,
      make.call('optional.none', []),
    ]);
  };

/** A loop over nothing whose accumulator names a value for `body`. */
export function bindValue(
  make: NodeFactory,
  bound: { name: string; value: Expr; body: Expr },
): Expr {
  return make.comprehension({
    range: make.list([]),
    iterVar: '#unused',
    accuVar: bound.name,
    accuInit: bound.value,
    condition: make.literal(false),
    step: make.ident(bound.name),
    result: bound.body,
  });
}

export const optionalMacros: readonly Macro[] = [
  {
    name: 'optMap',
    argCount: 2,
    isMember: true,
    expand: optionalMap('optMap', { isWrapped: true }),
  },
  {
    name: 'optFlatMap',
    argCount: 2,
    isMember: true,
    expand: optionalMap('optFlatMap', { isWrapped: false }),
  },
];

/** `cel.bind(name, value, body)`. */
const bind: Macro['expand'] = (make, args) => {
  const variable = argument(args, 0);
  if (variable.kind !== 'ident') {
    throw new MacroError(variable, 'cel.bind() variable names must be simple identifiers');
  }
  const [value, body] = [argument(args, 1), argument(args, 2)];
  return bindValue(make, { name: variable.name, value, body });
};

export const bindingMacros: readonly Macro[] = [
  { name: 'bind', argCount: 3, isMember: true, receiver: 'cel', expand: bind },
];

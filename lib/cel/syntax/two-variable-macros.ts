// Macros with two variables (index and element, key and value), and sortBy.
import type { Expr } from '../model/ast.ts';
import { operators } from '../model/ast.ts';
import {
  accumulatorName,
  appendStep,
  argument,
  bindValue,
  expandMap,
  iterationVariable,
  quantifiers,
} from './macros.ts';
import { MacroError } from '../model/macro.ts';
import type { Macro } from '../model/macro.ts';
import type { Quantifier } from './macros.ts';
import type { NodeFactory } from '../model/node-factory.ts';

function variables(args: readonly Expr[]): { iterVar: string; iterVar2: string } {
  const iterVar = iterationVariable(argument(args, 0));
  const iterVar2 = iterationVariable(argument(args, 1));
  if (iterVar === iterVar2) {
    throw new MacroError(argument(args, 1), `duplicate variable name: ${iterVar}`);
  }
  return { iterVar, iterVar2 };
}

const quantify =
  (quantifier: Quantifier): Macro['expand'] =>
  (make, args, range) =>
    make.comprehension({
      range,
      ...variables(args),
      accuVar: accumulatorName,
      accuInit: quantifier.accuInit(make),
      condition: quantifier.condition(make),
      step: quantifier.step(make, argument(args, 2)),
      result: quantifier.result(make),
    });

const transformList: Macro['expand'] = (make, args, range) => {
  const names = variables(args);
  const filter = args.length === 4 ? argument(args, 2) : undefined;
  return make.comprehension({
    range,
    ...names,
    accuVar: accumulatorName,
    accuInit: make.list([]),
    condition: make.literal(true),
    step: appendStep(make, argument(args, args.length - 1), filter),
    result: make.ident(accumulatorName),
  });
};

/** transformMap keeps the keys; transformMapEntry takes them from the map that its body gives. */
const transformMap =
  (keepsKeys: boolean): Macro['expand'] =>
  (make, args, range) => {
    const names = variables(args);
    const body = argument(args, args.length - 1);
    const inserted = keepsKeys ? [make.ident(names.iterVar), body] : [body];
    const step = make.call('cel.@mapInsert', [make.ident(accumulatorName), ...inserted]);
    return make.comprehension({
      range,
      ...names,
      accuVar: accumulatorName,
      accuInit: make.map(),
      condition: make.literal(true),
      step: args.length === 4 ? filtered(make, argument(args, 2), step) : step,
      result: make.ident(accumulatorName),
    });
  };

function filtered(make: NodeFactory, filter: Expr, step: Expr): Expr {
  return make.call(operators.conditional, [filter, step, make.ident(accumulatorName)]);
}

export const twoVariableMacros: readonly Macro[] = [
  { name: 'all', argCount: 3, isMember: true, expand: quantify(quantifiers.all) },
  { name: 'exists', argCount: 3, isMember: true, expand: quantify(quantifiers.exists) },
  { name: 'existsOne', argCount: 3, isMember: true, expand: quantify(quantifiers.existsOne) },
  { name: 'exists_one', argCount: 3, isMember: true, expand: quantify(quantifiers.existsOne) },
  { name: 'transformList', argCount: 3, isMember: true, expand: transformList },
  { name: 'transformList', argCount: 4, isMember: true, expand: transformList },
  { name: 'transformMap', argCount: 3, isMember: true, expand: transformMap(true) },
  { name: 'transformMap', argCount: 4, isMember: true, expand: transformMap(true) },
  { name: 'transformMapEntry', argCount: 3, isMember: true, expand: transformMap(false) },
  { name: 'transformMapEntry', argCount: 4, isMember: true, expand: transformMap(false) },
];

const sortInput = '@__sortBy_input__';

/** `x.sortBy(v, key(v))`: the list, ordered by the list of its keys. */
const sortBy: Macro['expand'] = (make, args, target) => {
  if (target.kind === 'literal' || target.kind === 'map' || target.kind === 'struct') {
    const message =
      'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
    throw new MacroError(target, message);
  }
  const keys = expandMap(make, args, make.ident(sortInput));
  const body = make.memberCall('@sortByAssociatedKeys', make.ident(sortInput), [keys]);
  return bindValue(make, { name: sortInput, value: target, body });
};

export const sortMacros: readonly Macro[] = [
  { name: 'sortBy', argCount: 2, isMember: true, expand: sortBy },
];

// find and findAll: the matches of a regular expression in a text.
import { intType, listType, stringType } from '../model/cel-type.ts';
import type { CostEstimate, Implementation, Library } from '../model/declarations.ts';
import { ArrayList, CelError } from '../model/value.ts';
import type { Value } from '../model/value.ts';
import { arg, declare, member, regexEstimate, regexRuntimeCost } from './declare.ts';
import { patternOf } from './pattern.ts';
import type { Pattern } from '../../base/pattern.ts';

type Search = (pattern: Pattern, args: readonly Value[]) => Value;

const find: Search = (pattern, args) => pattern.find(arg(args, 0) as string) ?? '';
const findAll: Search = (pattern, args) => {
  const limit = args.length > 2 ? Number(arg(args, 2)) : -1;
  return new ArrayList(pattern.findAll(arg(args, 0) as string, limit));
};

const dynamic =
  (search: Search): Implementation =>
  (args) => {
    const pattern = patternOf(arg(args, 1) as string);
    if (pattern instanceof CelError) return new CelError(`Illegal regex: ${pattern.message}`);
    return search(pattern, args);
  };

const constant = (search: Search) => ({
  index: 1,
  prepare: (source: Value): Implementation | CelError => {
    const pattern = patternOf(source as string);
    return pattern instanceof CelError ? pattern : (args) => search(pattern, args);
  },
});

const estimate: CostEstimate = (target, [pattern]) =>
  target === undefined || pattern === undefined
    ? undefined
    : { cost: regexEstimate(target, pattern), resultSize: { min: 0n, max: target.size.max } };

const texts = listType(stringType);
const costs = { runtimeCost: regexRuntimeCost, estimate };

export const regexLibrary: Library = {
  name: '{kubernetes}.regex',
  since: 0,
  functions: [
    declare(
      'find',
      [member('string_find_string', [[stringType, stringType], stringType], dynamic(find))],
      {
        ...costs,
        precompile: constant(find),
      },
    ),
    declare(
      'findAll',
      [
        member('string_find_all_string', [[stringType, stringType], texts], dynamic(findAll)),
        member(
          'string_find_all_string_int',
          [[stringType, stringType, intType], texts],
          dynamic(findAll),
        ),
      ],
      { ...costs, precompile: constant(findAll) },
    ),
  ],
};

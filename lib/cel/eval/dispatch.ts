// Picks the overload of a function by the types of the values, where the static types left it open,
// and guards the rest.
import { CelError, isError, isList, isMap, kindOf, typeNameOf } from '../model/value.ts';
import type { Value } from '../model/value.ts';
import type { CelType } from '../model/cel-type.ts';
import type {
  CallContext,
  FunctionDeclaration,
  Implementation,
  Overload,
} from '../model/declarations.ts';

/**
 * Whether a value may be an argument of this type. Of containers only the first entry is looked at.
 */
function fitsType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true;
    case 'list': {
      if (!isList(value)) return false;
      const element = type.params[0];
      if (element === undefined || isAny(element) || value.size() === 0) return true;
      return fitsType(value.get(0), element);
    }
    case 'map':
      return isMap(value);
    case 'opaque':
    case 'struct':
      return typeNameOf(value) === type.name;
    default:
      return kindOf(value) === type.kind;
  }
}

const isAny = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'param';

/** Code that calls the first overload whose types fit the values. Operators guard themselves. */
export function dispatch(
  declared: FunctionDeclaration,
  overloads: readonly Overload[],
): Implementation {
  if (overloads.every((overload) => overload.guardsItself === true)) {
    const [first] = overloads;
    if (first !== undefined) return first.call;
  }
  return (args: readonly Value[], context: CallContext): Value => {
    for (const overload of overloads) {
      if (overload.args.length !== args.length) continue;
      if (overload.args.every((type, index) => fitsType(args[index] as Value, type))) {
        return overload.call(args, context);
      }
    }
    return mismatch(declared.name, args);
  };
}

function mismatch(name: string, args: readonly Value[]): CelError {
  const failed = args.find(isError);
  if (failed !== undefined) return failed;
  return new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}

// What selectors of devices have beside the common libraries: names for values, and the question
// whether an attribute is or holds a value.
import { boolType, dynType } from '../model/cel-type.ts';
import type { Implementation, Library } from '../model/declarations.ts';
import { equalValues } from '../model/equality.ts';
import { CelError, isList, listItems } from '../model/value.ts';
import { bindingMacros } from '../syntax/macros.ts';
import { arg, declare, member } from './declare.ts';

export interface DeviceSelectorFeatures {
  /** Attributes may be lists. */
  readonly listAttributes: boolean;
}

/** Most values of the attributes of one device. */
export const attributeValuesMax = 48;

export const deviceLibraries = ({ listAttributes }: DeviceSelectorFeatures): readonly Library[] =>
  listAttributes ? [bindingsLibrary, includesLibrary] : [bindingsLibrary];

const bindingsLibrary: Library = {
  name: 'cel.lib.ext.cel.bindings',
  since: 31,
  macros: bindingMacros,
};

const includes: Implementation = (args) => {
  const [target, wanted] = [arg(args, 0), arg(args, 1)];
  if (!isList(target)) return equalValues(target, wanted) === true;
  const values = listItems(target);
  const found = values
    .slice(0, attributeValuesMax)
    .some((one) => equalValues(one, wanted) === true);
  if (found || values.length <= attributeValuesMax) return found;
  const max = String(attributeValuesMax);
  return new CelError(`'includes' function cannot be applied to lists longer than ${max} values`);
};

const includesLibrary: Library = {
  name: '{kubernetes}.devices.includes',
  since: 0,
  functions: [
    declare('includes', [
      member('dra_includes_dyn_dyn', [[dynType, dynType], boolType], includes, {
        estimate: () => ({ cost: { min: 0n, max: BigInt(attributeValuesMax) } }),
      }),
    ]),
  ],
};

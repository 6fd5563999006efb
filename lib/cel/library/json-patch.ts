// Functions for building JSON patches.
import { stringType } from '../model/cel-type.ts';
import type { Library } from '../model/declarations.ts';
import { scaleRange, stringTraversalFactor } from '../model/range.ts';
import { arg, declare, global, traversalOf } from './declare.ts';

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

export const jsonPatchLibrary: Library = {
  name: '{kubernetes}.jsonpatch',
  since: 0,
  functions: [
    declare('jsonpatch.escapeKey', [
      global(
        'string_jsonpatch_escapeKey_string',
        [[stringType], stringType],
        (args) => escapeKey(arg(args, 0) as string),
        {
          runtimeCost: traversalOf(0),
          estimate: (_, [key]) =>
            key === undefined
              ? undefined
              : { cost: scaleRange(key.size, stringTraversalFactor), resultSize: key.size },
        },
      ),
    ]),
  ],
};

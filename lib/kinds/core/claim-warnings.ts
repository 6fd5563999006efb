// What is valid in the spec of a claim and yet makes no sense.
import { recordIn } from '../../api/json-access.ts';
import type { Holder } from '../validator.ts';
import { fractionWarnings } from './resource-lists.ts';

export const claimSpecWarnings = (spec: Holder, path: string): readonly string[] =>
  ['requests', 'limits'].flatMap((list) =>
    fractionWarnings(recordIn(spec, 'resources', list), 'storage', `${path}.resources.${list}`),
  );

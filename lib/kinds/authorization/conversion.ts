// Access reviews: the beta calls the groups of a subject by a singular.
import { renamed, within } from '../../api/convert-fields.ts';
import type { Conversion, Conversions } from '../../api/convert-fields.ts';

const reviewToStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => renamed(spec, { group: 'groups' }));
const reviewFromStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => renamed(spec, { groups: 'group' }));

/** Between the beta and the stable version of one kind of review. */
export const reviewConversions = (kind: string): Conversions => ({
  [`authorization/v1beta1.${kind} > authorization/v1.${kind}`]: reviewToStable,
  [`authorization/v1.${kind} > authorization/v1beta1.${kind}`]: reviewFromStable,
});

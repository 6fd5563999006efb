// Priority levels: the betas have another name for shares, and cannot tell zero from none.
import { without } from '../../api/json-value.ts';
import { annotated, annotationOf, renamed, within } from '../../api/convert-fields.ts';
import type { Conversion, Conversions } from '../../api/convert-fields.ts';
import { recordIn, valueAt } from '../../api/json-access.ts';
import { isZero } from '../../api/presence.ts';

const preserveZero = 'flowcontrol.{v}/v1beta3-preserve-zero-concurrency-shares';
const sharesPath = ['spec', 'limited'] as const;

/** Zero shares are none given, unless an annotation says that they are meant. */
const sharesToStable =
  (oldName: string): Conversion =>
  (object, profile) => {
    const annotation = profile.resolve(preserveZero);
    const isMeant = annotationOf(object, annotation) !== undefined;
    const changed = within(object, sharesPath, (limited) => {
      const renamedShares = renamed(limited, { [oldName]: 'nominalConcurrencyShares' });
      const isGiven = isMeant || !isZero(valueAt(renamedShares, 'nominalConcurrencyShares'));
      if (!isGiven) return without(renamedShares, 'nominalConcurrencyShares');
      return {
        ...renamedShares,
        nominalConcurrencyShares: renamedShares['nominalConcurrencyShares'] ?? 0,
      };
    });
    return isMeant ? annotated(changed, { [annotation]: undefined }) : changed;
  };

const sharesFromStable =
  (oldName: string): Conversion =>
  (object, profile) => {
    const changed = within(object, sharesPath, (limited) =>
      renamed(limited, { nominalConcurrencyShares: oldName }),
    );
    const isZeroShare = recordIn(object, ...sharesPath)?.['nominalConcurrencyShares'] === 0;
    return isZeroShare ? annotated(changed, { [profile.resolve(preserveZero)]: '' }) : changed;
  };

const levels = (version: string, oldName: string): Conversions => {
  const old = `flowcontrol/${version}.PriorityLevelConfiguration`;
  const stable = 'flowcontrol/v1.PriorityLevelConfiguration';
  return {
    [`${old} > ${stable}`]: sharesToStable(oldName),
    [`${stable} > ${old}`]: sharesFromStable(oldName),
  };
};

export const priorityLevelConversions: Conversions = {
  ...levels('v1beta1', 'assuredConcurrencyShares'),
  ...levels('v1beta2', 'assuredConcurrencyShares'),
  ...levels('v1beta3', 'nominalConcurrencyShares'),
};

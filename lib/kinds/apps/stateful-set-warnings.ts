// What is valid in a stateful set and yet unwise, besides its pods.
import { numberAt, recordAt, recordIn, recordsAt } from '../../api/json-access.ts';
import { claimSpecWarnings } from '../core/claim-warnings.ts';
import type { Warnings } from '../validator.ts';

export const statefulSetWarnings: Warnings = ({ object, old }) => {
  const spec = recordAt(object, 'spec');
  const member = old === undefined ? '' : '.Spec'; // as the reference spells updates
  const warnings = recordsAt(spec, 'volumeClaimTemplates').flatMap((claim, at) =>
    claimSpecWarnings(
      recordIn(claim, 'spec') ?? {},
      `spec.volumeClaimTemplates[${String(at)}]${member}`,
    ),
  );
  if ((numberAt(spec, 'revisionHistoryLimit') ?? 0) < 0) {
    const detail = 'a negative value retains all historical revisions; a value >= 0 is recommended';
    warnings.push(`spec.revisionHistoryLimit: ${detail}`);
  }
  return warnings;
};

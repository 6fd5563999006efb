// What is valid in a node and yet of no use, or unusual.
import { cidrWarnings } from '../../api/address-formats.ts';
import { isSet, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import type { Warnings } from '../validator.ts';

export const nodeWarnings: Warnings = ({ object }) => {
  const spec = recordAt(object, 'spec');
  const warnings: string[] = [];
  if (isSet(spec, 'configSource')) warnings.push('spec.configSource: the feature is removed');
  if (textAt(spec, 'externalID') !== '') {
    warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  }
  for (const [at, cidr] of textsAt(spec, 'podCIDRs').entries()) {
    warnings.push(...cidrWarnings(`spec.podCIDRs[${String(at)}]`, cidr));
  }
  return warnings;
};

// Leases: how a coordinated election chooses, and whom it prefers.
import { isSet, recordAt, textAt } from '../../api/json-access.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { Validator } from '../validator.ts';

export const validateLease: Validator = ({ object, errors }) => {
  const spec = recordAt(object, 'spec');
  const strategy = textAt(spec, 'strategy');
  if (isSet(spec, 'strategy') && strategy !== 'OldestEmulationVersion') {
    const isQualified = strategy.includes('/') && qualifiedNameProblems(strategy).length === 0;
    if (!isQualified) {
      errors.notSupported('spec.strategy', strategy, [
        'OldestEmulationVersion',
        'a qualified name',
      ]);
    }
  }
  if (textAt(spec, 'preferredHolder') !== '' && strategy === '') {
    const detail = 'may only be specified if `strategy` is defined';
    errors.forbidden('spec.preferredHolder', detail);
  }
};

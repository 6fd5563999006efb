// Leases: how a coordinated election chooses, and whom it prefers.
import { isSet, recordAt, textAt } from '../../api/json-access.ts';
import type { Validator } from '../validator.ts';
import { validateElectionStrategy } from './election-strategy.ts';

export const validateLease: Validator = ({ object, errors }) => {
  const spec = recordAt(object, 'spec');
  const strategy = textAt(spec, 'strategy');
  if (isSet(spec, 'strategy')) validateElectionStrategy(strategy, 'spec.strategy', errors);
  if (textAt(spec, 'preferredHolder') !== '' && strategy === '') {
    const detail = 'may only be specified if `strategy` is defined';
    errors.forbidden('spec.preferredHolder', detail);
  }
};

// The kinds of coordination: one record each.
import type { Kind } from '../kind.ts';
import { validateLeaseCandidate } from './candidate-validation.ts';
import { leaseCandidateColumns, leaseColumns } from './columns.ts';
import { validateLease } from './lease-validation.ts';

export const coordinationKinds: readonly Kind[] = [
  {
    name: 'coordination/Lease',
    columns: leaseColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateLease,
  },
  {
    name: 'coordination/LeaseCandidate',
    columns: leaseCandidateColumns,
    strategy: { takesUnqualifiedFinalizers: 'always' },
    validate: validateLeaseCandidate,
  },
];

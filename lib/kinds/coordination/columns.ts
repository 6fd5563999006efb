// Columns of leases and their candidates.
import { column, tableOf, text, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';

export const leaseColumns: TableColumns = tableOf([
  name,
  column('Holder', 'string', text('spec.holderIdentity'), 'Who holds the lease.'),
  age,
]);

export const leaseCandidateColumns: TableColumns = tableOf([
  name,
  column('LeaseName', 'string', text('spec.leaseName'), 'Lease that it could hold.'),
  column('BinaryVersion', 'string', text('spec.binaryVersion'), 'Release of the candidate.'),
  column(
    'EmulationVersion',
    'string',
    text('spec.emulationVersion'),
    'Release that it behaves like.',
  ),
  age,
]);

// What is valid in endpoints and yet unusual: addresses in another form than the canonical one.
import { listedIpWarnings } from '../../api/address-formats.ts';
import { recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { KindWrite, Warnings } from '../validator.ts';

export const endpointsWarnings: Warnings = (write) =>
  isControlled(write)
    ? []
    : recordsAt(write.object, 'subsets').flatMap((subset, at) =>
        ['addresses', 'notReadyAddresses'].flatMap((name) =>
          listedIpWarnings(recordsAt(subset, name), `subsets[${String(at)}].${name}`),
        ),
      );

/** Its controller chose the addresses: nobody reads warnings. */
function isControlled({ object, naming }: KindWrite): boolean {
  const label = naming.resolve('endpoints.{kubernetes}.io/managed-by');
  return textAt(recordIn(object, 'metadata', 'labels'), label) === 'endpoint-controller';
}

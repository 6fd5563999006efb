// What is valid in an endpoint slice and yet deprecated or unusual.
import { ipWarnings } from '../../api/address-formats.ts';
import { recordIn, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { KindWrite, Warnings } from '../validator.ts';

export const endpointSliceWarnings: Warnings = (write) => {
  const { object, old } = write;
  const isNewName = old === undefined && textAt(object, 'addressType') === 'FQDN';
  const deprecated = isNewName ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  if (isControlled(write)) return deprecated;
  const addresses = recordsAt(object, 'endpoints').flatMap((endpoint, at) =>
    textsAt(endpoint, 'addresses').flatMap((address, index) =>
      ipWarnings(`endpoints[${String(at)}].addresses[${String(index)}]`, address),
    ),
  );
  return [...deprecated, ...addresses];
};

const controllers = ['endpointslice-controller.{v}', 'endpointslicemirroring-controller.{v}'];

/** Its controller chose the addresses: nobody reads warnings. */
function isControlled({ object, naming }: KindWrite): boolean {
  const label = naming.resolve('endpointslice.{kubernetes}.io/managed-by');
  const controller = textAt(recordIn(object, 'metadata', 'labels'), label);
  return controllers.some((name) => naming.resolve(name) === controller);
}

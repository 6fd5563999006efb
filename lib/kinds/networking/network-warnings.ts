// What is valid in ingresses and network policies and yet deprecated or unusual.
import { cidrWarnings } from '../../api/address-formats.ts';
import { isSet, recordAt, recordIn, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { Warnings } from '../validator.ts';

/** Names the class of an ingress where its spec does not. */
export const classAnnotation = '{kubernetes}.io/ingress.class';

export const ingressWarnings: Warnings = ({ object, old, naming }) => {
  const name = naming.resolve(classAnnotation);
  const isMeant = old === undefined && !isSet(recordAt(object, 'spec'), 'ingressClassName');
  if (!isMeant || !isSet(recordIn(object, 'metadata', 'annotations'), name)) return [];
  return [`annotation "${name}" is deprecated, please use 'spec.ingressClassName' instead`];
};

export const networkPolicyWarnings: Warnings = ({ object }) => {
  const spec = recordAt(object, 'spec');
  const peersOf = (direction: string, name: string): readonly string[] =>
    recordsAt(spec, direction).flatMap((rule, at) =>
      recordsAt(rule, name).flatMap((peer, index) => {
        const path = `spec.${direction}[${String(at)}].${name}[${String(index)}].ipBlock`;
        const block = recordAt(peer, 'ipBlock');
        return [
          ...cidrWarnings(`${path}.cidr`, textAt(block, 'cidr')),
          ...textsAt(block, 'except').flatMap((except, place) =>
            cidrWarnings(`${path}.except[${String(place)}]`, except),
          ),
        ];
      }),
    );
  return [...peersOf('ingress', 'from'), ...peersOf('egress', 'to')];
};

// Where load balancers are reached, in the status of services and of ingresses.
import { ipProblems } from '../../api/address-formats.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { ipFamily } from '../../api/ip-address.ts';
import { isSet, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder, ValidatedWrite } from '../validator.ts';

const modes = ['Proxy', 'VIP'];

/** Where the written balancer is reached, and the stored one. */
export const pointsOf = ({
  object,
  old,
}: Pick<ValidatedWrite, 'object' | 'old'>): readonly [
  points: readonly JsonObject[],
  stored: readonly JsonObject[],
] => [ingressOf(object), ingressOf(old)];

const ingressOf = (object: Holder): readonly JsonObject[] =>
  recordsAt(recordIn(object, 'status', 'loadBalancer'), 'ingress');

interface PointOptions {
  /** Each point with an address says how traffic reaches it. */
  readonly hasMode: boolean;
  /** Points whose addresses stay valid. */
  readonly stored: readonly JsonObject[];
}

export function validateBalancerStatus(
  points: readonly JsonObject[],
  { hasMode, stored }: PointOptions,
  errors: FieldErrors,
): void {
  const known = new Set(stored.map((point) => textAt(point, 'ip')));
  for (const [at, point] of points.entries()) {
    const path = `status.loadBalancer.ingress[${String(at)}]`;
    const ip = textAt(point, 'ip');
    if (ip !== '') errors.problems(`${path}.ip`, ip, ipProblems(ip, known));
    if (hasMode) validateMode(point, `${path}.ipMode`, errors);
    const hostname = textAt(point, 'hostname');
    if (hostname === '') continue;
    errors.problems(`${path}.hostname`, hostname, dns1123SubdomainProblems(hostname));
    if (ipFamily(hostname) !== undefined) {
      errors.invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address');
    }
  }
}

function validateMode(point: JsonObject, path: string, errors: FieldErrors): void {
  const hasAddress = textAt(point, 'ip') !== '';
  const mode = textAt(point, 'ipMode');
  if (!isSet(point, 'ipMode')) {
    if (hasAddress) errors.required(path, 'must be specified when `ip` is set');
  } else if (!hasAddress) errors.forbidden(path, 'may not be specified when `ip` is not set');
  else if (!modes.includes(mode)) errors.notSupported(path, mode, modes);
}

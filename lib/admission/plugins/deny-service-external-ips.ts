// DenyServiceExternalIPs: no service gets an external address that it does not have yet; whoever
// may write services could draw off the traffic of any address (CVE-2020-8554).
import { recordAt, textsAt } from '../../api/json-access.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { refusal } from '../refusal.ts';

export const denyServiceExternalIps = (): AdmissionPlugin => ({
  name: 'DenyServiceExternalIPs',
  sideEffects: false,
  handles: handling({ resource: 'services', operations: ['CREATE', 'UPDATE'] }),
  validate(request, service) {
    const known = new Set(textsAt(recordAt(request.old, 'spec'), 'externalIPs'));
    const given = textsAt(recordAt(service, 'spec'), 'externalIPs');
    if (given.every((address) => known.has(address))) return;
    throw refusal(request, service, 'Use of external IPs is denied by admission control');
  },
});

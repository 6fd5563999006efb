// Who may give devices to whom: admin access needs a label of the namespace; a claim is bound, and
// its devices are told of, with permissions beside that for its status.
import { flagAt, recordAt, recordIn, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { FieldError } from '../../base/status.ts';
import type { User } from '../../base/user.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { KindOptions } from '../kind.ts';
import type { Permissions, ResourceStrategy, WriteContext } from '../strategy.ts';
import type { Holder } from '../validator.ts';
import { allocatedIn, deviceIdOf, returnedBetween } from './claim-status.ts';

type Authorize = NonNullable<ResourceStrategy['authorize']>;

const none: readonly FieldError[] = [];

const forbidden = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  detail,
});

/** Of a claim, and of its status. */
export const authorizeClaim = (options: KindOptions): Authorize => {
  const authorizeSpec = authorizeTemplate(options);
  return (claim, old, context, of) => {
    if (context.subresource !== 'status') return authorizeSpec(claim, old, context, of);
    if (sameJson(claim['status'], old?.['status'])) return none;
    return authorizeStatus(claim, old, { ...context, ...of, options });
  };
};

/** Of a claim that is made, or of a template of claims. */
export const authorizeTemplate =
  (options: KindOptions): Authorize =>
  (object, old, _context, { signal }) => {
    const spec = recordAt(object, 'spec');
    const devices = recordAt(spec, 'devices') ?? recordIn(spec, 'spec', 'devices');
    const requests = recordsAt(devices, 'requests');
    const exact = requests.map((request) => recordAt(request, 'exactly') ?? {});
    if (old !== undefined || !exact.some(isForAdmin)) return none;
    const namespace = object.metadata?.namespace ?? '';
    return admitToDevices(exact, 'spec.devices.requests', { options, namespace, signal });
  };

const resultsPath = 'status.allocation.devices.results';
const isForAdmin = (of: JsonObject): boolean => flagAt(of, 'adminAccess');

/** Devices that others use are given only in namespaces with a label that allows it. */
async function admitToDevices(
  list: readonly JsonObject[],
  path: string,
  of: {
    readonly options: KindOptions;
    readonly namespace: string;
    readonly signal: AbortSignal;
  },
): Promise<readonly FieldError[]> {
  const at = list.findIndex(isForAdmin);
  if (at < 0) return none;
  const { naming, labelsOfNamespace } = of.options;
  const label = naming.resolve('resource.{kubernetes}.io/admin-access');
  const labels = await labelsOfNamespace?.(of.namespace, of.signal);
  if (labels?.[label] === 'true') return none;
  const detail =
    `admin access to devices requires the \`${label}: true\` label ` +
    'on the containing namespace';
  return [forbidden(`${path}[${String(at)}].adminAccess`, detail)];
}

async function authorizeStatus(
  claim: Readonly<ApiObject>,
  old: Holder,
  of: WriteContext & Parameters<Authorize>[3] & { readonly options: KindOptions },
): Promise<readonly FieldError[]> {
  const namespace = claim.metadata?.namespace ?? '';
  const errors = allocatedIn(old).some(isForAdmin)
    ? []
    : [...(await admitToDevices(allocatedIn(claim), resultsPath, { ...of, namespace }))];
  const isGranular = of.isOn('DRAResourceClaimGranularStatusAuthorization');
  const permissions = isGranular ? of.permissions : undefined;
  if (permissions === undefined) return errors;
  const [status, before] = [recordAt(claim, 'status'), recordAt(old, 'status')];
  const isBound = ['allocation', 'reservedFor'].some(
    (name) => !sameJson(status?.[name], before?.[name]),
  );
  if (isBound) errors.push(...(await mayBind(permissions)));
  const drivers = changedDrivers(status, before, returnedBetween(old, claim));
  if (drivers.length === 0) return errors;
  const isOwnNode = isOnNode(of.user, allocatedNode(status), of.options.naming);
  const prefixes = isOwnNode ? ['associated-node:', 'arbitrary-node:'] : ['arbitrary-node:'];
  const verbs = prefixes.map((prefix) => prefix + permissions.verb);
  for (const name of drivers) {
    errors.push(...(await mayTell(permissions, verbs, { namespace, name })));
  }
  return errors;
}

/** In all namespaces, as schedulers do. */
async function mayBind(permissions: Permissions): Promise<readonly FieldError[]> {
  const { verb } = permissions;
  const subresource = 'binding';
  const refusal = await permissions.refusalOf({ verb, subresource, namespace: '', name: '' });
  if (refusal === undefined) return none;
  const detail =
    'changing status.allocation or status.reservedFor requires ' +
    `resource="resourceclaims/binding", verb="${verb}" permission: ${refusal}`;
  return [forbidden('status', detail)];
}

/** One of the verbs is enough; the first refusal is told. */
async function mayTell(
  permissions: Permissions,
  verbs: readonly string[],
  of: { readonly namespace: string; readonly name: string },
): Promise<readonly FieldError[]> {
  let first: string | undefined;
  for (const verb of verbs) {
    const refusal = await permissions.refusalOf({ verb, subresource: 'driver', ...of });
    if (refusal === undefined) return none;
    first ??= refusal;
  }
  const detail =
    'changing status.devices requires resource="resourceclaims/driver", ' +
    `verb="[${verbs.join(' ')}]" permission: ${first ?? ''}`;
  return [forbidden('status.devices', detail)];
}

/**
 * Drivers of devices that are told of anew, differently or no longer, in order. What goes with a
 * device that is given back is no change: who unbinds needs no permission of the driver.
 */
function changedDrivers(
  status: Holder,
  before: Holder,
  isReturned: (device: JsonObject) => boolean,
): readonly string[] {
  const keyOf = (device: JsonObject): string => JSON.stringify(deviceIdOf(device));
  const stored = new Map(recordsAt(before, 'devices').map((device) => [keyOf(device), device]));
  const drivers = new Set<string>();
  for (const device of recordsAt(status, 'devices')) {
    const key = keyOf(device);
    if (!sameJson(device, stored.get(key))) drivers.add(textAt(device, 'driver'));
    stored.delete(key);
  }
  for (const device of stored.values()) {
    if (!isReturned(device)) drivers.add(textAt(device, 'driver'));
  }
  return [...drivers].sort();
}

/** The one node where the devices can be used; '' where there may be others. */
function allocatedNode(status: Holder): string {
  const selector = recordIn(status, 'allocation', 'nodeSelector');
  const [term, ...terms] = recordsAt(selector, 'nodeSelectorTerms');
  const [field, ...fields] = recordsAt(term, 'matchFields');
  const isOne = terms.length === 0 && fields.length === 0;
  if (!isOne || recordsAt(term, 'matchExpressions').length > 0) return '';
  if (textAt(field, 'key') !== 'metadata.name' || textAt(field, 'operator') !== 'In') return '';
  const [name = '', ...names] = textsAt(field, 'values');
  return names.length === 0 ? name : '';
}

/** A service account whose token is bound to the node. */
function isOnNode(user: User, node: string, naming: NamingProfile): boolean {
  if (node === '' || !user.name.startsWith('system:serviceaccount:')) return false;
  const nodes = user.extra[naming.resolve('authentication.{kubernetes}.io/node-name')] ?? [];
  return nodes.length === 1 && nodes[0] === node;
}

// What a claim of devices takes of quotas: itself, and the devices of each class that it may get at
// most. Where devices stand for extended resources they count by those names as well.
import { listAt, recordAt, recordsAt, textAt, numberAt } from '../../api/json-access.ts';
import { wholeQuantity } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { limits } from '../../base/limits.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { addAmounts } from '../../kinds/core/container-totals.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import { one } from './measure.ts';
import type { UsageParts } from './measure.ts';
import { classPrefix, isExtendedName, statedExtended } from './pod-usage.ts';

const gate = 'DRAExtendedResource';
const claimsName = (naming: NamingProfile): string =>
  naming.resolve('count/resourceclaims.resource.{v}');
const devicesSuffix = (naming: NamingProfile): string =>
  naming.resolve('.deviceclass.resource.{v}/devices');

export const isDeviceName = (name: string, { naming, gates }: UsageParts): boolean =>
  name === claimsName(naming) ||
  name.endsWith(devicesSuffix(naming)) ||
  (gates.isEnabled(gate) && isExtendedName(name, naming));

export function deviceUsage(claim: Readonly<ApiObject>, parts: UsageParts): Amounts {
  const { naming, gates } = parts;
  const usage = new Map<string, Quantity>([[claimsName(naming), one]]);
  const extended = new Map<string, Quantity>();
  for (const [className, count] of devicesByClass(claim)) {
    usage.set(`${className}${devicesSuffix(naming)}`, count);
    if (!gates.isEnabled(gate)) continue;
    for (const name of extendedNames(className, parts))
      addAmounts(extended, new Map([[name, count]]));
  }
  const charged = extended.size === 0 ? nothing : chargedToPod(claim, parts);
  for (const [name, { nano, format }] of extended) {
    const rest = nano - (charged.get(name)?.nano ?? 0n);
    if (rest > 0n) usage.set(name, { nano: rest, format });
  }
  return usage;
}

const nothing: Amounts = new Map();

function devicesByClass(claim: Readonly<ApiObject>): Amounts {
  const devices = recordAt(recordAt(claim, 'spec'), 'devices');
  const total = new Map<string, Quantity>();
  for (const request of recordsAt(devices, 'requests')) addAmounts(total, devicesOf(request));
  return total;
}

/** Of alternatives the one counts that may take most of a class. */
function devicesOf(request: JsonObject): Amounts {
  const exactly = recordAt(request, 'exactly');
  const isChoice = listAt(request, 'firstAvailable').length > 0;
  const choices = isChoice ? recordsAt(request, 'firstAvailable') : exactly ? [exactly] : [];
  const most = new Map<string, number>();
  for (const choice of choices) {
    const name = textAt(choice, 'deviceClassName');
    most.set(name, Math.max(most.get(name) ?? 0, deviceCount(choice)));
  }
  return new Map([...most].map(([name, count]) => [name, wholeQuantity(count)]));
}

function deviceCount(request: JsonObject): number {
  switch (textAt(request, 'allocationMode')) {
    case 'ExactCount':
      return Math.trunc(numberAt(request, 'count') ?? 0);
    case 'All':
      return limits.devicesOfClaimMax;
    default:
      return 0; // of a newer release
  }
}

/** The class itself can be asked for, and by the name that it gives itself. */
function extendedNames(className: string, parts: UsageParts): readonly string[] {
  const ofClass = `requests.${classPrefix(parts.naming)}${className}`;
  const deviceClass = parts.find('deviceclasses', { namespace: '', name: className });
  const own = textAt(recordAt(deviceClass, 'spec'), 'extendedResourceName');
  return own === '' ? [ofClass] : [ofClass, `requests.${own}`];
}

/** What the pod pays for whose extended resources this claim was made. */
function chargedToPod(claim: Readonly<ApiObject>, parts: UsageParts): Amounts {
  const { metadata = {} } = claim;
  const annotation = parts.naming.resolve('resource.{kubernetes}.io/extended-resource-claim');
  if (textAt(metadata.annotations, annotation) !== 'true') return nothing;
  const owners = recordsAt(metadata, 'ownerReferences');
  const owner = owners.find(({ controller }) => controller === true);
  if (textAt(owner, 'kind') !== 'Pod' || textAt(owner, 'apiVersion') !== 'v1') return nothing;
  const key = { namespace: metadata.namespace ?? '', name: textAt(owner, 'name') };
  const pod = parts.find('pods', key);
  if (pod === undefined || pod.metadata?.uid !== textAt(owner, 'uid')) return nothing;
  const made = recordAt(recordAt(pod, 'status'), 'extendedResourceClaimStatus');
  const isOther = made !== undefined && textAt(made, 'resourceClaimName') !== metadata.name;
  return isOther ? nothing : statedExtended(pod, parts.naming);
}

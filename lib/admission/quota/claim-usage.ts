// What a claim of storage takes of quotas: itself and its bytes, once for all claims and once for
// those of its storage class.
import { recordAt, recordIn, textAt } from '../../api/json-access.ts';
import { compareQuantities } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { amountsIn } from '../../kinds/core/container-totals.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import { one } from './measure.ts';
import { attributesClassesOf } from './scopes.ts';

const claims = 'persistentvolumeclaims';
const storage = 'requests.storage';

/** Between the name of a storage class and what is counted of it. */
const classPart = (naming: NamingProfile): string => naming.resolve('.storageclass.storage.{v}/');

export const isClaimName = (name: string, naming: NamingProfile): boolean =>
  name === claims ||
  name === storage ||
  name === `count/${claims}` ||
  name.endsWith(`${classPart(naming)}${claims}`) ||
  name.endsWith(`${classPart(naming)}${storage}`);

export function claimUsage(claim: Readonly<ApiObject>, naming: NamingProfile): Amounts {
  const usage = new Map([
    [claims, one],
    [`count/${claims}`, one],
  ]);
  const className = classOf(claim, naming);
  const ofClass = className === '' ? undefined : `${className}${classPart(naming)}`;
  if (ofClass !== undefined) usage.set(`${ofClass}${claims}`, one);
  const bytes = bytesOf(claim);
  if (bytes === undefined) return usage;
  usage.set(storage, bytes);
  if (ofClass !== undefined) usage.set(`${ofClass}${storage}`, bytes);
  return usage;
}

/** The annotation is older than the field and wins, as everywhere. */
function classOf(claim: Readonly<ApiObject>, naming: NamingProfile): string {
  const annotations = recordAt(claim.metadata, 'annotations');
  const annotation = naming.resolve('volume.beta.{kubernetes}.io/storage-class');
  return annotations !== undefined && Object.hasOwn(annotations, annotation)
    ? textAt(annotations, annotation)
    : textAt(recordAt(claim, 'spec'), 'storageClassName');
}

/** The larger of what is asked for and what is already set aside for it. */
function bytesOf(claim: Readonly<ApiObject>): Quantity | undefined {
  const asked = amountsIn(recordIn(claim, 'spec', 'resources', 'requests')).get('storage');
  if (asked === undefined) return undefined;
  const allocated = allocatedBytes(claim);
  const isMore = allocated !== undefined && compareQuantities(allocated, asked) > 0;
  return roundedUp(isMore ? allocated : asked);
}

const allocatedBytes = (claim: Readonly<ApiObject> | undefined): Quantity | undefined =>
  claim && amountsIn(recordIn(claim, 'status', 'allocatedResources')).get('storage');

function roundedUp({ nano, format }: Quantity): Quantity {
  const rest = nano % one.nano;
  return rest > 0n ? { nano: nano - rest + one.nano, format } : { nano, format };
}

/** Whether what a claim takes may be another, though only its status has changed. */
export const isClaimResized = (
  claim: Readonly<ApiObject>,
  old: Readonly<ApiObject> | undefined,
): boolean => {
  if (allocatedBytes(claim)?.nano !== allocatedBytes(old)?.nano) return true;
  const [now, before] = [attributesClassesOf(claim), attributesClassesOf(old)];
  return now.size !== before.size || [...now].some((name) => !before.has(name));
};

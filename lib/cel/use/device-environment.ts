// The variable `device` of expressions that choose devices: its type, and how large its parts can
// be. What is selected from its attributes may be of any type.
import type { NamingProfile } from '../../api/vendor.ts';
import { Environment } from '../environment.ts';
import { attributeValuesMax } from '../library/device-selectors.ts';
import { anyType, boolType, dynType, mapType, stringType, structType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { SizeEstimator } from '../model/cost-node.ts';

export interface DeviceFeatures {
  /** Gate DRAConsumableCapacity: devices may be shared. */
  readonly sharedDevices: boolean;
  /** Gate DRAListTypeAttributes: attributes may be lists. */
  readonly listAttributes: boolean;
}

/** A part of a device: the most characters or entries that it can have, and what it holds. */
interface Part {
  readonly type: CelType;
  readonly sizeMax: number;
  readonly fields?: Readonly<Record<string, Part>>;
  readonly key?: Part;
  readonly value?: Part;
}

const domainLengthMax = 63;
const identifierLengthMax = 32;
const driverLengthMax = 63;
const attributeLengthMax = 64;
const entriesMax = 32;

const textPart = (sizeMax: number): Part => ({ type: stringType, sizeMax });
const mapPart = (key: Part, value: Part): Part => ({
  type: mapType(key.type, value.type),
  sizeMax: entriesMax,
  key,
  value,
});
/** By domain, then by identifier. */
const byName = (value: Part): Part =>
  mapPart(textPart(domainLengthMax), mapPart(textPart(identifierLengthMax), value));

const environments = new WeakMap<NamingProfile, Map<string, Environment>>();

/** Equal features give the same environment. */
export function deviceEnvironment(naming: NamingProfile, features: DeviceFeatures): Environment {
  const known = environments.get(naming) ?? new Map<string, Environment>();
  environments.set(naming, known);
  const key = JSON.stringify([features.sharedDevices, features.listAttributes]);
  const environment = known.get(key) ?? makeEnvironment(naming, features);
  known.set(key, environment);
  return environment;
}

function makeEnvironment(naming: NamingProfile, features: DeviceFeatures): Environment {
  const { sharedDevices, listAttributes } = features;
  const attribute: Part = listAttributes
    ? { type: dynType, sizeMax: Math.max(attributeLengthMax, attributeValuesMax) }
    : { type: anyType, sizeMax: attributeLengthMax };
  const quantityType = structType(naming.resolve('{kubernetes}.Quantity'));
  const quantity: Part = { type: { ...quantityType, equality: 'fixed' }, sizeMax: 0 };
  const fields: Readonly<Record<string, Part>> = {
    driver: textPart(driverLengthMax),
    attributes: byName(attribute),
    capacity: byName(quantity),
    ...(sharedDevices ? { allowMultipleAllocations: { type: boolType, sizeMax: 1 } } : {}),
  };
  const type = structType(naming.resolve('{kubernetes}.DRADevice'));
  const device: Part = { type, sizeMax: 0, fields };
  return new Environment({
    naming,
    deviceSelectors: { listAttributes },
    variables: [{ name: 'device', type }],
    objects: {
      has: (typeName) => typeName === type.name,
      field(typeName, name) {
        const part = typeName === type.name ? ownPart(fields, name) : undefined;
        return part === undefined ? undefined : { name, type: part.type };
      },
    },
    sizes: sizesOf(device, attribute),
  });
}

const ownPart = (fields: Readonly<Record<string, Part>> | undefined, name: string) =>
  fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;

function sizesOf(device: Part, attribute: Part): SizeEstimator {
  const within = (part: Part, name: string): Part | undefined => {
    if (name === '@items' || name === '@values') return part.value;
    if (name === '@keys') return part.key;
    // An attribute may also be selected as if it were a field.
    return ownPart(part.fields, name) ?? (part.value === attribute ? attribute : undefined);
  };
  return (path) => {
    if (path[0] !== 'device') return undefined;
    let part: Part | undefined = device;
    for (const name of path.slice(1)) part = part === undefined ? undefined : within(part, name);
    return part === undefined ? undefined : { min: 0n, max: BigInt(part.sizeMax) };
  };
}

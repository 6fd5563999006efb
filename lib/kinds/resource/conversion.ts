// Resource claims and slices of the first beta: a request's own fields and a device's own fields
// lie one level higher or lower than in the versions after it.
import { without } from '../../api/json-value.ts';
import { eachIn, within } from '../../api/convert-fields.ts';
import type { Conversion, Conversions, Step } from '../../api/convert-fields.ts';
import { recordAt, valueAt } from '../../api/json-access.ts';
import { isAbsent, isZero } from '../../api/presence.ts';

const exactFields = [
  'deviceClassName',
  'selectors',
  'allocationMode',
  'count',
  'adminAccess',
  'tolerations',
  'capacity',
] as const;

/** A class of '' and a count of 0 are none; what else is there was given. */
const requestToStable: Step = (request) => {
  const own = Object.entries(request).filter(
    ([name, value]) =>
      (exactFields as readonly string[]).includes(name) &&
      !isAbsent(value) &&
      value !== '' &&
      value !== 0,
  );
  const rest = without(request, ...exactFields);
  return own.length === 0 ? rest : { ...rest, exactly: Object.fromEntries(own) };
};

const requestFromStable: Step = (request) => ({
  ...without(request, 'exactly'),
  ...recordAt(request, 'exactly'),
});

const inRequests =
  (path: readonly string[], step: Step): Conversion =>
  (object) =>
    within(object, [...path, 'devices'], (devices) => eachIn(devices, 'requests', step));

const deviceToStable: Step = (device) => ({
  ...without(device, 'basic'),
  ...recordAt(device, 'basic'),
});

const deviceFromStable: Step = (device) => {
  const { name, ...basic } = device;
  return { ...(name === undefined ? {} : { name }), basic };
};

/** What is not chosen is absent in the stable version, zero in the beta. */
const sliceToStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => {
    const unset = ['nodeName', 'allNodes'].filter((name) => isZero(valueAt(spec, name)));
    return eachIn(without(spec, ...unset), 'devices', deviceToStable);
  });

const sliceFromStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => eachIn(spec, 'devices', deviceFromStable));

export const claimConversions: Conversions = {
  'resource/v1beta1.ResourceClaim > resource/v1.ResourceClaim': inRequests(
    ['spec'],
    requestToStable,
  ),
  'resource/v1.ResourceClaim > resource/v1beta1.ResourceClaim': inRequests(
    ['spec'],
    requestFromStable,
  ),
};

export const claimTemplateConversions: Conversions = {
  'resource/v1beta1.ResourceClaimTemplate > resource/v1.ResourceClaimTemplate': inRequests(
    ['spec', 'spec'],
    requestToStable,
  ),
  'resource/v1.ResourceClaimTemplate > resource/v1beta1.ResourceClaimTemplate': inRequests(
    ['spec', 'spec'],
    requestFromStable,
  ),
};

export const sliceConversions: Conversions = {
  'resource/v1beta1.ResourceSlice > resource/v1.ResourceSlice': sliceToStable,
  'resource/v1.ResourceSlice > resource/v1beta1.ResourceSlice': sliceFromStable,
};

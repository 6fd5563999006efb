// Defaults of device requests and taints that depend on other fields or on the time.
import { formatTime } from '../../base/clock.ts';
import type { DefaultRule, DefaultRules } from '../../api/default-rule.ts';
import { isAbsent, isZero } from '../../api/presence.ts';

const exactCount: DefaultRule = {
  version: 1,
  complete(request) {
    if (request['allocationMode'] === 'ExactCount' && isZero(request['count'])) {
      request['count'] = 1;
    }
  },
};

/** The oldest version has the request itself here: what has no class is a choice of others. */
const flatRequest: DefaultRule = {
  version: 1,
  complete(request, context) {
    if (isZero(request['deviceClassName'])) return;
    if (isZero(request['allocationMode'])) request['allocationMode'] = 'ExactCount';
    exactCount.complete(request, context);
  },
};

const taint: DefaultRule = {
  version: 1,
  complete(object, { nowMs }) {
    if (isAbsent(object['timeAdded'])) object['timeAdded'] = formatTime(nowMs());
  },
};

export const requestDefaults: DefaultRules = {
  'resource/v1.ExactDeviceRequest': exactCount,
  'resource/v1.DeviceSubRequest': exactCount,
  'resource/v1beta2.ExactDeviceRequest': exactCount,
  'resource/v1beta2.DeviceSubRequest': exactCount,
  'resource/v1beta1.DeviceRequest': flatRequest,
  'resource/v1beta1.DeviceSubRequest': exactCount,
};

export const taintDefaults: DefaultRules = {
  'resource/v1.DeviceTaint': taint,
  'resource/v1beta2.DeviceTaint': taint,
  'resource/v1beta1.DeviceTaint': taint,
  'resource/v1alpha3.DeviceTaint': taint,
};

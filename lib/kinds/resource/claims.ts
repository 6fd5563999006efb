// Claims to devices, templates of claims, and classes of devices. What a claim asks for never
// changes: updates do not look at it again.
import { immutableDetail } from '../../api/field-errors.ts';
import { flagAt, isSet, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isExtendedResource } from '../core/resource-names.ts';
import type { KindOptions } from '../kind.ts';
import { validateTemplateMetadata } from '../meta/template-metadata.ts';
import type { ResourceStrategy } from '../strategy.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';
import { deviceIdOf, validateClaimStatus } from './claim-status.ts';
import { validateConfiguration } from './device-configuration.ts';
import { validateDeviceClaim } from './device-requests.ts';
import { validateSelectors } from './device-selectors.ts';
import { eachRecord } from './lists.ts';

const configurationsMax = 32;

export const validateResourceClaim: Validator = (write) => {
  const { object, old, subresource } = write;
  if (subresource === 'status') {
    const path = 'status.allocation.devices.results';
    const results = allocatedIn(object);
    if (!allocatedIn(old).some(isForAdmin)) validateAdminAccess(results, path, write);
    validateClaimStatus(write);
  } else if (old === undefined) {
    const devices = recordIn(object, 'spec', 'devices');
    validateAdminAccess(exactRequests(devices), 'spec.devices.requests', write);
    validateDeviceClaim(devices, 'spec.devices', write);
  } else validateUnchanged(write);
};

export const validateClaimTemplate: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec');
  const devices = recordIn(spec, 'spec', 'devices');
  if (old === undefined) {
    validateAdminAccess(exactRequests(devices), 'spec.devices.requests', write);
  }
  validateTemplateMetadata(recordAt(spec, 'metadata'), 'spec.metadata', errors);
  validateDeviceClaim(devices, 'spec.spec.devices', write);
  validateUnchanged(write);
};

function validateUnchanged({ object, old, errors }: ValidatedWrite): void {
  const spec = recordAt(object, 'spec');
  if (old === undefined || sameJson(spec, recordAt(old, 'spec'))) return;
  errors.invalid('spec', spec, immutableDetail);
}

export const validateDeviceClass: Validator = (write) => {
  const { errors, naming } = write;
  const spec = recordAt(write.object, 'spec');
  const isStored = (name: string): boolean =>
    write.old !== undefined && sameJson(spec?.[name], recordAt(write.old, 'spec')?.[name]);
  validateSelectors(spec, 'spec', write, { isStored: isStored('selectors') });
  const list = { of: spec, name: 'config', path: 'spec', countMax: configurationsMax };
  eachRecord(list, errors, {
    validate: (config, path) => {
      validateConfiguration(config, path, errors, { isStored: isStored('config') });
    },
  });
  const name = textAt(spec, 'extendedResourceName');
  if (isSet(spec, 'extendedResourceName') && !isExtendedResource(name, naming)) {
    errors.invalid('spec.extendedResourceName', name, 'must be a valid extended resource name');
  }
};

const exactRequests = (devices: Holder): readonly JsonObject[] =>
  recordsAt(devices, 'requests').map((request) => recordAt(request, 'exactly') ?? {});

const allocatedIn = (claim: Holder): readonly JsonObject[] =>
  recordsAt(recordIn(claim, 'status', 'allocation', 'devices'), 'results');

const isForAdmin = (of: JsonObject): boolean => flagAt(of, 'adminAccess');

/** Devices that others use are given only in namespaces with a label that allows it. */
function validateAdminAccess(
  list: readonly JsonObject[],
  path: string,
  { errors, naming, namespaceLabels }: ValidatedWrite,
): void {
  const at = list.findIndex(isForAdmin);
  if (at < 0) return;
  const label = naming.resolve('resource.{kubernetes}.io/admin-access');
  if (namespaceLabels?.[label] === 'true') return;
  const detail =
    `admin access to devices requires the \`${label}: true\` label ` +
    'on the containing namespace';
  errors.forbidden(`${path}[${String(at)}].adminAccess`, detail);
}

const asksForAdmin = (object: Holder): boolean => {
  const spec = recordAt(object, 'spec');
  const devices = recordAt(spec, 'devices') ?? recordIn(spec, 'spec', 'devices');
  return exactRequests(devices).some(isForAdmin) || allocatedIn(object).some(isForAdmin);
};

export const claimTemplateStrategy = ({ labelsOfNamespace }: KindOptions): ResourceStrategy => ({
  answersDeletedObject: true,
  gather(object, context, signal) {
    if (!asksForAdmin(object) || labelsOfNamespace === undefined) return context;
    const labels = labelsOfNamespace(object.metadata?.namespace ?? '', signal);
    return labels.then((namespaceLabels) => ({ ...context, namespaceLabels }));
  },
});

export const claimStrategy = (options: KindOptions): ResourceStrategy => ({
  ...claimTemplateStrategy(options),
  prepare(claim, old, { subresource }) {
    if (subresource === 'status') dropReturnedDevices(claim, old);
  },
});

/** What drivers tell of a device goes with the device. */
function dropReturnedDevices(claim: ApiObject, old: Holder): void {
  const status = recordAt(claim, 'status');
  const told = recordsAt(status, 'devices');
  if (status === undefined || told.length === 0) return;
  const idOf = (of: JsonObject): string => JSON.stringify({ ...deviceIdOf(of), ShareID: '' });
  const kept = new Set(allocatedIn(claim).map(idOf));
  const returned = new Set(
    allocatedIn(old)
      .map(idOf)
      .filter((id) => !kept.has(id)),
  );
  const left = told.filter((device) => !returned.has(idOf(device)));
  if (left.length === told.length) return;
  if (left.length > 0) status['devices'] = [...left];
  else delete status['devices'];
}

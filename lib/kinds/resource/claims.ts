// Claims to devices, templates of claims, and classes of devices. What a claim asks for never
// changes: updates do not look at it again.
import { immutableDetail } from '../../api/field-errors.ts';
import { isSet, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isExtendedResource } from '../core/resource-names.ts';
import type { KindOptions } from '../kind.ts';
import { validateTemplateMetadata } from '../meta/template-metadata.ts';
import type { ResourceStrategy } from '../strategy.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';
import { authorizeClaim, authorizeTemplate } from './claim-permissions.ts';
import { returnedBetween, validateClaimStatus } from './claim-status.ts';
import { validateConfiguration } from './device-configuration.ts';
import { validateDeviceClaim } from './device-requests.ts';
import { validateSelectors } from './device-selectors.ts';
import { eachRecord } from './lists.ts';

const configurationsMax = 32;

export const validateResourceClaim: Validator = (write) => {
  const { object, old, subresource } = write;
  if (subresource === 'status') validateClaimStatus(write);
  else if (old === undefined) {
    validateDeviceClaim(recordIn(object, 'spec', 'devices'), 'spec.devices', write);
  } else validateUnchanged(write);
};

export const validateClaimTemplate: Validator = (write) => {
  const spec = recordAt(write.object, 'spec');
  validateTemplateMetadata(recordAt(spec, 'metadata'), 'spec.metadata', write.errors);
  validateDeviceClaim(recordIn(spec, 'spec', 'devices'), 'spec.spec.devices', write);
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

export const claimTemplateStrategy = (options: KindOptions): ResourceStrategy => ({
  answersDeletedObject: true,
  authorize: authorizeTemplate(options),
});

export const claimStrategy = (options: KindOptions): ResourceStrategy => ({
  answersDeletedObject: true,
  authorize: authorizeClaim(options),
  prepare(claim, old, { subresource }) {
    if (subresource === 'status') dropReturnedDevices(claim, old);
  },
});

/** What drivers tell of a device goes with the device. */
function dropReturnedDevices(claim: ApiObject, old: Holder): void {
  const status = recordAt(claim, 'status');
  const told = recordsAt(status, 'devices');
  if (status === undefined || told.length === 0) return;
  const isReturned = returnedBetween(old, claim);
  const left = told.filter((device) => !isReturned(device));
  if (left.length === told.length) return;
  if (left.length > 0) status['devices'] = [...left];
  else delete status['devices'];
}

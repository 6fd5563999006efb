// The kinds of resource: one record each.
import type { Kind } from '../kind.ts';
import {
  claimColumns,
  nameAndAge,
  poolRequestColumns,
  sliceColumns,
  taintRuleColumns,
} from './columns.ts';
import { claimConversions, claimTemplateConversions, sliceConversions } from './conversion.ts';
import { requestDefaults, taintDefaults } from './defaults.ts';
import {
  validateClaimTemplate,
  validateDeviceClass,
  validateResourceClaim,
  validateResourceSlice,
} from './device-validation.ts';
import { validatePoolRequest, validateTaintRule } from './migrated-validation.ts';

export const resourceKinds: readonly Kind[] = [
  {
    name: 'resource/DeviceClass',
    columns: nameAndAge,
    validate: validateDeviceClass,
  },
  {
    name: 'resource/DeviceTaintRule',
    columns: taintRuleColumns,
    defaults: taintDefaults,
    validateMigrated: validateTaintRule,
  },
  {
    name: 'resource/ResourceClaim',
    columns: claimColumns,
    defaults: requestDefaults,
    conversions: claimConversions,
    validate: validateResourceClaim,
  },
  {
    name: 'resource/ResourceClaimTemplate',
    columns: nameAndAge,
    conversions: claimTemplateConversions,
    validate: validateClaimTemplate,
  },
  {
    name: 'resource/ResourcePoolStatusRequest',
    columns: poolRequestColumns,
    validateMigrated: validatePoolRequest,
  },
  {
    name: 'resource/ResourceSlice',
    columns: sliceColumns,
    conversions: sliceConversions,
    validate: validateResourceSlice,
  },
];

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
    strategy: { answersDeletedObject: true },
    validate: validateDeviceClass,
  },
  {
    name: 'resource/DeviceTaintRule',
    columns: taintRuleColumns,
    defaults: taintDefaults,
    strategy: { answersDeletedObject: true },
    validateMigrated: validateTaintRule,
  },
  {
    name: 'resource/ResourceClaim',
    columns: claimColumns,
    defaults: requestDefaults,
    conversions: claimConversions,
    strategy: { answersDeletedObject: true },
    validate: validateResourceClaim,
  },
  {
    name: 'resource/ResourceClaimTemplate',
    columns: nameAndAge,
    conversions: claimTemplateConversions,
    strategy: { answersDeletedObject: true },
    validate: validateClaimTemplate,
  },
  {
    name: 'resource/ResourcePoolStatusRequest',
    columns: poolRequestColumns,
    strategy: { answersDeletedObject: true },
    validateMigrated: validatePoolRequest,
  },
  {
    name: 'resource/ResourceSlice',
    columns: sliceColumns,
    conversions: sliceConversions,
    strategy: { answersDeletedObject: true, generation: { countsDropped: true } },
    validate: validateResourceSlice,
  },
];

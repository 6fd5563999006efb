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
  claimStrategy,
  claimTemplateStrategy,
  validateClaimTemplate,
  validateDeviceClass,
  validateResourceClaim,
} from './claims.ts';
import { sliceWarnings, validateResourceSlice } from './slices.ts';
import { validateMigratedPoolRequest, validatePoolRequest } from './pool-requests.ts';
import { taintRuleStrategy, validateTaintRule } from './taint-rules.ts';

export const resourceKinds: readonly Kind[] = [
  {
    name: 'resource/DeviceClass',
    columns: nameAndAge,
    strategy: { answersDeletedObject: true },
    validate: validateDeviceClass,
    rulesByHand: true,
  },
  {
    name: 'resource/DeviceTaintRule',
    columns: taintRuleColumns,
    defaults: taintDefaults,
    strategy: taintRuleStrategy,
    validate: validateTaintRule,
    rulesByHand: true,
  },
  {
    name: 'resource/ResourceClaim',
    columns: claimColumns,
    defaults: requestDefaults,
    conversions: claimConversions,
    strategy: claimStrategy,
    validate: validateResourceClaim,
    rulesByHand: true,
  },
  {
    name: 'resource/ResourceClaimTemplate',
    columns: nameAndAge,
    conversions: claimTemplateConversions,
    strategy: claimTemplateStrategy,
    validate: validateClaimTemplate,
    rulesByHand: true,
  },
  {
    name: 'resource/ResourcePoolStatusRequest',
    columns: poolRequestColumns,
    strategy: { answersDeletedObject: true },
    validate: validatePoolRequest,
    validateMigrated: validateMigratedPoolRequest,
  },
  {
    name: 'resource/ResourceSlice',
    columns: sliceColumns,
    conversions: sliceConversions,
    strategy: { answersDeletedObject: true, generation: { countsDropped: true } },
    validate: validateResourceSlice,
    rulesByHand: true,
    warnings: sliceWarnings,
  },
];

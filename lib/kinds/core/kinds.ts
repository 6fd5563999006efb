// The kinds of the core group: one record each.
import { hostNameWarnings, joinedWarnings } from '../host-name-warnings.ts';
import type { Kind } from '../kind.ts';
import { validateClaim } from './claim-validation.ts';
import {
  componentStatusColumns,
  configMapColumns,
  namespaceColumns,
  resourceQuotaColumns,
  secretColumns,
  serviceAccountColumns,
} from './columns.ts';
import { validateConfigMap, validateSecret } from './configuration.ts';
import {
  limitRangeDefaults,
  namespaceDefaults,
  nodeDefaults,
  persistentVolumeDefaults,
  replicationControllerDefaults,
  serviceDefaults,
} from './defaults.ts';
import { validateEndpoints } from './endpoints-validation.ts';
import { endpointsWarnings } from './endpoints-warnings.ts';
import { eventColumns } from './event-columns.ts';
import { eventConversions } from './event-conversion.ts';
import { validateEvent } from './event-validation.ts';
import { eventReaders, podReaders } from './field-readers.ts';
import { validateLimitRange } from './limit-range-validation.ts';
import { limitRangeStrategy } from './limit-ranges.ts';
import { namespaceStrategy } from './namespaces.ts';
import { nodeColumns } from './node-columns.ts';
import { validateNamespace, validateNode } from './node-validation.ts';
import { nodeWarnings } from './node-warnings.ts';
import { nodeStrategy } from './nodes.ts';
import { validatePersistentVolume } from './persistent-volume-validation.ts';
import { persistentVolumeClaimStrategy, persistentVolumeStrategy } from './persistent-volumes.ts';
import { podColumns } from './pod-columns.ts';
import { podDefaults } from './pod-defaults.ts';
import { validatePod } from './pod-validation.ts';
import { podStatusWarnings, podWarnings, templateWarnings } from './pod-warnings.ts';
import { podStrategy } from './pods.ts';
import { validateQuota } from './quota-validation.ts';
import {
  validatePodTemplateObject,
  validateReplicationController,
} from './replication-controller-validation.ts';
import { secretDefaults } from './secrets.ts';
import { serviceAccountStrategy, serviceAccountWarnings } from './service-accounts.ts';
import { endpointsColumns, serviceColumns } from './service-columns.ts';
import { validateService } from './service-validation.ts';
import { serviceStatusWarnings, serviceWarnings } from './service-warnings.ts';
import { serviceStrategy } from './services.ts';
import { podTemplateColumns, replicationControllerColumns } from './template-columns.ts';
import { claimColumns, volumeColumns } from './volume-columns.ts';
import { claimWarnings, persistentVolumeWarnings } from './volume-warnings.ts';
import { secretWarnings } from './tls-secret.ts';

export const coreKinds: readonly Kind[] = [
  {
    name: 'core/ComponentStatus',
    columns: componentStatusColumns,
  },
  {
    name: 'core/ConfigMap',
    columns: configMapColumns,
    validate: validateConfigMap,
  },
  {
    name: 'core/Endpoints',
    columns: endpointsColumns,
    validate: validateEndpoints,
    warnings: endpointsWarnings,
  },
  {
    name: 'core/Event',
    columns: eventColumns,
    conversions: eventConversions,
    fieldReaders: eventReaders,
    strategy: ({ eventTtlSeconds }) => ({
      ttlSeconds: () => eventTtlSeconds,
      dependents: 'none',
      takesUnqualifiedFinalizers: 'inCoreGroup',
      validatesUnchanged: true,
    }),
    validate: validateEvent,
  },
  {
    name: 'core/LimitRange',
    defaults: limitRangeDefaults,
    strategy: limitRangeStrategy,
    validate: validateLimitRange,
  },
  {
    name: 'core/Namespace',
    columns: namespaceColumns,
    defaults: namespaceDefaults,
    strategy: ({ naming }) => namespaceStrategy(naming),
    validate: validateNamespace,
  },
  {
    name: 'core/Node',
    columns: nodeColumns,
    defaults: nodeDefaults,
    strategy: nodeStrategy,
    validate: validateNode,
    warnings: nodeWarnings,
  },
  {
    name: 'core/PersistentVolume',
    columns: volumeColumns,
    defaults: persistentVolumeDefaults,
    strategy: persistentVolumeStrategy,
    validate: validatePersistentVolume,
    warnings: persistentVolumeWarnings,
  },
  {
    name: 'core/PersistentVolumeClaim',
    columns: claimColumns,
    strategy: ({ naming }) => persistentVolumeClaimStrategy(naming),
    validate: validateClaim,
    warnings: claimWarnings,
  },
  {
    name: 'core/Pod',
    columns: podColumns,
    defaults: podDefaults,
    fieldReaders: podReaders,
    strategy: podStrategy,
    validate: validatePod,
    warnings: podWarnings,
    statusWarnings: podStatusWarnings,
  },
  {
    name: 'core/PodTemplate',
    columns: podTemplateColumns,
    strategy: { answersDeletedObject: true },
    validate: validatePodTemplateObject,
    warnings: templateWarnings('template'),
  },
  {
    name: 'core/ReplicationController',
    columns: replicationControllerColumns,
    defaults: replicationControllerDefaults,
    strategy: { dependents: 'orphaned' },
    validate: validateReplicationController,
    warnings: joinedWarnings(hostNameWarnings, templateWarnings('spec.template')),
  },
  {
    name: 'core/ResourceQuota',
    columns: resourceQuotaColumns,
    strategy: { answersDeletedObject: true },
    validate: validateQuota,
  },
  {
    name: 'core/Secret',
    columns: secretColumns,
    defaults: secretDefaults,
    validate: validateSecret,
    warnings: secretWarnings,
  },
  {
    name: 'core/Service',
    columns: serviceColumns,
    defaults: serviceDefaults,
    strategy: serviceStrategy,
    validate: validateService,
    warnings: serviceWarnings,
    statusWarnings: serviceStatusWarnings,
  },
  {
    name: 'core/ServiceAccount',
    columns: serviceAccountColumns,
    strategy: serviceAccountStrategy,
    warnings: serviceAccountWarnings,
  },
  /** The newer group shows the same events. */
  { name: 'events/Event', columns: eventColumns },
];

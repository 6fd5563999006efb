// The kinds of apps: one record each.
import { hostNameWarnings, joinedWarnings } from '../host-name-warnings.ts';
import type { Kind } from '../kind.ts';
import {
  controllerRevisionColumns,
  daemonSetColumns,
  deploymentColumns,
  replicaSetColumns,
  statefulSetColumns,
} from './columns.ts';
import {
  daemonSetConversions,
  daemonSetFieldAnnotations,
  deploymentConversions,
  deploymentFieldAnnotations,
} from './conversion.ts';
import { templateWarnings } from '../core/pod-warnings.ts';
import { daemonSetStrategy } from './daemon-sets.ts';
import { deploymentStrategy } from './deployments.ts';
import {
  daemonSetDefaults,
  deploymentDefaults,
  replicaSetDefaults,
  statefulSetDefaults,
} from './defaults.ts';
import { statefulSetWarnings } from './stateful-set-warnings.ts';
import { statefulSetStrategy } from './stateful-sets.ts';
import {
  validateControllerRevision,
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateStatefulSet,
} from './workload-validation.ts';

export const appsKinds: readonly Kind[] = [
  {
    name: 'apps/ControllerRevision',
    columns: controllerRevisionColumns,
    validate: validateControllerRevision,
  },
  {
    name: 'apps/DaemonSet',
    columns: daemonSetColumns,
    defaults: daemonSetDefaults,
    conversions: daemonSetConversions,
    fieldAnnotations: daemonSetFieldAnnotations,
    strategy: daemonSetStrategy,
    validate: validateDaemonSet,
    warnings: templateWarnings('spec.template'),
  },
  {
    name: 'apps/Deployment',
    columns: deploymentColumns,
    defaults: deploymentDefaults,
    conversions: deploymentConversions,
    strategy: deploymentStrategy,
    fieldAnnotations: deploymentFieldAnnotations,
    validate: validateDeployment,
    warnings: joinedWarnings(hostNameWarnings, templateWarnings('spec.template')),
  },
  {
    name: 'apps/ReplicaSet',
    columns: replicaSetColumns,
    defaults: replicaSetDefaults,
    validate: validateReplicaSet,
    warnings: joinedWarnings(hostNameWarnings, templateWarnings('spec.template')),
  },
  {
    name: 'apps/StatefulSet',
    columns: statefulSetColumns,
    defaults: statefulSetDefaults,
    strategy: statefulSetStrategy,
    validate: validateStatefulSet,
    warnings: joinedWarnings(templateWarnings('spec.template'), statefulSetWarnings),
  },
];

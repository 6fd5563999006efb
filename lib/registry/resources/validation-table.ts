// Which kinds have rules that stand beside no field: one row each, by the stored resource.
import { FieldErrors } from '../../api/field-errors.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ResourceStrategy } from '../strategy.ts';
import {
  validateMutatingPolicy,
  validatePolicyBinding,
  validateValidatingPolicy,
} from './admissionregistration/policy-validation.ts';
import { validateWebhooks } from './admissionregistration/webhook-validation.ts';
import { validateDefinition } from './apiextensions/definition-validation.ts';
import { validateApiService } from './apiregistration/api-service-validation.ts';
import {
  validateControllerRevision,
  validateDaemonSet,
  validateDeployment,
  validateReplicaSet,
  validateStatefulSet,
} from './apps/workload-validation.ts';
import { validateAutoscaler } from './autoscaling/autoscaler-validation.ts';
import { validateCronJob } from './batch/cron-job-validation.ts';
import { validateJob } from './batch/job-validation.ts';
import {
  validatePodCertificateRequest,
  validateSigningRequest,
  validateTrustBundle,
} from './certificates/certificate-validation.ts';
import { validateLease } from './coordination/lease-validation.ts';
import { validateConfigMap, validateSecret } from './core/configuration.ts';
import { validateEvent } from './core/event-validation.ts';
import { validateNamespace, validateNode } from './core/node-validation.ts';
import { validatePod } from './core/pod-validation.ts';
import { validateLimits, validateQuota } from './core/quota-validation.ts';
import {
  validatePodTemplateObject,
  validateReplicationController,
} from './core/replication-controller-validation.ts';
import { validateEndpoints, validateService } from './core/service-validation.ts';
import { validateClaim, validateVolume } from './core/volume-validation.ts';
import { validateEndpointSlice } from './discovery/slice-validation.ts';
import { validateFlowSchema, validatePriorityLevel } from './flowcontrol/flow-validation.ts';
import { validateIngress, validateIngressClass } from './networking/ingress-validation.ts';
import { validateNetworkPolicy, validateServiceCidr } from './networking/network-validation.ts';
import { validateRuntimeClass } from './node/runtime-class-validation.ts';
import { validateDisruptionBudget } from './policy/disruption-budget-validation.ts';
import {
  validateClusterRole,
  validateClusterRoleBinding,
  validateRole,
  validateRoleBinding,
} from './rbac/role-validation.ts';
import {
  validateClaimTemplate,
  validateDeviceClass,
  validateResourceClaim,
  validateResourceSlice,
} from './resource/device-validation.ts';
import { validatePoolRequest, validateTaintRule } from './resource/migrated-validation.ts';
import { validatePriorityClass } from './scheduling/priority-class-validation.ts';
import { validatePodGroup, validateWorkload } from './scheduling/workload-validation.ts';
import {
  validateAttachment,
  validateAttributesClass,
  validateCsiNode,
  validateStorageCapacity,
  validateStorageClass,
} from './storage/storage-validation.ts';
import type { Validator } from './validator.ts';

const core: readonly (readonly [string, Validator])[] = [
  ['configmaps', validateConfigMap],
  ['endpoints', validateEndpoints],
  ['events', validateEvent],
  ['limitranges', validateLimits],
  ['namespaces', validateNamespace],
  ['nodes', validateNode],
  ['persistentvolumeclaims', validateClaim],
  ['persistentvolumes', validateVolume],
  ['pods', validatePod],
  ['podtemplates', validatePodTemplateObject],
  ['replicationcontrollers', validateReplicationController],
  ['resourcequotas', validateQuota],
  ['secrets', validateSecret],
  ['services', validateService],
];

const grouped: readonly (readonly [string, Validator])[] = [
  ['admissionregistration.{v}/mutatingadmissionpolicies', validateMutatingPolicy],
  ['admissionregistration.{v}/mutatingadmissionpolicybindings', validatePolicyBinding],
  ['admissionregistration.{v}/mutatingwebhookconfigurations', validateWebhooks],
  ['admissionregistration.{v}/validatingadmissionpolicies', validateValidatingPolicy],
  ['admissionregistration.{v}/validatingadmissionpolicybindings', validatePolicyBinding],
  ['admissionregistration.{v}/validatingwebhookconfigurations', validateWebhooks],
  ['apiextensions.{v}/customresourcedefinitions', validateDefinition],
  ['apiregistration.{v}/apiservices', validateApiService],
  ['apps/controllerrevisions', validateControllerRevision],
  ['apps/daemonsets', validateDaemonSet],
  ['apps/deployments', validateDeployment],
  ['apps/replicasets', validateReplicaSet],
  ['apps/statefulsets', validateStatefulSet],
  ['autoscaling/horizontalpodautoscalers', validateAutoscaler],
  ['batch/cronjobs', validateCronJob],
  ['batch/jobs', validateJob],
  ['certificates.{v}/certificatesigningrequests', validateSigningRequest],
  ['certificates.{v}/clustertrustbundles', validateTrustBundle],
  ['certificates.{v}/podcertificaterequests', validatePodCertificateRequest],
  ['coordination.{v}/leases', validateLease],
  ['discovery.{v}/endpointslices', validateEndpointSlice],
  ['events.{v}/events', validateEvent],
  ['flowcontrol.apiserver.{v}/flowschemas', validateFlowSchema],
  ['flowcontrol.apiserver.{v}/prioritylevelconfigurations', validatePriorityLevel],
  ['networking.{v}/ingressclasses', validateIngressClass],
  ['networking.{v}/ingresses', validateIngress],
  ['networking.{v}/networkpolicies', validateNetworkPolicy],
  ['networking.{v}/servicecidrs', validateServiceCidr],
  ['node.{v}/runtimeclasses', validateRuntimeClass],
  ['policy/poddisruptionbudgets', validateDisruptionBudget],
  ['rbac.authorization.{v}/clusterrolebindings', validateClusterRoleBinding],
  ['rbac.authorization.{v}/clusterroles', validateClusterRole],
  ['rbac.authorization.{v}/rolebindings', validateRoleBinding],
  ['rbac.authorization.{v}/roles', validateRole],
  ['resource.{v}/deviceclasses', validateDeviceClass],
  ['resource.{v}/resourceclaims', validateResourceClaim],
  ['resource.{v}/resourceclaimtemplates', validateClaimTemplate],
  ['resource.{v}/resourceslices', validateResourceSlice],
  ['scheduling.{v}/priorityclasses', validatePriorityClass],
  ['storage.{v}/csinodes', validateCsiNode],
  ['storage.{v}/csistoragecapacities', validateStorageCapacity],
  ['storage.{v}/storageclasses', validateStorageClass],
  ['storage.{v}/volumeattachments', validateAttachment],
  ['storage.{v}/volumeattributesclasses', validateAttributesClass],
];

/** Rules that also stand beside the fields (gate DeclarativeValidation). */
const migrated: readonly (readonly [string, Validator])[] = [
  ['resource.{v}/devicetaintrules', validateTaintRule],
  ['resource.{v}/resourcepoolstatusrequests', validatePoolRequest],
  ['scheduling.{v}/podgroups', validatePodGroup],
  ['scheduling.{v}/workloads', validateWorkload],
];

type Validation = Pick<ResourceStrategy, 'validate' | 'validateMigrated'>;

/** The validation of a stored resource, by `group/resource`. */
export function validationTable(naming: NamingProfile): (key: string) => Validation {
  const rows = new Map<string, Validation>();
  for (const [name, validator] of core) {
    rows.set(`/${name}`, { validate: judging(validator, naming) });
  }
  for (const [key, validator] of grouped) {
    rows.set(naming.resolve(key), { validate: judging(validator, naming) });
  }
  for (const [key, validator] of migrated) {
    rows.set(naming.resolve(key), { validateMigrated: judging(validator, naming) });
  }
  const none: Validation = {};
  return (key) => rows.get(key) ?? none;
}

const judging =
  (validator: Validator, naming: NamingProfile): NonNullable<ResourceStrategy['validate']> =>
  (object, old, { subresource, apiVersion }, isOn) => {
    const errors = new FieldErrors();
    validator({ object, old, errors, isOn, naming, subresource, apiVersion });
    return errors.list;
  };

// THE table of admission plugins, in the order of their work: which are on without being named,
// and what makes each. Names and order are kube-apiserver's; a row without `make` is one that this
// server does not have.
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { AdmissionPlugin } from './plugin.ts';
import type { PluginParts } from './plugin-parts.ts';
import { mutatingPolicies } from './policies/mutating-policies.ts';
import { validatingPolicies } from './policies/validating-policies.ts';
import { alwaysAdmit, alwaysDeny } from './plugins/always.ts';
import { alwaysPullImages } from './plugins/always-pull-images.ts';
import { nodeDeclaredFeatureValidator, podResizeValidator } from './plugins/bound-pod-changes.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './plugins/certificates.ts';
import { defaultIngressClass } from './plugins/default-ingress-class.ts';
import { defaultStorageClass } from './plugins/default-storage-class.ts';
import { defaultTolerationSeconds } from './plugins/default-toleration-seconds.ts';
import { denyServiceExternalIps } from './plugins/deny-service-external-ips.ts';
import { eventRateLimit } from './plugins/event-rate-limit.ts';
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts';
import { hardAntiAffinity } from './plugins/hard-anti-affinity.ts';
import { imagePolicyWebhook } from './plugins/image-policy-webhook.ts';
import { jobValidation } from './plugins/job-validation.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { namespaceAutoProvision } from './plugins/namespace-auto-provision.ts';
import { namespaceExists } from './plugins/namespace-exists.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { nodeRestriction } from './plugins/node-restriction.ts';
import { ownerPermissions } from './plugins/owner-permissions.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { podGroupProtection } from './plugins/pod-group-protection.ts';
import { podGroupWorkloadExists } from './plugins/pod-group-workload-exists.ts';
import { podNodeSelector } from './plugins/pod-node-selector.ts';
import { podSecurity } from './plugins/pod-security.ts';
import { podTolerationRestriction } from './plugins/pod-toleration-restriction.ts';
import { podTopologyLabels } from './plugins/pod-topology-labels.ts';
import { priority } from './plugins/priority.ts';
import { resourceQuota } from './plugins/resource-quota.ts';
import { runtimeClass } from './plugins/runtime-class.ts';
import { serviceAccount } from './plugins/service-account.ts';
import { storageObjectInUseProtection } from './plugins/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './plugins/taint-nodes-by-condition.ts';
import { mutatingWebhooks } from './webhooks/mutating-webhooks.ts';
import { validatingWebhooks } from './webhooks/validating-webhooks.ts';

/**
 * undefined: nothing to do, for what it looks at is not served or its feature gate is off.
 * @throws Error for a configuration that is wrong, without the plugin's name.
 */
type Make = (parts: PluginParts) => MaybePromise<AdmissionPlugin | undefined>;

export interface PluginRow {
  readonly name: string;
  /** Without being named by a flag. */
  readonly isOn: boolean;
  /** undefined: this server does not have it. */
  readonly make: Make | undefined;
  readonly deprecated?: boolean;
}

const on = (name: string, make?: Make): PluginRow => ({ name, isOn: true, make });
const off = (name: string, make?: Make, more?: Partial<PluginRow>): PluginRow => ({
  name,
  isOn: false,
  make,
  ...more,
});
const deprecated = true;

export const pluginTable: readonly PluginRow[] = [
  off('AlwaysAdmit', alwaysAdmit, { deprecated }),
  off('NamespaceAutoProvision', namespaceAutoProvision),
  on('NamespaceLifecycle', namespaceLifecycle),
  off('NamespaceExists', namespaceExists),
  off('LimitPodHardAntiAffinityTopology', hardAntiAffinity),
  on('LimitRanger', limitRanger),
  on('ServiceAccount', serviceAccount),
  off('NodeRestriction', nodeRestriction),
  on('TaintNodesByCondition', taintNodesByCondition),
  off('AlwaysPullImages', alwaysPullImages),
  off('ImagePolicyWebhook', imagePolicyWebhook),
  on('PodSecurity', podSecurity),
  off('PodNodeSelector', podNodeSelector),
  on('Priority', priority),
  on('DefaultTolerationSeconds', defaultTolerationSeconds),
  off('PodTolerationRestriction', podTolerationRestriction),
  off('EventRateLimit', eventRateLimit),
  off('ExtendedResourceToleration', extendedResourceToleration),
  on('DefaultStorageClass', defaultStorageClass),
  on('StorageObjectInUseProtection', storageObjectInUseProtection),
  on('PodGroupProtection', podGroupProtection),
  off('OwnerReferencesPermissionEnforcement', ownerPermissions),
  on('PersistentVolumeClaimResize', persistentVolumeClaimResize),
  on('RuntimeClass', runtimeClass),
  on('CertificateApproval', certificateApproval),
  on('CertificateSigning', certificateSigning),
  on('ClusterTrustBundleAttest', clusterTrustBundleAttest),
  on('CertificateSubjectRestriction', certificateSubjectRestriction),
  on('DefaultIngressClass', defaultIngressClass),
  off('DenyServiceExternalIPs', denyServiceExternalIps),
  on('PodTopologyLabels', podTopologyLabels),
  on('PodGroupWorkloadExists', podGroupWorkloadExists),
  on('NodeDeclaredFeatureValidator', nodeDeclaredFeatureValidator),
  on('JobValidation', jobValidation),
  on('PodResizeValidator', podResizeValidator),
  on('MutatingAdmissionPolicy', mutatingPolicies),
  on('MutatingAdmissionWebhook', mutatingWebhooks),
  on('ValidatingAdmissionPolicy', validatingPolicies),
  on('ValidatingAdmissionWebhook', validatingWebhooks),
  on('ResourceQuota', resourceQuota),
  off('AlwaysDeny', alwaysDeny, { deprecated }),
];

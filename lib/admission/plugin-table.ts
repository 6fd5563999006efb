// THE table of admission plugins, in the order of their work: which are on without being named,
// and what makes each. Names and order are kube-apiserver's; a row without `make` is one that this
// server does not have.
import type { AdmissionPlugin } from './plugin.ts';
import type { PluginParts } from './plugin-parts.ts';
import { mutatingPolicies } from './policies/mutating-policies.ts';
import { validatingPolicies } from './policies/validating-policies.ts';
import { alwaysAdmit, alwaysDeny } from './plugins/always.ts';
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
import { extendedResourceToleration } from './plugins/extended-resource-toleration.ts';
import { hardAntiAffinity } from './plugins/hard-anti-affinity.ts';
import { limitRanger } from './plugins/limit-ranger.ts';
import { namespaceExists } from './plugins/namespace-exists.ts';
import { namespaceLifecycle } from './plugins/namespace-lifecycle.ts';
import { nodeRestriction } from './plugins/node-restriction.ts';
import { ownerPermissions } from './plugins/owner-permissions.ts';
import { persistentVolumeClaimResize } from './plugins/persistent-volume-claim-resize.ts';
import { podNodeSelector } from './plugins/pod-node-selector.ts';
import { podSecurity } from './plugins/pod-security.ts';
import { priority } from './plugins/priority.ts';
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
type Make = (parts: PluginParts) => AdmissionPlugin | undefined;

export interface PluginRow {
  readonly name: string;
  /** Without being named by a flag. */
  readonly isOn: boolean;
  /** undefined: this server does not have it. */
  readonly make: Make | undefined;
  /** Of one that is not here: a server that is told to enable it starts all the same. */
  readonly canBeMissed?: boolean;
  readonly deprecated?: boolean;
}

const on = (name: string, make?: Make): PluginRow => ({ name, isOn: true, make });
const off = (name: string, make?: Make, more?: Partial<PluginRow>): PluginRow => ({
  name,
  isOn: false,
  make,
  ...more,
});
/** It adds objects that users can add themselves. */
const canBeMissed = true;
const deprecated = true;

export const pluginTable: readonly PluginRow[] = [
  off('AlwaysAdmit', alwaysAdmit, { deprecated }),
  off('NamespaceAutoProvision', undefined, { canBeMissed }),
  on('NamespaceLifecycle', namespaceLifecycle),
  off('NamespaceExists', namespaceExists),
  off('LimitPodHardAntiAffinityTopology', hardAntiAffinity),
  on('LimitRanger', limitRanger),
  on('ServiceAccount', serviceAccount),
  off('NodeRestriction', nodeRestriction),
  on('TaintNodesByCondition', taintNodesByCondition),
  off('AlwaysPullImages'),
  off('ImagePolicyWebhook'),
  on('PodSecurity', podSecurity),
  off('PodNodeSelector', podNodeSelector),
  on('Priority', priority),
  on('DefaultTolerationSeconds', defaultTolerationSeconds),
  off('PodTolerationRestriction'),
  off('EventRateLimit'),
  off('ExtendedResourceToleration', extendedResourceToleration),
  on('DefaultStorageClass', defaultStorageClass),
  on('StorageObjectInUseProtection', storageObjectInUseProtection),
  on('PodGroupProtection'),
  off('OwnerReferencesPermissionEnforcement', ownerPermissions),
  on('PersistentVolumeClaimResize', persistentVolumeClaimResize),
  on('RuntimeClass', runtimeClass),
  on('CertificateApproval', certificateApproval),
  on('CertificateSigning', certificateSigning),
  on('ClusterTrustBundleAttest', clusterTrustBundleAttest),
  on('CertificateSubjectRestriction', certificateSubjectRestriction),
  on('DefaultIngressClass', defaultIngressClass),
  off('DenyServiceExternalIPs', denyServiceExternalIps),
  on('PodTopologyLabels'),
  on('PodGroupWorkloadExists'),
  on('NodeDeclaredFeatureValidator'),
  on('JobValidation'),
  on('PodResizeValidator'),
  on('MutatingAdmissionPolicy', mutatingPolicies),
  on('MutatingAdmissionWebhook', mutatingWebhooks),
  on('ValidatingAdmissionPolicy', validatingPolicies),
  on('ValidatingAdmissionWebhook', validatingWebhooks),
  on('ResourceQuota'),
  off('AlwaysDeny', alwaysDeny, { deprecated }),
];

// The order of the plugins, and which are on, as kube-apiserver has them.
import { expect, test } from '@jest/globals';
import { pluginTable } from './plugin-table.ts';

/** Those in parentheses are off by default. */
const order = `(AlwaysAdmit) (NamespaceAutoProvision) NamespaceLifecycle (NamespaceExists)
  (LimitPodHardAntiAffinityTopology) LimitRanger ServiceAccount (NodeRestriction)
  TaintNodesByCondition (AlwaysPullImages) (ImagePolicyWebhook) PodSecurity (PodNodeSelector)
  Priority DefaultTolerationSeconds (PodTolerationRestriction) (EventRateLimit)
  (ExtendedResourceToleration) DefaultStorageClass StorageObjectInUseProtection PodGroupProtection
  (OwnerReferencesPermissionEnforcement) PersistentVolumeClaimResize RuntimeClass
  CertificateApproval CertificateSigning ClusterTrustBundleAttest CertificateSubjectRestriction
  DefaultIngressClass (DenyServiceExternalIPs) PodTopologyLabels PodGroupWorkloadExists
  NodeDeclaredFeatureValidator JobValidation PodResizeValidator MutatingAdmissionPolicy
  MutatingAdmissionWebhook ValidatingAdmissionPolicy ValidatingAdmissionWebhook ResourceQuota
  (AlwaysDeny)`.split(/\s+/);

test('there are 41 plugins, in this order', () => {
  expect(order).toHaveLength(41);
  expect(pluginTable.map(({ name, isOn }) => (isOn ? name : `(${name})`))).toEqual(order);
});

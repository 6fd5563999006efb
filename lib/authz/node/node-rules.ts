// What every node may do, whichever it is: the rules of the default role system:node. Where the
// graph decides more narrowly, the node authorizer asks it in place of them.
import type { NamingProfile } from '../../api/vendor.ts';
import type { PolicyRule } from '../../kinds/rbac/policy-rules.ts';
import { ruleOf } from '../../kinds/rbac/rule-text.ts';

/** With placeholders of vendor names. */
export const nodeRuleTexts: readonly string[] = [
  'create tokenreviews of authentication.{v}',
  'create localsubjectaccessreviews,subjectaccessreviews of authorization.{v}',
  'read services',
  'create,get,list,watch nodes',
  'patch,update nodes/status',
  'patch,update nodes',
  'create,patch,update events of core,events.{v}',
  'read pods',
  'create,delete pods',
  'patch,update pods/status',
  'create pods/eviction',
  'read configmaps,secrets',
  'get persistentvolumeclaims,persistentvolumes',
  'get endpoints',
  'create,get,list,watch certificatesigningrequests of certificates.{v}',
  'create,delete,get,patch,update leases of coordination.{v}',
  'get volumeattachments of storage.{v}',
  'create serviceaccounts/token',
  'get,patch,update persistentvolumeclaims/status',
  'read csidrivers of storage.{v}',
  'create,delete,get,patch,update csinodes of storage.{v}',
  'read runtimeclasses of node.{v}',
  'get resourceclaims of resource.{v}',
  'deletecollection resourceslices of resource.{v}',
];

/** Further ones while a gate is on, by gate. */
export const gatedNodeRuleTexts: Readonly<Record<string, readonly string[]>> = {
  KubeletServiceAccountTokenForCredentialProviders: ['get serviceaccounts'],
  ClusterTrustBundle: ['read clustertrustbundles of certificates.{v}'],
  PodCertificateRequest: ['create,get,list,watch podcertificaterequests of certificates.{v}'],
};

export function nodeRules(
  naming: NamingProfile,
  gates: { isEnabled(gate: string): boolean },
): readonly PolicyRule[] {
  const further = Object.entries(gatedNodeRuleTexts).flatMap(([gate, texts]) =>
    gates.isEnabled(gate) ? texts : [],
  );
  return [...nodeRuleTexts, ...further].map((text) => ruleOf(naming.resolve(text)));
}

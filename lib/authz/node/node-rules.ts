// What every node may do, whichever it is: the rules of the default role system:node. Where the
// graph decides more narrowly, the node authorizer asks it in place of them.
import type { NamingProfile } from '../../api/vendor.ts';
import type { PolicyRule } from '../../kinds/rbac/policy-rules.ts';

interface NodeRule {
  /** With placeholders. */
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Without the gate there is no such rule. */
  readonly gate?: string;
}

const read = ['get', 'list', 'watch'] as const;
const write = ['create', 'delete', 'get', 'patch', 'update'] as const;
const change = ['patch', 'update'] as const;
const certificates = 'certificates.{v}';

const table: readonly NodeRule[] = [
  { groups: ['authentication.{v}'], resources: ['tokenreviews'], verbs: ['create'] },
  {
    groups: ['authorization.{v}'],
    resources: ['localsubjectaccessreviews', 'subjectaccessreviews'],
    verbs: ['create'],
  },
  { groups: [''], resources: ['services'], verbs: read },
  { groups: [''], resources: ['nodes'], verbs: ['create', ...read] },
  { groups: [''], resources: ['nodes/status'], verbs: change },
  { groups: [''], resources: ['nodes'], verbs: change },
  { groups: ['', 'events.{v}'], resources: ['events'], verbs: ['create', ...change] },
  { groups: [''], resources: ['pods'], verbs: read },
  { groups: [''], resources: ['pods'], verbs: ['create', 'delete'] },
  { groups: [''], resources: ['pods/status'], verbs: change },
  { groups: [''], resources: ['pods/eviction'], verbs: ['create'] },
  { groups: [''], resources: ['configmaps', 'secrets'], verbs: read },
  { groups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes'], verbs: ['get'] },
  { groups: [''], resources: ['endpoints'], verbs: ['get'] },
  { groups: [certificates], resources: ['certificatesigningrequests'], verbs: ['create', ...read] },
  { groups: ['coordination.{v}'], resources: ['leases'], verbs: write },
  { groups: ['storage.{v}'], resources: ['volumeattachments'], verbs: ['get'] },
  { groups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  { groups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['get', ...change] },
  { groups: ['storage.{v}'], resources: ['csidrivers'], verbs: read },
  { groups: ['storage.{v}'], resources: ['csinodes'], verbs: write },
  { groups: ['node.{v}'], resources: ['runtimeclasses'], verbs: read },
  { groups: ['resource.{v}'], resources: ['resourceclaims'], verbs: ['get'] },
  { groups: ['resource.{v}'], resources: ['resourceslices'], verbs: ['deletecollection'] },
  {
    groups: [certificates],
    resources: ['clustertrustbundles'],
    verbs: read,
    gate: 'ClusterTrustBundle',
  },
  {
    groups: [certificates],
    resources: ['podcertificaterequests'],
    verbs: ['create', ...read],
    gate: 'PodCertificateRequest',
  },
  {
    groups: [''],
    resources: ['serviceaccounts'],
    verbs: ['get'],
    gate: 'KubeletServiceAccountTokenForCredentialProviders',
  },
];

export const nodeRules = (
  naming: NamingProfile,
  gates: { isEnabled(gate: string): boolean },
): readonly PolicyRule[] =>
  table
    .filter(({ gate }) => gate === undefined || gates.isEnabled(gate))
    .map(({ groups, resources, verbs }) => ({
      verbs,
      apiGroups: groups.map((group) => naming.resolve(group)),
      resources,
      resourceNames: [],
      nonResourceURLs: [],
    }));

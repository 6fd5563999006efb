// Writes of nodes into a cluster of plain objects, and what NodeRestriction says of them.
import type { User } from '../../base/user.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { nodeRestriction } from '../plugins/node-restriction.ts';
import { resourceOf } from './asked.ts';
import { admit } from './cluster.ts';
import type { Known } from './cluster.ts';

export const nodeUser = (node: string): User => ({
  name: `system:node:${node}`,
  uid: '',
  groups: ['system:nodes'],
  extra: {},
});

type Write = Partial<Omit<AdmissionRequest, 'old' | 'resource'>> & {
  readonly resource: string;
  readonly group?: string;
  readonly old?: object;
};

/** Gates that are off unless somebody turns them on. */
export const defaultGatesOff = [
  'AllowInsecureKubeletCertificateSigningRequests',
  'PodCertificateRequest',
] as const;

/** The refusal of a write by the node `n1` of `x` (in the namespace `ns`); undefined: none. */
export async function refusedOf(
  { resource, group, ...change }: Write,
  object: object,
  known: Known = {},
): Promise<string | undefined> {
  const of = resourceOf(resource, group);
  const { refused } = await admit(
    nodeRestriction,
    { gatesOff: defaultGatesOff, ...known },
    object,
    {
      user: nodeUser('n1'),
      namespace: of.namespaced ? 'ns' : '',
      ...change,
      resource: of,
    },
  );
  return refused?.replace(/^403 .* is forbidden: /, '');
}

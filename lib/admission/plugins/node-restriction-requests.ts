// Certificates that nodes ask for: their own as nodes, and those of pods that run on them.
import { recordAt, textAt } from '../../api/json-access.ts';
import { conflict } from '../../base/status.ts';
import { readOneRequest } from '../../kinds/certificates/request-fields.ts';
import { isMirrored } from '../../kinds/core/pod-annotations.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { isOn } from './node-restriction-pods.ts';
import { finderOf } from './node-write.ts';
import type { FindNamed, NodeWrite, NodeWriteRows } from './node-write.ts';

type Parts = Pick<PluginParts, 'naming' | 'objects' | 'gates'>;

const group = 'certificates.{v}';

export function nodeRestrictionRequests(parts: Parts): NodeWriteRows {
  const { naming, gates } = parts;
  const signers = new Set(
    ['{kubernetes}.io/kubelet-serving', '{kubernetes}.io/{kube}-apiserver-client-kubelet'].map(
      (signer) => naming.resolve(signer),
    ),
  );
  const isUnchecked = gates.isEnabled('AllowInsecureKubeletCertificateSigningRequests');
  const core = (resource: string, singular: string): FindNamed =>
    finderOf(parts, { group: '', resource, singular });
  const pods: PodParts = {
    naming,
    findNode: core('nodes', 'node'),
    findPod: core('pods', 'pod'),
    findAccount: core('serviceaccounts', 'serviceaccount'),
  };
  const isServed = gates.isEnabled('PodCertificateRequest');
  return {
    certificatesigningrequests: {
      group,
      check: (write) => (isUnchecked ? undefined : checkRequest(write, signers)),
    },
    podcertificaterequests: {
      group,
      check(write) {
        if (!isServed) write.refuse('PodCertificateRequest feature gate is disabled');
        return checkPodRequest(write, pods);
      },
    },
  };
}

/** Of signers for nodes; what others sign, they look at themselves. */
function checkRequest(
  { node, request, object, refuse }: NodeWrite,
  signers: ReadonlySet<string>,
): void {
  const spec = recordAt(object, 'spec');
  if (request.operation !== 'CREATE' || !signers.has(textAt(spec, 'signerName'))) return;
  const subject = readOneRequest(textAt(spec, 'request'));
  if (subject === undefined) refuse('unable to parse csr: it must be one block of PEM');
  if (subject?.commonName === `system:node:${node}`) return;
  refuse(`can only create a node CSR with CN=system:node:${node}`);
}

interface PodParts extends Pick<PluginParts, 'naming'> {
  readonly findNode: FindNamed;
  readonly findPod: FindNamed;
  readonly findAccount: FindNamed;
}

async function checkPodRequest(write: NodeWrite, parts: PodParts): Promise<void> {
  const { node, request, object, signal, refuse } = write;
  const { operation, subresource, namespace } = request;
  if (operation !== 'CREATE') refuse(`unexpected operation ${operation}`);
  if (subresource !== '') refuse(`unexpected subresource ${subresource}`);
  const spec = recordAt(object, 'spec');
  const asked = (member: string): string => textAt(spec, member);
  const quoted = (member: string): string => JSON.stringify(asked(member));
  // Memory may be behind: another try may find them as they are stated.
  const mismatch = (text: string): never => {
    throw conflict(request.resource, request.name, text);
  };
  if (asked('nodeName') !== node) {
    refuse(
      `PodCertificateRequest.Spec.NodeName=${quoted('nodeName')}, ` +
        `which is not the requesting node ${JSON.stringify(node)}`,
    );
  }
  const podName = JSON.stringify(`${namespace}/${asked('podName')}`);
  const it = `PodCertificateRequest for pod ${podName}`;
  const nodeUid = (await parts.findNode({ namespace: '', name: node }, signal)).metadata?.uid ?? '';
  if (nodeUid !== asked('nodeUID')) {
    mismatch(
      `${it} names node UID ${quoted('nodeUID')}, ` +
        `inconsistent with the running node (${JSON.stringify(nodeUid)})`,
    );
  }
  const pod = await parts.findPod({ namespace, name: asked('podName') }, signal);
  const podUid = pod.metadata?.uid ?? '';
  if (podUid !== asked('podUID')) {
    mismatch(
      `${it} contains pod UID (${quoted('podUID')}) ` +
        `which differs from running pod ${JSON.stringify(podUid)}`,
    );
  }
  if (!isOn(pod, node)) {
    const name = JSON.stringify(node);
    refuse(`pod ${podName} is not running on node ${name} named in the PodCertificateRequest`);
  }
  if (isMirrored(recordAt(pod, 'metadata'), parts.naming)) refuse(`pod ${podName} is a mirror pod`);
  const account = textAt(recordAt(pod, 'spec'), 'serviceAccountName');
  if (account !== asked('serviceAccountName')) {
    refuse(
      `${it} contains serviceAccountName (${quoted('serviceAccountName')}) ` +
        `that differs from running pod (${JSON.stringify(account)})`,
    );
  }
  const found = await parts.findAccount({ namespace, name: account }, signal);
  const accountUid = found.metadata?.uid ?? '';
  if (accountUid === asked('serviceAccountUID')) return;
  mismatch(
    `${it} names service account UID ${quoted('serviceAccountUID')}, ` +
      `which differs from the running service account (${JSON.stringify(accountUid)})`,
  );
}

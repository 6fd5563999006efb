// Tokens that nodes ask for: each bound to a pod of the node, and for an audience that the pod
// names or that the node is permitted by name.
import { isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { volumeClaimName } from '../../kinds/core/pod-references.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { isOn } from './node-restriction-pods.ts';
import { finderOf } from './node-write.ts';
import type { FindNamed, NodeWrite, NodeWriteRows } from './node-write.ts';

type Parts = Pick<PluginParts, 'naming' | 'objects' | 'gates' | 'authorizer'>;
type Holder = Readonly<JsonObject> | undefined;

interface Finders {
  readonly findPod: FindNamed;
  readonly findClaim: FindNamed;
  readonly findVolume: FindNamed;
  readonly findDriver: FindNamed;
}

export function nodeRestrictionTokens(parts: Parts): NodeWriteRows {
  const core = (resource: string, singular: string): FindNamed =>
    finderOf(parts, { group: '', resource, singular });
  const finders: Finders = {
    findPod: core('pods', 'pod'),
    findClaim: core('persistentvolumeclaims', 'persistentvolumeclaim'),
    findVolume: core('persistentvolumes', 'persistentvolume'),
    findDriver: finderOf(parts, {
      group: 'storage.{v}',
      resource: 'csidrivers',
      singular: 'csidriver',
    }),
  };
  const isLimited = parts.gates.isEnabled('ServiceAccountNodeAudienceRestriction');
  return {
    serviceaccounts: {
      group: '',
      async check(write) {
        const { operation, subresource } = write.request;
        if (operation !== 'CREATE' || subresource !== 'token') return;
        const pod = await boundPod(write, finders.findPod);
        if (isLimited) await checkAudience(write, pod, { ...parts, ...finders });
      },
    },
  };
}

/** The pod of the node that the token is bound to. */
async function boundPod(
  { node, request, object, signal, refuse }: NodeWrite,
  findPod: FindNamed,
): Promise<Readonly<ApiObject>> {
  const bound = recordAt(recordAt(object, 'spec'), 'boundObjectRef');
  const [name, uid] = [textAt(bound, 'name'), textAt(bound, 'uid')];
  const isPod = textAt(bound, 'apiVersion') === 'v1' && textAt(bound, 'kind') === 'Pod';
  if (!isPod || name === '') refuse('node requested token not bound to a pod');
  if (uid === '') refuse('node requested token with a pod binding without a uid');
  const pod = await findPod({ namespace: request.namespace, name }, signal);
  if (uid !== pod.metadata?.uid) {
    refuse(
      `the UID in the bound object reference (${uid}) does not match the UID in record. ` +
        'The object might have been deleted and then recreated',
    );
  }
  if (isOn(pod, node)) return pod;
  return refuse('node requested token bound to a pod scheduled on a different node');
}

async function checkAudience(
  { request, object, signal, refuse }: NodeWrite,
  pod: Readonly<ApiObject>,
  parts: Parts & Finders,
): Promise<void> {
  const audiences = textsAt(recordAt(object, 'spec'), 'audiences');
  if (audiences.length > 1) refuse('node may only request 0 or 1 audiences');
  const [audience = ''] = audiences;
  const quoted = JSON.stringify(audience);
  const { isNamed, problems } = await namesAudience(pod, audience, parts, signal);
  if (isNamed) return;
  if (problems.length > 0) {
    refuse(`error validating audience ${quoted}: ${aggregateText(problems)}`);
  }
  const { user, namespace, name } = request;
  const decision = await parts.authorizer.authorize(
    {
      user,
      verb: 'request-serviceaccounts-token-audience',
      isResourceRequest: true,
      group: '',
      version: 'v1',
      resource: audience,
      subresource: '',
      namespace,
      name,
      fieldSelector: undefined,
      labelSelector: undefined,
      path: '',
    },
    signal,
  );
  if (decision.effect === 'allow') return;
  const what = `audience ${quoted} not found in pod spec volume`;
  const tail = 'request tokens for this audience';
  refuse(
    decision.error === undefined
      ? `${what}, ${user.name} is not authorized to ${tail}`
      : `${what}, error authorizing ${user.name} to ${tail}: ${decision.error}`,
  );
}

interface Named {
  readonly isNamed: boolean;
  /** What could not be looked at. */
  readonly problems: readonly string[];
}

/** In a projected volume, or by the driver of a volume, which is given tokens for its audiences. */
async function namesAudience(
  pod: Readonly<ApiObject>,
  audience: string,
  finders: Finders,
  signal: AbortSignal,
): Promise<Named> {
  const problems: string[] = [];
  for (const volume of recordsAt(recordAt(pod, 'spec'), 'volumes')) {
    const isProjected = recordsAt(recordAt(volume, 'projected'), 'sources').some(
      (source) =>
        isSet(source, 'serviceAccountToken') &&
        textAt(recordAt(source, 'serviceAccountToken'), 'audience') === audience,
    );
    if (isProjected) return { isNamed: true, problems };
    try {
      const name = await driverOf(pod, volume, finders, signal);
      if (name === '') continue;
      const driver = await finders.findDriver({ namespace: '', name }, signal);
      const isGiven = recordsAt(recordAt(driver, 'spec'), 'tokenRequests').some(
        (request) => textAt(request, 'audience') === audience,
      );
      if (isGiven) return { isNamed: true, problems };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      problems.push(error.message);
    }
  }
  return { isNamed: false, problems };
}

/** '' where no driver mounts the volume. @throws StatusError 404 of a claim or volume. */
async function driverOf(
  pod: Readonly<ApiObject>,
  volume: Holder,
  { findClaim, findVolume }: Finders,
  signal: AbortSignal,
): Promise<string> {
  const claimName = volumeClaimName(pod, volume);
  if (claimName === '') return driverOfSource(volume);
  const namespace = pod.metadata?.namespace ?? '';
  const claim = await findClaim({ namespace, name: claimName }, signal);
  const name = textAt(recordAt(claim, 'spec'), 'volumeName');
  return driverOfSource(recordAt(await findVolume({ namespace: '', name }, signal), 'spec'));
}

/** Drivers that mount what older sources of volumes name. */
const driversOfSources: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
};

function driverOfSource(of: Holder): string {
  const stated = textAt(recordAt(of, 'csi'), 'driver');
  if (stated !== '') return stated;
  return Object.entries(driversOfSources).find(([source]) => isSet(of, source))?.[1] ?? '';
}

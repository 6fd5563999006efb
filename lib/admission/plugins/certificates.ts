// CertificateApproval, CertificateSigning, CertificateSubjectRestriction and
// ClusterTrustBundleAttest: acting for a signer needs a permission of its own, and no certificate
// for clients makes a master.
import { recordAt, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { mastersGroup } from '../../base/user.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { readOneRequest } from '../../kinds/certificates/request-fields.ts';
import { handling } from '../handling.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';
import { mayActFor } from '../signers.ts';

type Parts = Pick<PluginParts, 'authorizer' | 'naming'>;

const group = 'certificates.{v}';
const resource = 'certificatesigningrequests';

const signerOf = (of: Readonly<ApiObject> | undefined): string =>
  textAt(recordAt(of, 'spec'), 'signerName');

/** @throws StatusError 403 */
const mustAct = (
  parts: Parts,
  request: AdmissionRequest,
  of: {
    readonly verb: string;
    readonly signer: string;
    readonly object: Readonly<ApiObject> | undefined;
    /** The end of the refusal's text, before the signer. */
    readonly what: string;
  },
  signal: AbortSignal,
): MaybePromise<void> =>
  whenThere(mayActFor(parts, { user: request.user, ...of }, signal), (may) => {
    if (may) return;
    const text = `user not permitted to ${of.what} ${JSON.stringify(of.signer)}`;
    throw refusal(request, of.object, text);
  });

export const certificateApproval = (parts: Parts): AdmissionPlugin => ({
  name: 'CertificateApproval',
  sideEffects: false,
  handles: handling({
    group: parts.naming.resolve(group),
    resource,
    operations: ['UPDATE'],
    subresources: ['approval'],
  }),
  validate(request, object, signal) {
    const what = 'approve requests with signerName';
    const of = { verb: 'approve', signer: signerOf(request.old), object, what };
    return mustAct(parts, request, of, signal);
  },
});

export const certificateSigning = (parts: Parts): AdmissionPlugin => ({
  name: 'CertificateSigning',
  sideEffects: false,
  handles: handling({
    group: parts.naming.resolve(group),
    resource,
    operations: ['UPDATE'],
    subresources: ['status'],
  }),
  validate(request, object, signal) {
    const { old } = request;
    const isSame = ['certificate', 'conditions'].every((name) =>
      sameJson(valueAt(recordAt(object, 'status'), name), valueAt(recordAt(old, 'status'), name)),
    );
    if (isSame) return;
    const what = 'sign requests with signerName';
    return mustAct(parts, request, { verb: 'sign', signer: signerOf(old), object, what }, signal);
  },
});

export function certificateSubjectRestriction({
  naming,
}: Pick<PluginParts, 'naming'>): AdmissionPlugin {
  const signer = naming.resolve('{kubernetes}.io/{kube}-apiserver-client');
  return {
    name: 'CertificateSubjectRestriction',
    sideEffects: false,
    handles: handling({ group: naming.resolve(group), resource, operations: ['CREATE'] }),
    validate(request, object) {
      if (signerOf(object) !== signer) return;
      const subject = readOneRequest(textAt(recordAt(object, 'spec'), 'request'));
      if (subject === undefined) {
        throw refusal(request, object, 'failed to parse CSR: it must be one block of PEM');
      }
      if (!subject.organizations.includes(mastersGroup)) return;
      const text = `use of ${signer} signer with ${mastersGroup} group is not allowed`;
      throw refusal(request, object, text);
    },
  };
}

export function clusterTrustBundleAttest(
  parts: Parts & Pick<PluginParts, 'gates'>,
): AdmissionPlugin | undefined {
  if (!parts.gates.isEnabled('ClusterTrustBundle')) return undefined;
  return {
    name: 'ClusterTrustBundleAttest',
    sideEffects: false,
    handles: handling({
      group: parts.naming.resolve(group),
      resource: 'clustertrustbundles',
      operations: ['CREATE', 'UPDATE'],
    }),
    validate(request, object, signal) {
      const signer = signerOf(object);
      if (signer === '' || object === undefined || isBookkeeping(object, request.old)) return;
      const of = { verb: 'attest', signer, object, what: 'attest for signerName' };
      return mustAct(parts, request, of, signal);
    },
  };
}

/** Nothing is other than owners, finalizers and what the server notes of a write. */
function isBookkeeping(object: Readonly<ApiObject>, old: Readonly<ApiObject> | undefined): boolean {
  if (old === undefined) return false;
  const rest = (of: Readonly<ApiObject>): JsonObject => ({
    ...of,
    metadata: without(
      of.metadata ?? {},
      'ownerReferences',
      'finalizers',
      'managedFields',
      'resourceVersion',
      'generation',
    ),
  });
  return sameJson(rest(object), rest(old));
}

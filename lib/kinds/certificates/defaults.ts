// Defaults of certificate signing requests in the version that did not ask for a signer: it is
// guessed from what the request wants.
import type { JsonValue } from '../../api/type-info.ts';
import { readCertificateRequest } from './request-fields.ts';
import { textAt } from '../../api/json-access.ts';
import type { DefaultRules } from '../../api/default-rule.ts';
import { isAbsent } from '../../api/presence.ts';

const nodeClientSigner = '{kubernetes}.io/{kube}-apiserver-client-{kube}let';
const nodeServingSigner = '{kubernetes}.io/{kube}let-serving';
const otherSigner = '{kubernetes}.io/legacy-unknown';

export const signingRequestDefaults: DefaultRules = {
  'certificates/v1beta1.CertificateSigningRequestSpec': {
    version: 1,
    complete(spec, { profile }) {
      if (!isAbsent(spec['signerName'])) return;
      spec['signerName'] = profile.resolve(signerOf(textAt(spec, 'request'), spec['usages']));
    },
  },
};

function signerOf(request: string, usages: JsonValue | undefined): string {
  const subject = readCertificateRequest(request);
  if (subject === undefined || subject.hasOthers) return otherSigner;
  const { organizations, commonName, hasHosts } = subject;
  const isNode =
    organizations.length === 1 &&
    organizations[0] === 'system:nodes' &&
    commonName.startsWith('system:node:');
  if (!isNode) return otherSigner;
  if (!hasHosts && isFor('client auth', usages)) return nodeClientSigner;
  return hasHosts && isFor('server auth', usages) ? nodeServingSigner : otherSigner;
}

/** Signatures and the purpose, with or without encryption of keys. */
function isFor(purpose: string, usages: JsonValue | undefined): boolean {
  const wanted = new Set(Array.isArray(usages) ? usages.map(String) : []);
  wanted.delete('key encipherment');
  return wanted.size === 2 && wanted.has('digital signature') && wanted.has(purpose);
}

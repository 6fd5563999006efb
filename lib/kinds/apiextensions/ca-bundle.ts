// The certificates that a conversion webhook's own is checked with: PEM, as a definition holds it.
import { X509Certificate } from 'node:crypto';
import { recordIn, textAt } from '../../api/json-access.ts';
import { certificateBlocks } from '../../base/certificate-bundle.ts';
import type { Holder } from '../validator.ts';

/**
 * Why a bundle cannot be used; undefined: it can, or there is none. What is no block of a
 * certificate is passed over. `encoded`: base64; blank text counts as none.
 */
export function caBundleProblem(encoded: string): string | undefined {
  const pem = Buffer.from(encoded, 'base64').toString('latin1');
  if (pem.trim() === '') return undefined;
  let count = 0;
  for (const text of certificateBlocks(pem)) {
    if (text.includes(':')) continue; // Blocks with headers are something else.
    count += 1;
    if (!isCertificate(text)) {
      return `unable to load root certificates: certificate ${String(count)} cannot be parsed`;
    }
  }
  if (count > 0) return undefined;
  const what = 'data does not contain any valid RSA or ECDSA certificates';
  return `unable to load root certificates: ${what}`;
}

/** Whether a definition has a bundle that cannot be used. */
export function hasInvalidCaBundle(definition: Holder): boolean {
  const client = recordIn(definition, 'spec', 'conversion', 'webhook', 'clientConfig');
  return caBundleProblem(textAt(client, 'caBundle')) !== undefined;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

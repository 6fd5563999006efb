// The CA bundle of a conversion webhook.
import { X509Certificate } from 'node:crypto';
import { recordIn, textAt } from '../../api/json-access.ts';
import type { Holder } from '../validator.ts';

const certificate = /-----BEGIN CERTIFICATE-----\r?\n([\s\S]*?)-----END CERTIFICATE-----/g;

/** Whether it is there and holds something else than PEM certificates; blank text is none. */
export function hasInvalidCaBundle(definition: Holder): boolean {
  const client = recordIn(definition, 'spec', 'conversion', 'webhook', 'clientConfig');
  const text = Buffer.from(textAt(client, 'caBundle'), 'base64').toString('latin1');
  if (text.trim() === '') return false;
  const found = [...text.matchAll(certificate)];
  return found.length === 0 || !found.every(([pem]) => isCertificate(pem));
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

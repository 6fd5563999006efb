// The certificates of a CA file, and whether they prove another's certificate: paths by the rules
// of RFC 5280, with signatures checked by Node. Any certificate of the bundle is an end of a path.
import { X509Certificate } from 'node:crypto';
import { limits } from './limits.ts';
import { certificateFacts } from './certificate-facts.ts';
import type { CertificateFacts } from './certificate-facts.ts';

/** What a certificate is to be good for. */
export type CertificateUse = 'clientAuth' | 'serverAuth';

const usages: Readonly<Record<CertificateUse, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
};
const anyUsage = '2.5.29.37.0';

const { certificatePathLengthMax, certificatePathChecksMax, rsaKeyBitsMin } = limits;
const weakSignature = /md2|md5|sha1/i;

export interface PathVerdict {
  /** Why nothing proves the certificate; undefined: the bundle does. */
  readonly problem: string | undefined;
  /** Until when another question has the same answer, milliseconds since the epoch. */
  readonly untilMs: number;
}

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a text, each whole in PEM; whatever else is there is passed over. */
export const certificateBlocks = (pem: string): string[] => pem.match(pemBlock) ?? [];

export class CertificateBundle {
  /** The certificates alone: a file may hold their key, too. */
  readonly pem: string;
  readonly #anchors: readonly CertificateFacts[];
  readonly #anchorsBySubject: ReadonlyMap<string, readonly CertificateFacts[]>;

  /** @throws Error that says what of `pem` is no certificate, or that there is none. */
  constructor(pem: string) {
    const blocks = certificateBlocks(pem);
    if (blocks.length === 0) {
      throw new Error('must hold certificates in PEM (-----BEGIN CERTIFICATE-----), it has none');
    }
    this.#anchors = blocks.map((block, index) => {
      try {
        return certificateFacts(new X509Certificate(block));
      } catch (cause) {
        throw new Error(`certificate ${String(index + 1)} cannot be read`, { cause });
      }
    });
    this.#anchorsBySubject = Map.groupBy(this.#anchors, ({ certificate }) => certificate.subject);
    this.pem = `${blocks.join('\n')}\n`;
  }

  /** `given`: what the other side showed beside the leaf, in any order. */
  verify(
    leaf: X509Certificate,
    given: readonly X509Certificate[],
    nowMs: number,
    use: CertificateUse = 'clientAuth',
  ): PathVerdict {
    const facts = factsOf([leaf, ...given.slice(0, certificatePathLengthMax)]);
    const [first, ...intermediates] = facts ?? [];
    if (first === undefined) return { problem: 'a certificate cannot be read', untilMs: Infinity };
    const untilMs = nextChangeMs([first, ...intermediates, ...this.#anchors], nowMs);
    const search: Search = { intermediates, nowMs, use, checksLeft: certificatePathChecksMax };
    return { problem: this.#problemOf(first, search), untilMs };
  }

  #problemOf(leaf: CertificateFacts, search: Search): string | undefined {
    const problem = problemOfOne(leaf, search);
    if (problem !== undefined) return `the certificate ${problem}`;
    const isAnchor = this.#issuersOf(leaf.certificate.subject).some(
      ({ fingerprint }) => fingerprint === leaf.fingerprint,
    );
    if (isAnchor || this.#isProven(leaf, [], search)) return undefined;
    return 'no certificate authority of the bundle has issued the certificate';
  }

  /** `path`: the CAs between the leaf and `child`, without itself. */
  #isProven(child: CertificateFacts, path: readonly CertificateFacts[], search: Search): boolean {
    const isIssued = (issuer: CertificateFacts): boolean =>
      problemOfOne(issuer, search) === undefined &&
      path.length <= (issuer.pathLengthMax ?? Infinity) &&
      isIssuedBy(child, issuer, search);
    if (this.#issuersOf(child.certificate.issuer).some(isIssued)) return true;
    const { intermediates } = search;
    return intermediates.some(
      (one) =>
        !path.includes(one) &&
        one !== child &&
        isIssued(one) &&
        this.#isProven(one, [...path, one], search),
    );
  }

  #issuersOf(name: string): readonly CertificateFacts[] {
    return this.#anchorsBySubject.get(name) ?? [];
  }
}

interface Search {
  readonly intermediates: readonly CertificateFacts[];
  readonly nowMs: number;
  readonly use: CertificateUse;
  /** Signatures that may still be checked: who connects chooses how many there are. */
  checksLeft: number;
}

/** Of any certificate on a path. */
function problemOfOne(facts: CertificateFacts, { nowMs, use }: Search): string | undefined {
  if (nowMs < facts.fromMs) return 'is not valid yet';
  if (nowMs > facts.toMs) return 'has expired';
  const { unknownConstraint, usages: stated } = facts;
  if (unknownConstraint !== undefined) return `has a critical extension, ${unknownConstraint}`;
  if (stated.length > 0 && !stated.includes(usages[use]) && !stated.includes(anyUsage)) {
    return `is not meant for ${use === 'clientAuth' ? 'client' : 'server'} authentication`;
  }
  return undefined;
}

function isIssuedBy(
  { certificate: child }: CertificateFacts,
  { certificate: issuer, isCa }: CertificateFacts,
  search: Search,
): boolean {
  if (!isCa || !child.checkIssued(issuer) || search.checksLeft <= 0) return false;
  if (weakSignature.test(child.signatureAlgorithm ?? '')) return false;
  const { publicKey } = issuer;
  const { modulusLength } = publicKey.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && modulusLength < rsaKeyBitsMin) return false;
  search.checksLeft--;
  try {
    return child.verify(publicKey);
  } catch {
    return false; // its signature and the key are of different kinds
  }
}

/** undefined: one of them cannot be read. */
function factsOf(certificates: readonly X509Certificate[]): CertificateFacts[] | undefined {
  try {
    return certificates.map(certificateFacts);
  } catch {
    return undefined;
  }
}

/** When the first of them begins or ends to be valid, after now. */
function nextChangeMs(all: readonly CertificateFacts[], nowMs: number): number {
  let next = Infinity;
  for (const { fromMs, toMs } of all) {
    if (fromMs > nowMs) next = Math.min(next, fromMs);
    if (toMs >= nowMs) next = Math.min(next, toMs + 1);
  }
  return next;
}

// What the rules of certificate paths ask of one X.509 certificate (RFC 5280), read once.
import { fromBER, Boolean as Asn1Boolean, Integer, ObjectIdentifier, OctetString } from 'asn1js';
import { Constructed } from 'asn1js';
import type { Sequence } from 'asn1js';
import type { X509Certificate } from 'node:crypto';

export interface CertificateFacts {
  readonly certificate: X509Certificate;
  /** SHA-256 of the certificate: the same bytes. */
  readonly fingerprint: string;
  /** First and last millisecond since the epoch that it is valid. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Its basic constraints let it sign certificates. */
  readonly isCa: boolean;
  /** How many further CAs may stand between it and the leaf; undefined: any number. */
  readonly pathLengthMax: number | undefined;
  /** Object identifiers of its extended key usages; none: it may be used for anything. */
  readonly usages: readonly string[];
  /** A critical extension, or name constraints, that no rule here knows; undefined: none. */
  readonly unknownConstraint: string | undefined;
}

const basicConstraints = '2.5.29.19';
const nameConstraints = '2.5.29.30';

/**
 * Extensions that are understood, or tell nothing about who may be trusted: key usage, basic
 * constraints, extended key usage, alternative names, key identifiers, policies, and where
 * revocations are listed. Name constraints are none of them.
 */
const knownExtensions: ReadonlySet<string> = new Set([
  '2.5.29.14',
  '2.5.29.15',
  '2.5.29.17',
  '2.5.29.31',
  '2.5.29.32',
  '2.5.29.35',
  '2.5.29.37',
  basicConstraints,
]);

/** Several bundles may ask about the certificate of one connection. */
const known = new WeakMap<X509Certificate, CertificateFacts>();

/** @throws Error for bytes that are no certificate. */
export function certificateFacts(certificate: X509Certificate): CertificateFacts {
  let facts = known.get(certificate);
  if (facts === undefined) known.set(certificate, (facts = readFacts(certificate)));
  return facts;
}

function readFacts(certificate: X509Certificate): CertificateFacts {
  const extensions = extensionsOf(certificate.raw);
  const constraints = extensions.find(({ id }) => id === basicConstraints);
  const unknown = extensions.find(
    ({ id, isCritical }) => id === nameConstraints || (isCritical && !knownExtensions.has(id)),
  );
  return {
    certificate,
    fingerprint: certificate.fingerprint256,
    fromMs: certificate.validFromDate.getTime(),
    toMs: certificate.validToDate.getTime(),
    isCa: certificate.ca,
    pathLengthMax: constraints === undefined ? undefined : pathLength(constraints.value),
    // Its type does not say that it is undefined where the extension is absent.
    usages: certificate.keyUsage ?? [],
    unknownConstraint: unknown?.id,
  };
}

interface Extension {
  readonly id: string;
  readonly isCritical: boolean;
  readonly value: Uint8Array;
}

/** Certificate → to be signed → [3] → extensions. */
function extensionsOf(der: Uint8Array): Extension[] {
  const signed = partsOf(fromBER(der).result)[0];
  const tagged = partsOf(signed).find(
    ({ idBlock }) => idBlock.tagClass === 3 && idBlock.tagNumber === 3,
  );
  return partsOf(partsOf(tagged)[0]).map((extension) => {
    const parts = partsOf(extension);
    const [id, value] = [parts[0], parts.at(-1)];
    if (!(id instanceof ObjectIdentifier) || !(value instanceof OctetString)) {
      throw new Error('the certificate has an extension that is none');
    }
    const flag = parts[1];
    const isCritical = flag instanceof Asn1Boolean && flag.getValue();
    return { id: id.getValue(), isCritical, value: new Uint8Array(value.getValue()) };
  });
}

function pathLength(der: Uint8Array): number | undefined {
  const length = partsOf(fromBER(der).result).find((part) => part instanceof Integer);
  return length?.valueBlock.valueDec;
}

const partsOf = (block: unknown): Sequence['valueBlock']['value'] =>
  block instanceof Constructed ? block.valueBlock.value : [];

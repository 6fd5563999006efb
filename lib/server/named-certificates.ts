// Serving certificates by the name that a client asks for (SNI): an exact name comes before one
// with a wildcard, and of those the ones that were stated before those that a certificate has.
import { X509Certificate } from 'node:crypto';

export interface NamedPair {
  readonly cert: string;
  readonly key: string;
  /** `api.example.com`, `*.example.com`; empty: the names in the certificate. */
  readonly names: readonly string[];
}

/** The first pair for each name, looked up by what a client asks for. */
export class NamedCertificates<T> {
  readonly #stated = new Map<string, T>();
  readonly #own = new Map<string, T>();

  constructor(pairs: readonly NamedPair[], make: (pair: NamedPair) => T) {
    for (const pair of pairs) {
      const made = make(pair);
      const isStated = pair.names.length > 0;
      const map = isStated ? this.#stated : this.#own;
      for (const name of isStated ? pair.names : namesIn(pair.cert)) {
        const key = name.toLowerCase();
        if (!map.has(key)) map.set(key, made);
      }
    }
  }

  /** undefined: none is for this name. */
  find(asked: string): T | undefined {
    const name = asked.toLowerCase().replace(/\.$/, '');
    const dot = name.indexOf('.');
    const wildcard = dot > 0 ? `*${name.slice(dot)}` : undefined;
    const exact = this.#stated.get(name) ?? this.#own.get(name);
    if (exact !== undefined || wildcard === undefined) return exact;
    return this.#stated.get(wildcard) ?? this.#own.get(wildcard);
  }
}

/** DNS names and the common name, as kube-apiserver takes them. */
function namesIn(cert: string): string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(cert);
  const alternatives = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = '']) => name);
  const common = /^CN=(.+)$/m.exec(subject)?.[1];
  return common === undefined ? alternatives : [common, ...alternatives];
}

// The naming profile: the only file that knows either spelling of names with the vendor's token.
// `resolve` replaces {v}, {kube} and {kubernetes}; it runs once at load, never per request.
import { limits } from '../base/limits.ts';

export type NamingProfileName = 'svc' | 'kubernetes';

/** Every identifier that code (not data) needs, in one profile's spelling. */
interface NamedEntries {
  readonly protobufMediaType: string;
  readonly metaGroup: string;
  readonly discoveryGroup: string;
  /** Group of `kind: Audit…` and prefix of annotations in audit events. */
  readonly auditGroup: string;
  readonly initialEventsEndAnnotation: string;
  readonly lastAppliedAnnotation: string;
  readonly deprecatedAuditAnnotation: string;
  readonly removedReleaseAuditAnnotation: string;
  readonly decisionAuditAnnotation: string;
  /** Keys of what made a request slow begin with it. */
  readonly latencyAuditAnnotation: string;
  readonly reasonAuditAnnotation: string;
  /** Marks audit events whose objects were too large. */
  readonly truncatedAuditAnnotation: string;
  readonly namespaceNameLabel: string;
  /** The finalizer in `spec.finalizers` of every namespace. */
  readonly namespaceFinalizer: string;
  readonly bootstrappingLabel: string;
  /** Start of the extension keywords in definitions' schemas. */
  readonly schemaExtensionPrefix: string;
  readonly systemNamespace: string;
  readonly publicNamespace: string;
  readonly nodeLeaseNamespace: string;
  readonly rootCaConfigMap: string;
  /** Prefix of metadata that the product keeps for itself. */
  readonly metadataDomain: string;
  readonly execInfoVariable: string;
  /** Start of WebSocket subprotocols that carry a bearer token. */
  readonly bearerSubprotocol: string;
}

export interface NamingProfile extends NamedEntries {
  readonly name: NamingProfileName;
  /**
   * `rbac.authorization.{v}` → the profile's spelling. Text without placeholders is returned as
   * it is.
   */
  resolve(text: string): string;
}

const tokens: Readonly<Record<NamingProfileName, Readonly<Record<string, string>>>> = {
  svc: { '{v}': 'svc.io', '{kube}': 'svc', '{kubernetes}': 'svc' },
  kubernetes: { '{v}': 'k8s.io', '{kube}': 'kube', '{kubernetes}': 'kubernetes' },
};

const entries: NamedEntries = {
  protobufMediaType: 'application/vnd.{kubernetes}.protobuf',
  metaGroup: 'meta.{v}',
  discoveryGroup: 'apidiscovery.{v}',
  auditGroup: 'audit.{v}',
  initialEventsEndAnnotation: '{v}/initial-events-end',
  lastAppliedAnnotation: 'kubectl.{kubernetes}.io/last-applied-configuration',
  deprecatedAuditAnnotation: '{v}/deprecated',
  removedReleaseAuditAnnotation: '{v}/removed-release',
  decisionAuditAnnotation: 'authorization.{v}/decision',
  latencyAuditAnnotation: 'apiserver.latency.{v}',
  reasonAuditAnnotation: 'authorization.{v}/reason',
  truncatedAuditAnnotation: 'audit.{v}/truncated',
  namespaceNameLabel: '{kubernetes}.io/metadata.name',
  namespaceFinalizer: 'kubernetes', // a word of its own: both spellings have it
  bootstrappingLabel: '{kubernetes}.io/bootstrapping',
  schemaExtensionPrefix: 'x-{kubernetes}-',
  systemNamespace: '{kube}-system',
  publicNamespace: '{kube}-public',
  nodeLeaseNamespace: '{kube}-node-lease',
  rootCaConfigMap: '{kube}-root-ca.crt',
  metadataDomain: '{kubernetes}.io',
  execInfoVariable: '{KUBERNETES}_EXEC_INFO',
  bearerSubprotocol: 'base64url.bearer.authorization.{v}',
};

/** What rules need of a profile's spelling at every write, made once for each profile. */
export function ofProfile<T>(make: (profile: NamingProfile) => T): (profile: NamingProfile) => T {
  const made = new WeakMap<NamingProfile, { readonly value: T }>();
  return (profile) => {
    let known = made.get(profile);
    if (known === undefined) made.set(profile, (known = { value: make(profile) }));
    return known.value;
  };
}

const { resolvedTextsMax } = limits;

export function namingProfile(name: NamingProfileName): NamingProfile {
  const spelling = tokens[name];
  // Rules name their annotations at every write: each text is put together once.
  const resolved = new Map<string, string>();
  const resolve = (text: string): string => {
    const known = resolved.get(text);
    if (known !== undefined) return known;
    const made = text.replaceAll(/\{(?:v|kube|kubernetes)\}/g, (token) => spelling[token] ?? token);
    if (resolved.size < resolvedTextsMax) resolved.set(text, made);
    return made;
  };
  const upper = (text: string): string =>
    text.replaceAll('{KUBERNETES}', (spelling['{kubernetes}'] ?? '').toUpperCase());
  const named = Object.fromEntries(
    Object.entries(entries).map(([key, text]: [string, string]) => [key, upper(resolve(text))]),
  ) as unknown as NamedEntries; // The keys are those of `entries`, by construction.
  return { ...named, name, resolve };
}

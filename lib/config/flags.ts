// THE table of flags: names, kinds, defaults, help. --help and the parsed record both come from it.
// Names and defaults are kube-apiserver's where it has the flag; absent-flags.ts has its others.
import { limits } from '../base/limits.ts';
import {
  bool,
  certificateFiles,
  choice,
  durationMs,
  endpoints,
  fraction,
  integer,
  ipAddress,
  list,
  networks,
  pairs,
  switches,
  path,
  ports,
  positiveDurationMs,
  reconcilerType,
  text,
  workers,
} from './flag-kinds.ts';
import { auditFlags } from './audit-flags.ts';
import { authenticationFlags } from './authentication-flags.ts';
import { authorizationFlags } from './authorization-flags.ts';
import { optional, required } from './flag.ts';
import type { FlagKind } from './flag-kinds.ts';
import { serviceAccountFlags } from './service-account-flags.ts';

const anyInteger = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

const generic = 'Generic',
  storage = 'Storage',
  serving = 'Serving';
const admission = 'Admission',
  api = 'API',
  controllers = 'Controllers',
  lifecycle = 'Lifecycle',
  observe = 'Observability';

export const flagTable = {
  version: required(
    generic,
    { ...choice('true', 'false', 'raw'), bare: 'true' },
    'false',
    'Print the version, or with raw all that is known of the build, and end.',
  ),
  naming: required(
    generic,
    choice('svc', 'kubernetes'),
    'svc',
    'Spelling of vendor names in groups, labels and media types; kubernetes lets stock ' +
      'kubectl and client-go work. Fixed by the first start on a storage prefix.',
  ),
  'data-dir': required(
    generic,
    path,
    '.svc',
    'Folder for what this replica makes by itself: local etcd data, certificates, ' +
      'admin.kubeconfig.',
  ),

  'etcd-servers': optional(
    storage,
    endpoints,
    'URLs of the etcd members, comma-separated. Without it an etcd is run as a child process, ' +
      'with its data below --data-dir.',
  ),
  'etcd-prefix': required(storage, text, '/registry', 'Prefix of all keys in etcd.'),
  'etcd-cafile': optional(storage, path, 'CA that etcd serving certificates are checked against.'),
  'etcd-certfile': optional(storage, path, 'Client certificate for etcd.'),
  'etcd-keyfile': optional(storage, path, 'Key of the client certificate for etcd.'),
  'etcd-transport': required(
    storage,
    choice('http2', 'grpc-js'),
    'http2',
    'How etcd is called: by gRPC on HTTP/2 of our own, or by the grpc-js library, at greater cost.',
  ),
  'etcd-compaction-interval': required(
    storage,
    durationMs,
    '5m0s',
    'Interval of compaction requests; 0 turns compaction by this server off.',
  ),
  'storage-media-type': required(
    storage,
    text,
    'application/json',
    'Encoding of objects in etcd: application/json, the Protobuf media type of --naming, or ' +
      'application/cbor with its feature gate. Every encoding is read.',
  ),
  'event-ttl': required(storage, durationMs, '1h0m0s', 'How long events are kept.'),
  'cache-memory-mb': optional(
    storage,
    integer(16, 1_048_576),
    'Bound on the memory of the event log, memoised encodings and decoded objects, in MiB. ' +
      'Default: half of the heap limit. Workers (--workers) share it.',
  ),

  'bind-address': required(
    serving,
    ipAddress,
    '127.0.0.1',
    'Address of this host to listen on; 0.0.0.0 or :: for all of them.',
  ),
  'secure-port': required(
    serving,
    integer(0, 65_535),
    '6443',
    'Port for HTTPS; 0 takes any free one.',
  ),
  workers: required(
    serving,
    workers,
    '1',
    'Processes that serve, each a whole replica with memory of its own, behind one port: a ' +
      'number, or auto for one a core. SIGHUP replaces them one after the other.',
  ),
  'advertise-address': optional(
    serving,
    ipAddress,
    'Address under which clients reach this replica; default: the bind address, or one of this ' +
      'host where that is 0.0.0.0 or ::.',
  ),
  'tls-cert-file': optional(
    serving,
    path,
    'Serving certificate (PEM, with its chain). Without it one is made below --data-dir.',
  ),
  'tls-private-key-file': optional(serving, path, 'Key of the serving certificate (PEM).'),
  'tls-sni-cert-key': optional(
    serving,
    certificateFiles,
    'Certificate and key for clients that ask for other names (SNI): those that follow, ' +
      '*.example.com too, else those in the certificate.',
  ),
  'request-timeout': required(
    serving,
    positiveDurationMs,
    '1m0s',
    'Longest time of a request that is not a watch.',
  ),
  'min-request-timeout': required(
    serving,
    integer(1, 86_400),
    String(limits.minRequestTimeoutSeconds),
    'Shortest time in seconds of a watch that names none; the actual one is random, up to ' +
      'twice as long.',
  ),
  'goaway-chance': required(
    serving,
    fraction(0, 0.02),
    '0',
    'Share of HTTP/2 requests after which the client is asked to open a new connection, so ' +
      'that load spreads over replicas.',
  ),

  ...authenticationFlags,
  ...serviceAccountFlags,
  ...authorizationFlags,
  ...auditFlags,

  'enable-admission-plugins': required(
    admission,
    list,
    '',
    'Admission plugins that are on besides those that are by default, in any order.',
  ),
  'disable-admission-plugins': required(
    admission,
    list,
    '',
    'Admission plugins that are off although they are on by default.',
  ),
  'admission-control': {
    ...optional(admission, list, 'Exactly the admission plugins that are on.'),
    deprecated: 'use --enable-admission-plugins and --disable-admission-plugins',
  },
  'admission-control-config-file': optional(
    admission,
    path,
    'Configuration of admission plugins: an AdmissionConfiguration in YAML or JSON.',
  ),
  'admission-webhook-circuit-breaker': required(
    admission,
    bool,
    'true',
    'An admission webhook that times out or cannot be reached five times in ten seconds is only ' +
      'tried once a second until it answers; false: it is called, and waited for, every time.',
  ),
  'enable-aggregator-routing': required(
    admission,
    bool,
    'false',
    'Webhooks that are services are called at a ready endpoint, not at the address of the service.',
  ),
  'default-not-ready-toleration-seconds': required(
    admission,
    anyInteger,
    '300',
    'How long a pod that does not say so stays on a node that is not ready, in seconds.',
  ),
  'default-unreachable-toleration-seconds': required(
    admission,
    anyInteger,
    '300',
    'How long a pod that does not say so stays on a node that is unreachable, in seconds.',
  ),

  'feature-gates': required(
    api,
    pairs,
    '',
    'Feature gates to switch, for example WatchList=false.',
  ),
  'runtime-config': required(
    api,
    switches,
    '',
    'API versions to switch: api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or ' +
      'GROUP/VERSION/RESOURCE, each =true or =false.',
  ),
  'service-cluster-ip-range': required(
    api,
    networks,
    '10.96.0.0/16',
    "Networks of services' cluster IPs, one of each family; the serving certificate is good for " +
      'the first address of each. What ServiceCIDR objects name counts beside them.',
  ),
  'service-node-port-range': required(
    api,
    ports,
    '30000-32767',
    'Ports that services of type NodePort and LoadBalancer take on every node: 30000-32767, ' +
      '30000+2767 or one port.',
  ),

  controllers: required(
    controllers,
    list,
    '*',
    'Controllers to run on the replica that leads: * for all that are on by default, NAME for ' +
      'one, -NAME for all but one; tokencleaner and bootstrapsigner are on by name alone. Empty: ' +
      'none, as where a controller manager of its own does their work.',
  ),
  'resource-quota-sync-period': required(
    controllers,
    durationMs,
    '5m0s',
    'How often all quotas are counted anew, besides when something changes; 0: never.',
  ),
  'kubernetes-service-node-port': required(
    api,
    integer(0, 65_535),
    '0',
    'Port of every node for the Service of the API servers, which is of type NodePort then; 0: ' +
      'it is of type ClusterIP.',
  ),
  'endpoint-reconciler-type': required(
    api,
    reconcilerType,
    'lease',
    'Who publishes the addresses of the API servers as endpoints of their Service: lease, every ' +
      'replica that lives; none, somebody else.',
  ),

  'livez-grace-period': required(
    lifecycle,
    durationMs,
    '0s',
    'How long /livez treats start-up as healthy.',
  ),
  'shutdown-delay-duration': required(
    lifecycle,
    durationMs,
    '0s',
    'How long new requests are still served after /readyz begins to fail on shutdown.',
  ),

  'show-hidden-metrics-for-version': optional(
    observe,
    text,
    'Show metrics that are hidden since this previous version, for example 1.35.',
  ),
  'disabled-metrics': required(
    observe,
    list,
    '',
    'Metrics that are not served, by name: for those whose labels are too many.',
  ),
  profiling: required(
    observe,
    bool,
    'true',
    'Serve profiles below /debug/pprof/ to those who may read that path.',
  ),
  'tracing-config-file': optional(
    observe,
    path,
    'TracingConfiguration in YAML or JSON: which requests are traced, and the collector that is ' +
      'told of them. Without it nothing is traced.',
  ),
  'log-level': required(
    observe,
    choice('debug', 'info', 'warn', 'error'),
    'info',
    'Lowest level of log lines.',
  ),
} as const;

type Table = typeof flagTable;
type ValueOf<F> = F extends { readonly kind: FlagKind<infer T>; readonly fallback: infer D }
  ? D extends string
    ? T
    : T | undefined
  : never;
/** Parsed flags, by name. */
export type Flags = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

/**
 * What ends a start, or a server, for its user to mend: the message names flag, address or file
 * and goes to the user as it is.
 */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}

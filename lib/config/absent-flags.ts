// THE table of kube-apiserver's flags that this server does not have: what becomes of a command
// line that gives one. A flag that guards something is refused where ignoring it would open a door.
import { bool, durationMs, integer, list, text } from './flag-kinds.ts';
import type { FlagKind } from './flag-kinds.ts';

/**
 * - `fits`: it is so here anyway; nothing is said.
 * - `warned`: the server starts and says what is in force instead.
 * - `refused`: the server does not start.
 */
export type Answer = 'fits' | 'warned' | 'refused';

export interface AbsentFlag {
  readonly kind: FlagKind<unknown>;
  /** By value, or by entry of a list; `*` is any other. */
  readonly answers: Readonly<Record<string, Answer>> & { readonly '*': Answer };
  /** What is in force here: the end of the warning or refusal. */
  readonly instead: string;
}

type Maker = (
  kind: FlagKind<unknown>,
  instead: string,
  ...fitting: readonly string[]
) => AbsentFlag;

const answering =
  (other: Answer): Maker =>
  (kind, instead, ...fitting) => ({
    kind,
    answers: {
      ...Object.fromEntries(fitting.map((value) => [value, 'fits' as const])),
      '*': other,
    },
    instead,
  });

const warned = answering('warned');
const refused = answering('refused');
const anyInteger = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

const ownSigning = '--service-account-signing-key-file signs service-account tokens';
const noNodes = 'no connections to nodes are made';
const noProxying = 'no requests are passed on to other API servers';
const noReload = 'a restart is needed to read files again';
const ownLog = 'log lines are JSON on standard error; --log-level chooses them';
const noLimit = 'the number of requests at a time is not limited';
const noElection = 'candidates of leases are not chosen here';
const ownMemory = '--cache-memory-mb bounds what is kept in memory';
const oneRelease = 'this server speaks 1.36 alone';
const ownPolls = 'etcd is watched all the time: --livez-grace-period and /readyz tell how it is';
const noPeers = 'replicas reach each other through etcd alone';
const someSuites = 'the cipher suites of Node are offered, TLS 1.2 and newer';

export const absentFlags: Readonly<Record<string, AbsentFlag>> = {
  // Who may do what.
  'allow-privileged': refused(bool, 'privileged containers are always allowed', 'true'),

  // Who asks.
  'service-account-signing-endpoint': refused(text, ownSigning),

  // What lies in etcd.
  'encryption-provider-config': refused(
    text,
    'objects, secrets too, would lie in etcd as they are',
  ),
  'encryption-provider-config-automatic-reload': warned(bool, noReload, 'false'),
  'etcd-count-metric-poll-period': warned(durationMs, 'objects are counted in memory'),
  'etcd-db-metric-poll-interval': warned(durationMs, "the size of etcd's file is not measured"),
  'etcd-healthcheck-timeout': warned(durationMs, ownPolls),
  'etcd-readycheck-timeout': warned(durationMs, ownPolls),
  'etcd-servers-overrides': refused(list, 'all objects would lie in --etcd-servers'),
  'lease-reuse-duration-seconds': warned(anyInteger, 'leases of events are shared as they come'),
  'storage-backend': refused(text, 'etcd, with version 3 of its API, is the only one', 'etcd3'),
  'storage-initialization-timeout': warned(durationMs, 'a start waits until the caches are filled'),
  'default-watch-cache-size': warned(anyInteger, ownMemory),
  'watch-cache': warned(bool, 'reads and watches are served from memory', 'true'),
  'watch-cache-sizes': warned(list, ownMemory),

  // Connections.
  'cert-dir': warned(text, 'certificates that a start makes lie in --data-dir'),
  'cors-allowed-origins': warned(list, 'browsers of other origins are not let in'),
  'disable-http2-serving': refused(bool, 'HTTP/2 is served', 'false'),
  'external-hostname': warned(text, '--advertise-address is where clients reach this replica'),
  'http2-max-streams-per-connection': warned(anyInteger, 'the number is fixed'),
  'max-connection-bytes-per-sec': warned(anyInteger, 'connections are not slowed down'),
  'permit-address-sharing': warned(bool, 'the address is not shared', 'false'),
  'permit-port-sharing': warned(bool, 'the port is not shared', 'false'),
  'strict-transport-security-directives': warned(list, 'the header is not sent'),
  'tls-cipher-suites': refused(list, someSuites),
  'tls-curve-preferences': refused(list, someSuites),
  'tls-min-version': {
    kind: text,
    answers: {
      VersionTLS12: 'fits',
      VersionTLS10: 'warned',
      VersionTLS11: 'warned',
      '*': 'refused',
    },
    instead: 'TLS 1.2 is the oldest version that is served',
  },

  // Load.
  'delete-collection-workers': warned(anyInteger, 'the number is fixed'),
  'enable-priority-and-fairness': warned(bool, noLimit, 'false'),
  'max-mutating-requests-inflight': warned(anyInteger, noLimit, '0'),
  'max-requests-inflight': warned(anyInteger, noLimit, '0'),
  'shutdown-send-retry-after': warned(bool, 'requests are served until the port closes', 'false'),
  'shutdown-watch-termination-grace-period': warned(
    durationMs,
    'watches end with a bookmark as soon as the shutdown delay is over',
    '0',
  ),

  // Nodes and other servers.
  'aggregator-reject-forwarding-redirect': warned(bool, noProxying),
  'egress-selector-config-file': warned(text, noNodes),
  'kubelet-certificate-authority': warned(text, noNodes),
  'kubelet-client-certificate': warned(text, noNodes),
  'kubelet-client-key': warned(text, noNodes),
  'kubelet-preferred-address-types': warned(list, noNodes),
  'kubelet-timeout': warned(durationMs, noNodes),
  'peer-advertise-ip': warned(text, noPeers),
  'peer-advertise-port': warned(text, noPeers),
  'peer-ca-file': warned(text, noPeers),
  'proxy-client-cert-file': warned(text, noProxying),
  'proxy-client-key-file': warned(text, noProxying),

  // Objects.
  'apiserver-count': warned(anyInteger, 'replicas need not know how many they are'),
  'coordinated-leadership-lease-duration': warned(durationMs, noElection),
  'coordinated-leadership-renew-deadline': warned(durationMs, noElection),
  'coordinated-leadership-retry-period': warned(durationMs, noElection),
  'emulated-version': refused(list, oneRelease, '1.36', 'kube=1.36'),
  'emulation-forward-compatible': warned(bool, oneRelease, 'false'),
  'enable-garbage-collector': warned(
    bool,
    'the propagation policy of a deletion always counts',
    'true',
  ),
  'min-compatibility-version': warned(list, oneRelease),
  'runtime-config-emulation-forward-compatible': warned(bool, oneRelease, 'false'),

  // What is seen from outside.
  'allow-metric-labels': warned(text, 'metrics have all their labels'),
  'allow-metric-labels-manifest': warned(text, 'metrics have all their labels'),
  'contention-profiling': warned(bool, 'profiles are of the CPU alone', 'false'),
  'debug-socket-path': warned(text, 'profiles are served with everything else'),
  'enable-logs-handler': warned(bool, 'log files are not served', 'false'),
  'log-flush-frequency': warned(durationMs, ownLog),
  'log-json-info-buffer-size': warned(text, ownLog),
  'log-json-split-stream': warned(bool, ownLog, 'false'),
  'log-text-info-buffer-size': warned(text, ownLog),
  'log-text-split-stream': warned(bool, ownLog, 'false'),
  'logging-format': warned(text, ownLog, 'json'),
  v: warned(anyInteger, ownLog),
  vmodule: warned(text, ownLog),
};

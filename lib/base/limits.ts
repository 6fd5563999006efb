// Every limit and default of the server, units in the names. A row says why; relations are asserted
// at load.
import { invariant } from './invariant.ts';

export const limits = {
  /**
   * Largest request body (Kubernetes: 3 MiB); etcd's own request limit is lower and answers 413.
   */
  requestBodyBytesMax: 3 * 1024 * 1024,
  /** Nesting of a JSON or YAML body; deeper input is a 400 (CVE-2019-11253 class). */
  bodyDepthMax: 100,
  /**
   * Length of a YAML body: its parser takes it in one turn, about 0.2 s for the worst text of this
   * length.
   */
  yamlTextLengthMax: 1024 * 1024,
  /**
   * Values of a Protobuf or CBOR body, which can be a byte or two each in the body and hundreds in
   * memory.
   */
  bodyValuesMax: 500_000,
  /**
   * Nesting of stored messages: up to two make one level of JSON, and a version may nest deeper
   * than the one that was sent.
   */
  storedDepthMax: 400,
  /** Nodes that YAML aliases may expand to, on top of the nodes written out. */
  yamlAliasNodesMax: 10_000,
  /**
   * Unknown and duplicate fields reported for one body, and the length of each path: reports stay
   * small.
   */
  fieldProblemsMax: 100,
  fieldPathLengthMax: 512,
  /** Operations in one JSON patch (CVE-2019-1002100). */
  jsonPatchOperationsMax: 10_000,
  /** Bytes that copy operations of one JSON patch may add. */
  jsonPatchCopyBytesMax: 3 * 1024 * 1024,
  /**
   * List elements that insertions and removals of one JSON patch may shift: tens of milliseconds of
   * memory moves.
   */
  jsonPatchShiftsMax: 100_000_000,
  /** Characters of a name, which is part of the object's key in etcd. */
  nameLengthMax: 1_024,
  /** Total of keys and values of `metadata.annotations`. */
  annotationBytesMax: 256 * 1024,
  /**
   * etcd's default request limit (`--max-request-bytes`); larger objects are refused before the
   * write.
   */
  etcdRequestBytesMax: 1.5 * 1024 * 1024,
  /** etcd's default limit of conditions, and of changes, in one transaction (`--max-txn-ops`). */
  etcdTransactionOpsMax: 128,
  /** Bytes in one page of a range read from etcd. */
  etcdPageBytesTarget: 4 * 1024 * 1024,
  /**
   * How long a read waits for a revision that the replica has not seen before 504 (Kubernetes: 3
   * s).
   */
  futureRevisionWaitMs: 3_000,
  /** Snapshots of a resource for exact reads and continue tokens (specification 1, Limits). */
  snapshotRetentionMs: 75_000,
  /** Objects that cannot be read and are named by the failure of one list. */
  unreadableNamedMax: 100,
  /** Ordinary bookmarks of a watch that asked for them. */
  bookmarkIntervalMs: 60_000,
  /**
   * Answers at least this long are compressed when the client accepts gzip (Kubernetes: 128 KiB).
   */
  gzipThresholdBytes: 128 * 1024,
  /**
   * Races for one object that a write may lose before it is 429; in a turn at the object it loses
   * only to other replicas.
   */
  lostRacesMax: 100,
  /** Writers of one object that wait for their turn, and how long one waits for those before it. */
  writersInLineMax: 1_000,
  writeTurnWaitMs: 5_000,
  /** Tries of `generateName` before AlreadyExists is given back. */
  generateNameRetryCountMax: 8,
  /** Header block of one request, both protocols. */
  requestHeaderBytesMax: 64 * 1024,
  requestHeadersCountMax: 200,
  /** A client that sends its headers or body slower than this is cut (slow loris). */
  requestHeadersTimeoutMs: 32_000,
  requestBodyTimeoutMs: 90_000,
  /**
   * Idle keep-alive connections; longer than common load balancers' own limit, so that they close
   * first.
   */
  idleConnectionMs: 180_000,
  /** A connection that has not finished its TLS handshake by then is cut. */
  tlsHandshakeTimeoutMs: 10_000,
  /** Silence after which the kernel asks whether a peer is still there. */
  tcpKeepAliveMs: 30_000,
  /** Past its deadline, how long a client may take for the rest of an answer (slow readers). */
  answerGraceMs: 15_000,
  /** Warning headers of one answer: characters in all, and of each where that is exceeded. */
  warningsLengthMax: 4_096,
  warningLengthWhenManyMax: 256,
  /** Streams that one HTTP/2 connection may have open. */
  http2StreamsPerConnectionMax: 250,
  /** Rapid reset (CVE-2023-44487): a burst, then this rate; beyond it the session ends. */
  http2ResetBurstMax: 500,
  http2ResetsPerSecondMax: 33,
  /** Node's bound on what one HTTP/2 session may hold. */
  http2SessionMegabytesMax: 64,
  /**
   * Longest grace period of a deletion: what clients in Go hold as a duration, 2^63 nanoseconds
   * (292 years).
   */
  deletionGraceSecondsMax: 9_223_372_036,
  /** Objects that one deletecollection deletes at a time. */
  deleteCollectionWorkers: 8,
  /** Default and largest time of one request that is not long-running (`--request-timeout`). */
  requestTimeoutMs: 60_000,
  /**
   * How long a namespace whose deletion was admitted is looked up in the store, and how many are
   * remembered.
   */
  deletedNamespaceLookUpMs: 30_000,
  deletedNamespacesMax: 1_000,
  /** Wait before a follower of the cache that lost its watch starts again. */
  followRetryMs: 250,
  /** Keys that one controller works on at a time. */
  controllerWorkers: 4,
  /**
   * Wait before a failed or unfinished key is worked on again: doubled from the first to the
   * longest.
   */
  controllerRetryFirstMs: 250,
  controllerRetryLongestMs: 30_000,
  /**
   * A leader that has not renewed its Lease for so long is replaced; one that cannot renew gives up
   * earlier.
   */
  leaderLeaseSeconds: 15,
  leaderRenewDeadlineMs: 10_000,
  leaderRenewIntervalMs: 4_000,
  /** Longest time that giving the leadership back may take at shutdown. */
  leaderReleaseTimeoutMs: 2_000,
  /**
   * Objects of one resource whose finalizers are counted for the conditions of an ending namespace.
   */
  heldObjectsReadMax: 1_000,
  /** A start gives up when etcd has not answered for so long, and tells why a little later. */
  etcdStartTimeoutMs: 9_000,
  /** Wait for the answer of one etcd member when its health is asked for. */
  memberProbeTimeoutMs: 2_000,
  /**
   * Shortest default time of a watch; the actual one is random up to twice as long
   * (`--min-request-timeout`).
   */
  minRequestTimeoutSeconds: 1_800,
} as const;

invariant(
  limits.requestBodyBytesMax >= limits.etcdRequestBytesMax,
  'a body that etcd takes must be readable',
);
invariant(
  limits.leaderRenewIntervalMs < limits.leaderRenewDeadlineMs &&
    limits.leaderRenewDeadlineMs < limits.leaderLeaseSeconds * 1000,
  'a leader renews, else gives up, before another one takes over',
);

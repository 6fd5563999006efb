// THE table of limits: what bounds input, memory, time, retries and queues, units in the names. A
// row says what it costs and why; docs/limits.md comes from it. Facts of a format or an algorithm
// stay where they are used. Relations are asserted at load.
import { invariant } from './invariant.ts';

export const limits = {
  // Bodies and objects
  /** Largest request body (Kubernetes: 3 MiB); etcd's own limit is lower and answers 413. */
  requestBodyBytesMax: 3 * 1024 * 1024,
  /** Nesting of a body in any encoding; deeper input is a 400 (CVE-2019-11253 class). */
  bodyDepthMax: 100,
  /** Bytes of YAML that are read at once, 25 ms for the worst; more are read in a thread. */
  yamlTurnBytesMax: 64 * 1024,
  /** YAML bodies that wait for that thread: each takes up to 0.6 s of it. */
  yamlQueueMax: 64,
  /** Heap of that thread: the parser's events of the worst body take half of it. */
  yamlThreadHeapMiB: 512,
  /** How long the thread stays when it has nothing to do. */
  yamlThreadIdleMs: 10_000,
  /** Nesting of stored messages: two levels make one of JSON, and a version may nest deeper. */
  storedDepthMax: 400,
  /** Nodes that YAML aliases may expand to, on top of the nodes written out. */
  yamlAliasNodesMax: 10_000,
  /** Digits of a whole number in YAML that are read exactly; the work grows with their square. */
  yamlDigitsMax: 128,
  /** Values of a Protobuf or CBOR body: a byte or two each in it, and hundreds in memory. */
  bodyValuesMax: 500_000,
  /** Unknown and duplicate fields reported for one body: the report stays small. */
  fieldProblemsMax: 100,
  /** Characters of the path of each such field. */
  fieldPathLengthMax: 512,
  /** Bytes of a body that an error quotes, where it cannot tell what the body is. */
  quotedBodyBytesMax: 1024,
  /** Operations in one JSON patch (CVE-2019-1002100). */
  jsonPatchOperationsMax: 10_000,
  /** Bytes that copy operations of one JSON patch may add: as large as a body. */
  jsonPatchCopyBytesMax: 3 * 1024 * 1024,
  /** List elements that one JSON patch may shift: tens of milliseconds of memory moves. */
  jsonPatchShiftsMax: 100_000_000,
  /** Field sets that are kept by their text: objects of one manager mostly have the same. */
  fieldSetsKeptMax: 500,
  /** Characters of the text of such a set. */
  fieldSetTextLengthMax: 8 * 1024,
  /** Managers of one object that update; of the oldest beyond, nobody is told apart any more. */
  updateManagersMax: 10,
  /** Characters of a name, which is part of the object's key in etcd. */
  nameLengthMax: 1_024,
  /** Total of keys and values of `metadata.annotations` (Kubernetes: 256 KiB). */
  annotationBytesMax: 256 * 1024,
  /** Characters of a quantity; longer texts are none, since the work grows with their square. */
  quantityLengthMax: 128,
  /** Quantities whose canonical text is remembered, a few hundred bytes each. */
  canonicalQuantitiesMax: 4_096,
  /** Characters of a quantity that is remembered: those that come again are short. */
  knownQuantityLengthMax: 24,
  /** Resource amounts that are remembered as numbers, a few hundred bytes each. */
  knownAmountsMax: 4_096,
  /** Devices that one claim can get, which is what it takes of a quota when it asks for all. */
  devicesOfClaimMax: 32,
  /** Texts with vendor spellings that are remembered in their resolved form. */
  resolvedTextsMax: 1_000,
  /** Slots of decoded fields kept between bodies; those of a larger body are given back. */
  decodedSlotsKeptMax: 4_096,
  /** Bytes of a buffer kept between encodings; a larger one is given back. */
  encodeBufferKeptBytes: 1024 * 1024,

  // Requests and connections
  /** Default of `--min-request-timeout`: shortest time of a watch, random up to twice as long. */
  minRequestTimeoutSeconds: 1_800,
  /** How late a request's deadline may be seen: one timer serves all open requests. */
  deadlineTickMs: 250,
  /** Header block of one request, both protocols. */
  requestHeaderBytesMax: 64 * 1024,
  /** Header lines of one request, both protocols. */
  requestHeadersCountMax: 200,
  /** `Impersonate-` headers of one request: each is a question to the authorizers. */
  impersonationHeadersMax: 150,
  /** Users of whom it is known how they may act as others, some hundred bytes each. */
  impersonatorsKeptMax: 10_000,
  /** How long that is known; it only orders the questions. */
  impersonatorsKeptMs: 10 * 60_000,
  /** Service-account tokens whose signature is known to be good, about a kilobyte each. */
  verifiedTokensMax: 20_000,
  /** How long that is known; then the signature is verified again. */
  verifiedTokenMs: 600_000,
  /** Tokens that are known to be bad: the same one, sent again and again, costs its hash. */
  refusedTokensMax: 4_096,
  /** How long a bad token, or one whose object is gone, is refused without another look. */
  refusedTokenMs: 10_000,
  /** Secrets whose last use is being written; more uses at once are noted later. */
  tokenUseWritesMax: 16,
  /** Longest time of such a write. */
  tokenUseWriteTimeoutMs: 10_000,
  /** Tokens in Secrets that nobody uses for so long are refused, and then deleted: a year. */
  unusedTokenMs: 365 * 86_400_000,
  /** How often they are looked for. */
  tokenCleanerIntervalMs: 86_400_000,
  /** How far clocks may differ from that of a token's issuer (kube-apiserver: a minute). */
  tokenLeewayMs: 60_000,
  /**
   * How far the begin of a service account's token may lie ahead: another replica, whose clock is
   * ahead, has signed it a moment ago (kube-apiserver: a minute).
   */
  tokenAheadMs: 600_000,
  /** Certificates between a client's own and its CA that are looked at, more than anyone uses. */
  certificatePathLengthMax: 8,
  /** Signatures that are checked for one certificate: who shows it chooses how many there are. */
  certificatePathChecksMax: 20,
  /** Keys of certificate authorities that are shorter prove nothing, as in Go's library. */
  rsaKeyBitsMin: 1_024,
  /**
   * Answers of 401 in a row that a connection gets before it is closed: clients whose token has
   * just expired keep theirs, and no flood of guesses stays on one.
   */
  badCredentialsPerConnectionMax: 10,
  /** Accept headers of a resource that are remembered: more than the clients of a cluster send. */
  knownAcceptsMax: 64,
  /** Longest of these. */
  knownAcceptLengthMax: 256,
  /** Media types of an Accept header that are looked at, more than any client sends. */
  acceptEntriesMax: 32,
  /** Characters of an Accept header that are looked at. */
  acceptLengthMax: 4_096,
  /** Tokens that a cache knows to be good, some kilobytes each with their users. */
  goodTokensKeptMax: 10_000,
  /** Tokens that it knows to be bad: a storm of them takes no place from good ones. */
  badTokensKeptMax: 10_000,
  /** Time for one question about a token, repetitions too; whoever asks the same waits along. */
  tokenReviewTimeoutMs: 30_000,
  /** A client that sends its headers slower than this is cut (slow loris). */
  requestHeadersTimeoutMs: 32_000,
  /** A client that sends its body slower than this is cut. */
  requestBodyTimeoutMs: 90_000,
  /** A write works at most that long, whatever it waits for: as in Kubernetes. */
  writeDeadlineMs: 34_000,
  /** How long the rest of an unread body is waited for before its connection or stream ends. */
  unreadBodyLingerMs: 1_000,
  /** Idle connections live longer than common load balancers' own limit: those close first. */
  idleConnectionMs: 180_000,
  /** At the end of a server, how long connections are kept for requests on their way. */
  idleCloseGraceMs: 300,
  /** After that, for how many turns of 20 ms an HTTP/1.1 connection must be idle to be closed. */
  idleCloseTurns: 50,
  /** How long a client of HTTP/2 may take to close its side once all is said. */
  http2LingerMs: 1_000,
  /** A connection that has not finished its TLS handshake by then is cut. */
  tlsHandshakeTimeoutMs: 10_000,
  /** Silence after which the kernel asks whether a peer is still there. */
  tcpKeepAliveMs: 30_000,
  /** Past its deadline, how long a client may take for the rest of an answer (slow readers). */
  answerGraceMs: 15_000,
  /** Answers at least this long are compressed when the client takes gzip (Kubernetes: 128 KiB). */
  gzipThresholdBytes: 128 * 1024,
  /** Bytes gathered before a write: TLS and kernel work in bulk, and caches still hold them. */
  answerChunkBytes: 128 * 1024,
  /** Chunks kept for later answers: 2 MiB in all. */
  spareChunksMax: 16,
  /** Longest run while a list is written, before others get their turn. */
  answerTurnMsMax: 3,
  /** Longest run while an OpenAPI document is made; its largest piece takes less than this. */
  openapiTurnMsMax: 5,
  /** Nodes of a schema that are turned into bytes in one step: a millisecond or two. */
  openapiSchemaNodesAtOnceMax: 1_000,
  /** Pieces of OpenAPI documents that are kept: 2,000 kinds of 20 KB, in JSON and Protobuf. */
  openapiKeptBytesMax: 160 * 1024 * 1024,
  /** Definitions whose changes are counted by name: past that, counting begins anew. */
  openapiCountedDefinitionsMax: 20_000,
  /** How long a piece is kept that no document was made of. */
  openapiUnusedMs: 60_000,
  /** Nesting of a column's JSONPath (filters, unions): each level reads its text again. */
  jsonPathDepthMax: 32,
  /** Values that the columns of one row may look at, 10 ms: what comes after has empty cells. */
  columnStepsMax: 100_000,
  /** Characters of all Warning headers of one answer. */
  warningsLengthMax: 4_096,
  /** Characters of each where that is exceeded. */
  warningLengthWhenManyMax: 256,
  /** Files of one volume that are compared with each other for a warning. */
  comparedFilesMax: 200,
  /** Warnings of one pod's ports that are in each other's way. */
  portWarningsMax: 1_000,
  /** Streams that one HTTP/2 connection may have open. */
  http2StreamsPerConnectionMax: 250,
  /** Rapid reset (CVE-2023-44487): so many resets at once are taken. */
  http2ResetBurstMax: 500,
  /** After a burst, this rate; beyond it the session ends. */
  http2ResetsPerSecondMax: 33,
  /**
   * A connection with open streams is asked so often whether its peer is there: Node does not
   * always notice that a connection was reset.
   */
  http2PingIntervalMs: 15_000,
  /** Questions that may stay unanswered before the connection is cut. */
  http2UnansweredPingsMax: 2,
  /** Entries of one SETTINGS frame. */
  http2SettingsPerFrameMax: 32,
  /** Frames of bodies, without any of it, on one connection. */
  http2EmptyFramesMax: 100,
  /** Responses of one HTTP/2 connection may hold so much; its further requests are refused. */
  http2SessionMegabytesMax: 64,
  /** Bytes on their way to one WebSocket above which its watch waits: memory of a slow client. */
  websocketBufferedBytesMax: 1024 * 1024,
  /** Longest frame of a client on a WebSocket; in a watch they carry nothing. */
  websocketFrameBytesMax: 64 * 1024,

  // Writes
  /** A write of a large object goes on in the next turn of the event loop after so long. */
  writeTurnMsMax: 8,
  /** Reading a body of so many bytes takes a noticeable part of a turn of the event loop. */
  largeBodyBytes: 16 * 1024,
  /** Races for one object that a write may lose before it is 429; only replicas race. */
  lostRacesMax: 100,
  /** Evicted pods that a budget lists while nobody confirms that they are gone (Kubernetes'). */
  disruptedPodsMax: 2_000,
  /** When to evict again while a budget's status is behind its spec (Kubernetes'). */
  evictionRetryAfterSeconds: 10,
  /** Writers of one object that wait for their turn; one more is a 429. */
  writersInLineMax: 1_000,
  /** How long one of them waits for those before it. */
  writeTurnWaitMs: 5_000,
  /** Conditions, and changes, of the writes that share a transaction; storages add some to them. */
  quotaTransactionOpsMax: 120,
  /** Bytes of the objects in such a transaction: a third of what etcd takes, quotas not counted. */
  quotaTransactionBytesMax: 512 * 1024,
  /** Quotas that one write is charged to; of a transaction's changes its own must find room. */
  quotasOfWriteMax: 100,
  /** Writes that wait in a namespace with quotas, each with its object; one more is a 429. */
  quotaWritersInLineMax: 5_000,
  /** Namespaces whose quotas are remembered as they were last charged, a few kilobytes each. */
  quotaLinesKeptMax: 1_000,
  /** Addresses that a replica remembers as given out before its memory shows them. */
  claimsRemembered: 4_096,
  /** Tries of `generateName` before AlreadyExists is given back. */
  generateNameRetryCountMax: 8,
  /** Longest grace period of a deletion: what clients in Go hold as a duration, 2^63 ns. */
  deletionGraceSecondsMax: 9_223_372_036,
  /** Objects that one deletecollection deletes at a time. */
  deleteCollectionWorkers: 8,
  /** How long a namespace whose deletion was admitted is looked up in the store. */
  deletedNamespaceLookUpMs: 30_000,
  /** Such namespaces that are remembered. */
  deletedNamespacesMax: 1_000,
  /** Counts of one limit of Events that are kept where it names no number (upstream's). */
  eventLimitKeysMax: 4_096,
  /** Length of what Events are counted by; a longer one is kept as its digest. */
  eventLimitKeyLengthMax: 512,
  /** Answers of the image policy webhook that are kept (upstream's). */
  imageReviewsMax: 1_024,
  /** Length of a question whose answer is kept under itself; of a longer one, its digest. */
  imageReviewKeyLengthMax: 512,
  /** Longest time that such an answer may be kept (upstream's). */
  imageReviewTtlSecondsMax: 30 * 60,
  /** Longest first wait before images are asked about again (upstream's). */
  imageReviewBackoffMsMax: 5 * 60 * 1000,
  /** Pods that are looked at when a namespace enforces a stricter standard (Kubernetes: 3,000). */
  podSecurityPodsMax: 3_000,
  /** How long they are looked at (Kubernetes: 1 s). */
  podSecurityPodsMsMax: 1_000,

  // Reads and watches
  /** How long a read waits for a revision not seen before 504 (Kubernetes: 3 s). */
  futureRevisionWaitMs: 3_000,
  /** How long a consistent read waits for memory to be proven current before 504. */
  proofTimeoutMs: 10_000,
  /** How long a proven read waits for the log to catch up before it goes to etcd. */
  logLagWaitMs: 1_000,
  /** The same on etcd versions that cannot be asked for progress: waiting seldom helps. */
  logLagWaitUnaskedMs: 8,
  /** A progress request whose answer is lost is repeated after this, then twice as long. */
  progressRetryFirstMs: 10,
  /** Longest wait between two of them. */
  progressRetryLongestMs: 200,
  /** How long a watch waits for a cache that is being filled before the client is sent away. */
  cacheReadyWaitMs: 10_000,
  /** Lists that waited for one proof are selected together for so long; the rest in later turns. */
  selectTurnMsMax: 2,
  /** Work on the cache between two turns of the event loop, well below a stall that is noticed. */
  workSliceMs: 8,
  /** Objects asked for at once when a selector may drop most of them. */
  filteredPageCount: 1_000,
  /** Ordinary bookmarks of a watch that asked for them. */
  bookmarkIntervalMs: 60_000,
  /** Events that a watch takes at once, before it lets others run. */
  watchBatchCountMax: 1_000,
  /** Entries of the log that a watch looks at before it lets others run. */
  watchScanCountMax: 10_000,
  /** Under load, how long changes are gathered before watchers are woken: adds to delivery. */
  wakeWaitMsMax: 20,
  /** Snapshots of a resource for exact reads and continue tokens (specification 1, Limits). */
  snapshotRetentionMs: 75_000,
  /** Old revisions kept at once for pages that follow: an order of pointers each. */
  snapshotsKeptMax: 8,
  /** Characters of the failures of one object that are told; those beyond are counted. */
  failureTextLengthMax: 1024 * 1024,
  /** Objects that cannot be read and are causes of the failure of one list. */
  unreadableNamedMax: 100,
  /** Of these, the ones that its message names. */
  unreadableInMessageMax: 10,
  /** Age of the oldest change that the log keeps: as long as etcd keeps its history. */
  logAgeMaxMs: 300_000,
  /** Changes of a resource that the log keeps whatever is over its bound; none of events. */
  logHistoryCountMin: 100,
  /** Bytes that these changes of one resource may hold. */
  logExemptBytesMax: 1024 * 1024,
  /** Pause between two passes that drop what is too old. */
  cacheTickMs: 1_000,
  /** Answered writes that are kept for their events, which are on their way. */
  answeredWritesMax: 256,
  /** Fewer objects of a resource are looked through sooner than an index of a label is made. */
  labelIndexItemsMin: 500,
  /** Labels of one resource that have an index at once: each costs every write a little. */
  labelIndexesMax: 8,
  /** An index of a label that nobody selected by for so long goes; uses are counted as long. */
  labelIndexIdleMs: 600_000,
  /** Labels of one resource whose uses are counted before they have an index. */
  labelKeysCountedMax: 100,
  /** Values by which one watch is found when labels change: others look at more events. */
  labelWatchValuesMax: 16,
  /** Labels, fields and namespaces of a kind that objects share instead of holding them each. */
  sharedTextsMax: 10_000,
  /** Longest of these: few objects have longer ones alike. */
  sharedTextLengthMax: 1_024,
  /** What was made of an object (encodings, its fields) goes when nobody asked for so long. */
  memoIdleMs: 120_000,
  /** Silence of the watch after which etcd is asked whether it is there. */
  reflectorProbeIntervalMs: 5_000,
  /** Silence after which the watch is taken for dead. */
  reflectorLivenessTimeoutMs: 15_000,
  /** Wait before the cache is filled again after a failure, then twice as long. */
  reflectorRetryFirstMs: 50,
  /** Longest wait between two such tries. */
  reflectorRetryLongestMs: 5_000,
  /** How long a key lives in etcd that proves that the watch still delivers. */
  canaryTtlSeconds: 60,
  /** Wait before a follower of the cache that lost its watch starts again. */
  followRetryMs: 250,

  // Expressions
  /** Code points of an expression (the reference's). */
  expressionLengthMax: 100_000,
  /** Nesting of an expression (the reference's). */
  expressionDepthMax: 250,
  /** Errors reported for one expression. */
  expressionIssuesMax: 100,
  /** Cost of one evaluation (the reference's): about 0.1 s. */
  expressionCostMax: 1_000_000,
  /** Cost of all rules in the schema of one object (the reference's): about 1 s, in turns. */
  objectRulesCostMax: 10_000_000,
  /** Cost of all match conditions of one rule for one request (the reference's). */
  matchConditionsCostMax: 2_500_000,
  /** Cost of validations and messages of one evaluation of a policy; annotations: again. */
  policyCostMax: 10_000_000,
  /** Bytes of a value that a policy writes into audit events, cut there (the reference's). */
  policyAnnotationBytesMax: 10 * 1024,
  /** Characters of the texts of one evaluation that cost less than they take. */
  evaluationTextLengthMax: 32 * 1024 * 1024,
  /** Elements of a list by `lists.range`: it costs a limit's worth of units before it is full. */
  expressionRangeMax: 2_000_000,
  /** Bytes of the message of a rule, its expression's too (the reference's). */
  ruleMessageBytesMax: 5 * 1024,
  /** Steps of all regular expressions of a schema: compiling so many takes a second. */
  schemaPatternStepsMax: 400_000,
  /** Nodes of a schema that a failure shows: each is a kilobyte then. */
  shownSchemaNodesMax: 100,
  /** Bytes of failures that are told of one definition; the rest is left out. */
  definitionFailureBytesMax: 512 * 1024,
  /** Kinds of a policy that its expressions are checked for (the reference's). */
  typeCheckedKindsMax: 10,
  /** Policies of one action that are remembered for a namespace; of more, each is asked again. */
  candidatesKeptMax: 32,
  /** Memory of compiled policies that are kept for the next request, of each kind of policy. */
  compiledPolicyBytesMax: 32 * 1024 * 1024,
  /**
   * Steps of a compiled regular expression, its repetitions written out: compiling so many takes
   * less than 50 ms. Larger ones are refused.
   */
  patternStepsMax: 12_000,
  /** Compiled regular expressions that are kept. */
  keptPatternsMax: 100,
  /** Longest of these. */
  keptPatternLengthMax: 1_000,
  /** Time zones whose formatter is kept: each is tens of kilobytes. */
  zoneFormatsMax: 64,
  /** Characters of their names. */
  zoneNameLengthMax: 64,

  // etcd
  /** etcd's default request limit (`--max-request-bytes`): larger objects are refused before. */
  etcdRequestBytesMax: 1.5 * 1024 * 1024,
  /** etcd's default limit of conditions, and of changes, in one transaction (`--max-txn-ops`). */
  etcdTransactionOpsMax: 128,
  /** Bytes in one page of a range read from etcd. */
  etcdPageBytesTarget: 4 * 1024 * 1024,
  /** Keys in the first page below a prefix never read: safe when all are of the largest size. */
  etcdPageCountFirst: 32,
  /** Keys in one page. */
  etcdPageCountMax: 10_000,
  /** Prefixes whose size of items is remembered for the next page. */
  rememberedPrefixesMax: 4_096,
  /** Largest answer of etcd that is taken; pages aim far below, watches come in fragments. */
  etcdAnswerBytesMax: 256 * 1024 * 1024,
  /** Silence after which a watch asks for progress; after as long again it is given up. */
  etcdWatchSilenceMs: 5_000,
  /** Bytes of a watch that wait to be read before the stream is paused; etcd then keeps them. */
  etcdWatchQueuedBytesMax: 16 * 1024 * 1024,
  /** Last events of a watch that a new stream has to repeat: they prove the same history. */
  etcdKnownEventsCount: 64,
  /** Pause before etcd is asked for progress again. */
  etcdAskAgainMs: 100,
  /** How long one try to find a member for a watch takes; the watch itself tries for ever. */
  etcdFindMemberMs: 15_000,
  /** Wait before a watch resumes, or a request tries another member; then twice as long. */
  etcdRetryFirstMs: 10,
  /** Longest wait between two such tries. */
  etcdRetryLongestMs: 1_000,
  /** Wait for the version of a member. */
  etcdVersionTimeoutMs: 2_000,
  /** Longest wait between two tries to learn it. */
  etcdVersionRetryLongestMs: 15_000,
  /** How long one try to connect to a member takes before the next one is tried. */
  etcdConnectTimeoutMs: 2_000,
  /** How long one member may take for a read before another one is asked. */
  etcdReadAttemptMs: 5_000,
  /** How long all members together may take for it before 503. */
  etcdReadTimeoutMs: 15_000,
  /** How long a write may take; afterwards nobody knows whether it happened, and it is 504. */
  etcdWriteTimeoutMs: 10_000,
  /** Silence after which a member is asked whether it is there. */
  etcdKeepAliveMs: 10_000,
  /** Silence after that question after which its connection is dropped. */
  etcdKeepAliveTimeoutMs: 5_000,
  /** How long a member may take to take a connection, and to say so, before it is given up. */
  etcdDialTimeoutMs: 5_000,
  /** Wait before a connection to a member is opened again, then longer. */
  etcdReconnectFirstMs: 100,
  /** Wait for the answer of one member when its health is asked for. */
  memberProbeTimeoutMs: 2_000,
  /** A start gives up when etcd has not answered for so long, and tells why a little later. */
  etcdStartTimeoutMs: 9_000,
  /** After so long without an answer the reasons are looked for. */
  etcdReasonsAfterMs: 1_000,
  /** Keys on one lease: its end deletes them all in one transaction of etcd. */
  keysPerLeaseMax: 1_000,
  /** Leases kept for reuse; the one that ends first is forgotten (not revoked) beyond it. */
  leasesMax: 64,
  /** Tries to read or make a secret that replicas share. */
  sharedSecretTriesMax: 5,
  /** Wait between two of them. */
  sharedSecretRetryMs: 200,
  /** How long an etcd of this server may take to start. */
  localEtcdStartTimeoutMs: 60_000,
  /** How long it may take to answer whether it is there, before it is asked again. */
  localEtcdProbeTimeoutMs: 2_000,
  /** Tries to start it where somebody else has taken its ports meanwhile. */
  localEtcdPortTriesMax: 5,
  /** How long it may take to stop before it is killed. */
  localEtcdStopTimeoutMs: 10_000,
  /** As much of its log is looked through for the reason of its end. */
  localEtcdLogTailBytes: 64 * 1024,

  // Controllers
  /** Keys that one controller works on at a time. */
  controllerWorkers: 4,
  /** Wait before default roles that could not be written are tried again. */
  roleBootstrapRetryMs: 1_000,
  /** Tries of one default role in a row that lose a race with other writers. */
  roleBootstrapRacesMax: 10,
  /** Wait before a failed or unfinished key is worked on again, then twice as long. */
  controllerRetryFirstMs: 250,
  /** How long an address whose service nobody knows is left alone, as in Kubernetes. */
  orphanedAddressGraceMs: 60_000,
  /** Between two looks at all claimed ports of services. */
  serviceRepairIntervalMs: 180_000,
  /** Faults of services that an event told of, and no other one tells of again. */
  serviceFaultsToldMax: 4_096,
  /** Longest wait between two such tries. */
  controllerRetryLongestMs: 30_000,
  /** How long a bootstrap token is left alone at most: the clock may be set meanwhile. */
  bootstrapExpiryCheckMs: 3_600_000,
  /** Objects that the garbage collector looks at, at a time (Kubernetes: 20). */
  garbageWorkers: 20,
  /** Dependents that it orphans at a time for one owner. */
  orphanWorkers: 8,
  /** How long it adds dependents of one owner to its queue before others get their turn. */
  garbageTurnMsMax: 4,
  /** How long it waits for its graph to reach a version; then the object is tried again. */
  garbageLagWaitMs: 2_000,
  /** Pause between two looks at how far it has come. */
  garbageLagPauseMs: 5,
  /** References into other namespaces that are looked into at once; more are not reported. */
  misplacedOwnersMax: 1_000,
  /** Pause after such a look: it goes over all objects of a kind. */
  misplacedOwnersPauseMs: 1_000,
  /** Objects of such a look between two turns of the event loop. */
  misplacedOwnersPageCount: 1_000,
  /** Namespaces whose quotas are counted at a time (Kubernetes: 5 quotas). */
  quotaWorkers: 5,
  /** Quotas of one namespace that are written at a time. */
  quotaWritesMax: 8,
  /** Counts of a namespace in a row that lose a race with writes that are charged meanwhile. */
  quotaRacesMax: 5,
  /** How long releases of a namespace are gathered before they are counted, far within a second. */
  quotaGatherMs: 100,
  /**
   * After a quota has begun to hold it is counted once more: until then a replica that was behind
   * may have stored what it did not charge.
   */
  quotaRecheckMs: 1_500,
  /** How soon resources that come or go at run time are noticed. */
  servedResourcesCheckMs: 500,
  /**
   * How long another replica than the one that wrote a definition waits before it sees to its names
   * and conditions itself: long enough for that one, and with the spread within a second.
   */
  definitionTakeoverMs: 250,
  /** Replicas that wait are set apart by up to so much. */
  definitionTakeoverSpreadMs: 250,
  /** How long a definition counts as written by this replica: until its event has surely come. */
  ownDefinitionMs: 2_000,
  /** Definitions that count so at once. */
  ownDefinitionsMax: 10_000,
  /** Lost races in a row for the names of one group before it waits its back-off. */
  definitionClaimRacesMax: 50,
  /** Longest pause between two of them; half of it in the mean. */
  definitionRacePauseMs: 64,
  /** Turns of the event loop that an event of the log may take until it is told. */
  definitionTurnsMax: 100,
  /** Objects of a definition that ends that are deleted before the next ones are listed. */
  instancePageCount: 500,
  /** Reasons why objects of a definition that ends could not be deleted, as told in a condition. */
  instanceFailuresTold: 10,
  /** After so long a definition that waits for its objects says that it does, as in Kubernetes. */
  instancesGoneWaitMs: 60_000,
  /** What is wrong with schemas is told in a condition up to this length, in characters. */
  violationsTextLengthMax: 32 * 1024,
  /** A leader that has not renewed its Lease for so long is replaced. */
  leaderLeaseSeconds: 15,
  /** One that cannot renew gives up earlier. */
  leaderRenewDeadlineMs: 10_000,
  /** Pause between two renewals. */
  leaderRenewIntervalMs: 4_000,
  /** Longest time that giving the leadership back may take at shutdown. */
  leaderReleaseTimeoutMs: 2_000,
  /**
   * How long the key of a replica lives that does not refresh it: the address of one that was
   * killed leaves the endpoints within 15 s, with a second of the lease and a few of etcd's own.
   */
  replicaLeaseSeconds: 10,
  /** Pause between two refreshes: two may be lost. */
  replicaRefreshIntervalMs: 3_000,
  /** Longest time that taking its address away may hold up a replica that stops. */
  replicaLeaveTimeoutMs: 2_000,
  /** How long a ServiceCIDR stays after its deletion, until every replica has seen it. */
  serviceCidrDeletionGraceMs: 10_000,
  /** Wait of a pod for the default account of a new namespace before it is looked for again. */
  defaultAccountRetryMs: 150,
  /** How often it is: a controller makes it within a second or so, and 403 comes after that. */
  defaultAccountRetryCountMax: 9,

  // Process
  /** A second signal within this time is the same Ctrl-C, delivered twice (terminal and npm). */
  sameSignalMs: 1_000,

  // Metrics
  /** Hours whose values summaries speak of, the one that has begun among them (upstream's). */
  summaryWindowHours: 5,

  // Outgoing calls
  /** Connections to one target: each holds a TLS session. */
  clientConnectionsMax: 64,
  /** Calls that may wait for one of them; more fail at once. */
  clientPendingCallsMax: 512,
  /** Targets of admission webhooks that are kept, by URL or service and CA (upstream's). */
  clientTargetsMax: 200,
  /** Time of one call when the caller names none; the longest that webhooks may have. */
  clientCallTimeoutMs: 30_000,
  /** Time to look up a name. */
  clientResolveTimeoutMs: 5_000,
  /** Time to connect to one address: a dead one costs a call no more. */
  clientConnectTimeoutMs: 3_000,
  /** Time for a proxy to open the way to a target, its own TLS and name lookup among it. */
  clientProxyTimeoutMs: 10_000,
  /** Time for a TLS handshake. */
  clientHandshakeTimeoutMs: 10_000,
  /** Time to send a body. */
  clientSendTimeoutMs: 10_000,
  /** Time until an answer begins. */
  clientHeaderTimeoutMs: 30_000,
  /** Time for the body of an answer. */
  clientBodyTimeoutMs: 10_000,
  /** How long a kept connection may be idle. */
  clientIdleConnectionMs: 30_000,
  /** An address that could not be reached comes after the others for so long. */
  clientAddressRestMs: 30_000,
  /** An answer: a patch of the largest object, in base64, and room. */
  clientAnswerBytesMax: 8 * 1024 * 1024,
  /** An answer beyond this size needs a slot to grow. */
  clientSmallAnswerBytes: 256 * 1024,
  /** The header of an answer. */
  clientAnswerHeaderBytesMax: 64 * 1024,
  /** What is read of an answer that is an error, to tell the caller why. */
  clientExcerptBytesMax: 1_024,
  /** Answers of status 1xx that may come before the answer. */
  clientInterimAnswersMax: 5,
  /** Wait before a call is repeated, where its caller asked for that; doubled each time. */
  clientRetryFirstMs: 100,
  /** Longest such wait. */
  clientRetryLongestMs: 5_000,
  /** How often a review is asked for at most, when its failures may pass (upstream's). */
  reviewAttemptsMax: 5,
  /** Wait before it is asked for again (upstream's); half as long again each time. */
  reviewRetryFirstMs: 500,
  /** Programs that say as whom calls go out, with what they said: upstream keeps all. */
  clientExecPluginsMax: 100,
  /** Time for such a program to end: it may ask somebody far away. */
  clientExecTimeoutMs: 60_000,
  /** Rest after a run that was of no use: a call would begin a process each time. */
  clientExecRestMs: 1_000,
  /** What it may print: a token, or a certificate with its key. */
  clientExecOutputBytesMax: 1024 * 1024,
  /** What of its standard error is shown in the log, characters. */
  clientExecLogLengthMax: 2_048,
  /** What is shorter is no secret: taking it out of a text would leave little. */
  clientExecSecretLengthMin: 6,
  /** How often files of an outgoing identity are read: certificates, keys, tokens, CAs. */
  clientFilesIntervalMs: 10_000,
  /** Calls in a row that fail before a webhook is only probed any more. */
  clientBreakerFailuresMax: 5,
  /** Wait before it is probed, and before each probe after that. */
  clientBreakerProbeMs: 1_000,
  /** Hosts that have labels of their own in metrics; webhooks are user data. */
  clientMetricHostsMax: 100,

  // Calls of admission webhooks
  /** Calls of one webhook under way at once. */
  admissionCallsMax: 200,
  /** Calls of one webhook that wait for those; more fail at once. */
  admissionPendingCallsMax: 1_000,
  /** An answer of one. */
  admissionAnswerBytesMax: 6 * 1024 * 1024,
  /** Answers beyond `clientSmallAnswerBytes` that are read at a time. */
  admissionLargeAnswersMax: 6,
  /** How long a kept connection to one may be idle. */
  admissionIdleConnectionMs: 90_000,
  /** Connections that calls of one take turns over: a service spreads them over its endpoints. */
  admissionSpreadCount: 4,
  /** Time of one call when the webhook has none (upstream's). */
  admissionCallTimeoutMs: 30_000,
  /** Of a request's time, what optional webhooks leave for storing. */
  admissionReserveMs: 2_000,
  /** Timeouts and lost connections in a row that open the circuit. */
  admissionBreakerFailuresMax: 5,
  /** Time from the first of them to the last. */
  admissionBreakerWithinMs: 10_000,
  /** From one try of a webhook whose circuit is open to the next. */
  admissionProbeMs: 1_000,
  /** Webhooks whose line and circuit are remembered: more than clusters have. */
  admissionGuardsMax: 1_000,
  /** How long a webhook that is not called any more is in the metrics. */
  admissionGuardIdleMs: 600_000,

  // Conversion of custom objects
  /** Calls of one conversion webhook under way at once: each may hold a list's part in memory. */
  conversionWebhookCallsMax: 8,
  /** Characters of the answer of a conversion webhook beside the objects in it. */
  conversionReviewLengthMax: 1024 * 1024,
  /** Definitions that have labels of their own in the metrics of conversion. */
  conversionMetricNamesMax: 1_000,
  /** Bytes of the objects in one call, unless one alone is larger: a turn's work to read back. */
  conversionCallBytesTarget: 1024 * 1024,
  /** Calls for one answer that are under way at once: gets and other lists have a chance, too. */
  conversionCallsAtOnceMax: 4,

  // Profiles
  /** Seconds of a profile whose request names none (upstream's). */
  profileSecondsDefault: 30,
  /** Longest one: within the usual time of a request. */
  profileSecondsMax: 50,

  // Authorization
  /** Decisions of one webhook that are kept (upstream's). */
  webhookDecisionsMax: 8_192,
  /** Bytes of attributes whose decision is kept: larger ones are to fill memory (upstream's). */
  webhookDecisionBytesMax: 10_000,
  /** Length of a key of such a decision; a longer one is kept as its digest. */
  webhookKeyLengthMax: 512,
  /** Longest wait for an authorization webhook (specification 3, Limits). */
  authorizationWebhookTimeoutMs: 30_000,
  /** Conditions of one authorization webhook (specification 3, Limits). */
  webhookMatchConditionsMax: 64,
  /** Warnings that are taken from one answer of an admission webhook: the headers have an end. */
  webhookWarningsMax: 100,
  // Audit
  /** A request that took longer has annotations that tell what it waited for (Kubernetes' time). */
  slowRequestMs: 500,
  /** Characters of a User-Agent that events show (Kubernetes: 1,024). */
  auditUserAgentLengthMax: 1_024,
  /** Bytes of all events that one backend keeps: objects in them may be large. */
  auditBufferBytesMax: 256 * 1024 * 1024,
  /** Batches that one backend writes at a time; each may be repeated for a minute and more. */
  auditBatchesInFlightMax: 100,
  /** Calls to an audit webhook at a time; others wait for them. */
  auditCallsMax: 32,
  /** How often a batch is sent before it is lost (Kubernetes: 5). */
  auditCallTriesMax: 5,
  /** How long a server that stops goes on writing events. */
  auditFlushMs: 20_000,
  /** Between two log lines about lost events. */
  auditLossToldIntervalMs: 10_000,
  /** Megabytes of the audit log before it is rotated, unless a flag says so (Kubernetes: 100). */
  auditLogMegabytes: 100,

  /** How often files of configuration are read where the file system does not tell of changes. */
  configFilesIntervalMs: 60_000,
  /** From a change of such a file to its reading: who writes it may not be done. */
  configFileSettleMs: 50,

  // Tokens of issuers
  /** Authenticators in the configuration file (specification 3, Limits). */
  jwtAuthenticatorsMax: 64,
  /** Longest token that is looked at: more than a header carries. */
  jwtLengthMax: 128 * 1024,
  /** How far a token's `nbf` may lie ahead: clocks differ. */
  jwtNotBeforeToleranceSeconds: 300,
  /** How long a good verdict is kept, at most until the token expires. */
  jwtAcceptedTtlMs: 10_000,
  /** Good verdicts that are kept. */
  jwtAcceptedMax: 16_384,
  /** How long a bad verdict is kept: who repeats a bad token costs no signature each time. */
  jwtRejectedTtlMs: 1_000,
  /** Bad verdicts that are kept. */
  jwtRejectedMax: 4_096,
  /** Time of one call to an issuer. */
  issuerCallTimeoutMs: 30_000,
  /** A discovery document, or keys: those of large issuers have some kilobytes. */
  issuerAnswerBytesMax: 1024 * 1024,
  /** Keys of one issuer: a token that names none may be tried with each. */
  issuerKeysMax: 256,
  /** Hosts that an issuer's connections are kept to: of its document, its keys, its claims. */
  issuerHostsMax: 4,
  /** Issuers of what the sources of distributed claims answer, for one authenticator. */
  claimIssuersMax: 8,
  /** Wait before an issuer that cannot be read is tried again. */
  issuerRetryIntervalMs: 10_000,
  /** How often keys are read: one that its issuer took back is good no longer. */
  issuerKeysIntervalMs: 300_000,
  /** Time between two readings that tokens of unknown keys cause: anybody may send those. */
  issuerKeysMissIntervalMs: 10_000,
  /** How long a changed configuration may wait for its new issuers before that is a failure. */
  issuersReadyTimeoutMs: 60_000,

  // Workers
  /** Of `--workers`: each takes the memory of a whole replica. */
  workersMax: 128,
  /** Before a worker that ended is started again; twice as long after each failure. */
  workerRestartFirstMs: 100,
  /** The longest such wait. */
  workerRestartLastMs: 10_000,
  /** Starts of one worker that fail in a row before the server ends. */
  workerStartAttemptsMax: 5,
  /** One that has served for so long does not end for the same reason as the one before. */
  workerSteadyMs: 60_000,
  /** How long a worker may take to say whether it is ready, or what it has counted. */
  workerAnswerTimeoutMs: 2_000,
  /** Between two questions whether a worker still answers. */
  workerAskIntervalMs: 5_000,
  /** Answers in a row that a worker owes before it is killed: it hangs. */
  workerSilencesMax: 3,
  /** Added to the time that draining may take, before a worker is killed. */
  workerStopMarginMs: 10_000,
  /** Connections that wait while no worker takes any, as after a crash; more are refused. */
  unplacedConnectionsMax: 4_096,

  // Traces
  /** Spans that wait to be sent, some kilobytes each; more are lost. */
  tracingQueueSpansMax: 2_048,
  /** Spans that are sent together. */
  tracingBatchSpansMax: 512,
  /** How long a span waits for others to be sent with it. */
  tracingBatchWaitMs: 5_000,
  /** How long a collector may take for them; then they are lost. */
  tracingExportTimeoutMs: 10_000,
  /** How long the last spans may delay the end of the server. */
  tracingFlushMs: 3_000,
  /** Characters of one attribute: a request line may have 64 KiB. */
  tracingAttributeCharactersMax: 1_024,
  /** Between two lines of the log about a collector that takes nothing. */
  tracingLogIntervalMs: 60_000,
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
invariant(
  3 * limits.replicaRefreshIntervalMs < limits.replicaLeaseSeconds * 1000,
  'a replica that lives stays among the endpoints when refreshes are lost',
);

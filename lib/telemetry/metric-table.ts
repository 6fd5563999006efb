// THE table of metrics: name, type, stability, labels, buckets, help; names and labels as
// upstream's dashboards expect, with placeholders for the vendor. A row with `deprecatedSince`
// follows the lifecycle of specification 2 (rule 11): hidden three releases later.

export type Stability = 'STABLE' | 'BETA' | 'ALPHA';

interface CommonRow {
  readonly stability: Stability;
  readonly labels: readonly string[];
  readonly help: string;
  /** Release that deprecated it: `1.34`. */
  readonly deprecatedSince?: string;
  /** Served at `/metrics/slis` alone. */
  readonly isSli?: true;
}
/** What the numbers of several workers (`--workers`) make together. */
export type AcrossWorkers = 'sum' | 'max' | 'min';

export interface NumberRow extends CommonRow {
  readonly type: 'counter' | 'gauge';
  /** Default: sum. Others are for what all share, and for what each process has for itself. */
  readonly across?: AcrossWorkers;
}
export interface HistogramRow extends CommonRow {
  readonly type: 'histogram';
  readonly buckets: readonly number[];
}
/** Quantiles 0.5, 0.9 and 0.99 of the last hours. */
export interface SummaryRow extends CommonRow {
  readonly type: 'summary';
}
export type MetricRow = NumberRow | HistogramRow | SummaryRow;

const requestLabels = [
  'component',
  'group',
  'resource',
  'scope',
  'subresource',
  'verb',
  'version',
] as const;
const ofResource = ['group', 'resource'] as const;
const sloSeconds = [
  0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const requestSeconds = [0.005, 0.025, ...sloSeconds];
const authSeconds = [
  0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192,
  16.384,
];
const webhookSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const conversionSeconds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];
const crdConversionSeconds = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);
const ratchetingSeconds = Array.from({ length: 10 }, (_, index) => 1e-5 * 4 ** index);
const delegatedSeconds = [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10];
const clientSeconds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const clientBytes = [
  64, 256, 512, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];
const conditionSeconds = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];
const admissionSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const queueSeconds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10];
const bodyBytes = Array.from({ length: 31 }, (_, index) => 50_000 + index * 100_000);
const listSeconds = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];
const hour = 3_600;
const day = 24 * hour;
const certificateSeconds = [
  0,
  hour / 2,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  4 * day,
  7 * day,
  30 * day,
  90 * day,
  180 * day,
  360 * day,
];
const waitSeconds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3];

const counter = (
  stability: Stability,
  labels: readonly string[],
  help: string,
  across?: AcrossWorkers,
): NumberRow => ({
  type: 'counter',
  stability,
  labels,
  help,
  ...(across === undefined ? {} : { across }),
});
const gauge = (
  stability: Stability,
  labels: readonly string[],
  help: string,
  across?: AcrossWorkers,
): NumberRow => ({
  type: 'gauge',
  stability,
  labels,
  help,
  ...(across === undefined ? {} : { across }),
});
const histogram = (
  stability: Stability,
  labels: readonly string[],
  buckets: readonly number[],
  help: string,
): HistogramRow => ({ type: 'histogram', stability, labels, buckets, help });

export const metricTable = {
  apiserver_request_total: counter(
    'STABLE',
    [
      'code',
      'component',
      'dry_run',
      'group',
      'resource',
      'scope',
      'subresource',
      'verb',
      'version',
    ],
    'Requests answered, by what they asked for and the status code.',
  ),
  apiserver_admission_webhook_circuit_open: gauge(
    'ALPHA',
    ['name', 'type'],
    'Whether an admission webhook is only tried now and then, because its calls fail.',
    'max',
  ),
  apiserver_admission_webhook_inflight: gauge(
    'ALPHA',
    ['name', 'type'],
    'Calls of an admission webhook that are under way.',
  ),
  apiserver_admission_webhook_queue_seconds: histogram(
    'ALPHA',
    ['name', 'type'],
    queueSeconds,
    'Time that a call of an admission webhook waited for others of the same to end.',
  ),
  apiserver_admission_webhook_connections: gauge(
    'ALPHA',
    ['name'],
    'Open connections to an admission webhook.',
  ),

  apiserver_request_duration_seconds: histogram(
    'STABLE',
    ['component', 'dry_run', 'group', 'resource', 'scope', 'subresource', 'verb', 'version'],
    requestSeconds,
    'Time from the first byte of a request to the end of its answer.',
  ),
  apiserver_request_sli_duration_seconds: histogram(
    'ALPHA',
    requestLabels,
    sloSeconds,
    'Request time without what users add themselves (webhooks, queueing).',
  ),
  apiserver_response_sizes: histogram(
    'STABLE',
    requestLabels,
    [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
    'Bytes of answers to gets and lists.',
  ),
  apiserver_longrunning_requests: gauge('STABLE', requestLabels, 'Open watches and other streams.'),
  apiserver_current_inflight_requests: gauge(
    'STABLE',
    ['request_kind'],
    'Requests being served now, streams left out.',
  ),
  apiserver_request_aborts_total: counter(
    'ALPHA',
    ['group', 'resource', 'scope', 'subresource', 'verb', 'version'],
    'Requests whose client left before the answer was complete.',
  ),
  apiserver_request_terminations_total: counter(
    'ALPHA',
    ['code', 'component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version'],
    'Requests that the server refused or ended in self-defence: 429 and 504.',
  ),
  apiserver_requested_deprecated_apis: gauge(
    'STABLE',
    ['group', 'removed_release', 'resource', 'subresource', 'version'],
    'Deprecated APIs that were requested, by the release that removes them.',
    'max',
  ),
  apiserver_request_body_size_bytes: histogram(
    'ALPHA',
    ['group', 'resource', 'verb'],
    bodyBytes,
    'Bytes of the bodies of requests for resources.',
  ),
  apiserver_request_filter_duration_seconds: histogram(
    'ALPHA',
    ['filter'],
    [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 5, 10, 15, 30],
    'Time of what each request passes: authentication, authorization.',
  ),
  apiserver_tls_handshake_errors_total: counter('ALPHA', [], 'TLS handshakes that failed.'),
  apiserver_watch_events_total: counter(
    'ALPHA',
    ['group', 'resource', 'version'],
    'Events written to watchers.',
  ),
  apiserver_watch_events_sizes: histogram(
    'ALPHA',
    ['group', 'resource', 'version'],
    [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072],
    'Bytes of events written to watchers.',
  ),
  apiserver_watch_list_duration_seconds: histogram(
    'BETA',
    ['group', 'resource', 'scope', 'version'],
    listSeconds,
    'Time until watches had all events of the state that they began with.',
  ),
  apiserver_client_certificate_expiration_seconds: histogram(
    'ALPHA',
    [],
    certificateSeconds,
    'Time for which client certificates were still good, by each request with one.',
  ),
  authenticated_user_requests: counter(
    'ALPHA',
    ['username'],
    'Requests by who sent them, as far as the name is one of a few.',
  ),
  serviceaccount_valid_tokens_total: counter(
    'ALPHA',
    [],
    'Uses of extended service-account tokens within the time that was asked for.',
  ),
  serviceaccount_stale_tokens_total: counter(
    'ALPHA',
    [],
    'Uses of extended service-account tokens after the time that was asked for.',
  ),
  serviceaccount_legacy_tokens_total: counter(
    'ALPHA',
    [],
    'Uses of service-account tokens that name no audience.',
  ),
  serviceaccount_legacy_manual_token_uses_total: counter(
    'ALPHA',
    [],
    'Uses of tokens in Secrets that somebody made.',
  ),
  serviceaccount_legacy_auto_token_uses_total: counter(
    'ALPHA',
    [],
    'Uses of tokens in Secrets that their accounts list.',
  ),
  serviceaccount_invalid_legacy_auto_token_uses_total: counter(
    'ALPHA',
    [],
    'Uses of tokens in Secrets that are marked as invalid; they are refused.',
  ),
  authentication_attempts: counter(
    'ALPHA',
    ['result'],
    'Authentications by result: success, failure, error.',
  ),
  authentication_duration_seconds: histogram(
    'ALPHA',
    ['result'],
    authSeconds,
    'Time that authentication took.',
  ),
  apiserver_authentication_config_controller_automatic_reloads_total: counter(
    'BETA',
    ['apiserver_id_hash', 'status'],
    'Changes of the file of --authentication-config by what became of them: success, failure.',
  ),
  apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds: gauge(
    'BETA',
    ['apiserver_id_hash', 'status'],
    'When the file of --authentication-config was last reloaded, or could not be.',
    'max',
  ),
  apiserver_authentication_config_controller_last_config_info: gauge(
    'ALPHA',
    ['apiserver_id_hash', 'hash'],
    'Digest of the authentication configuration that is in force.',
    'max',
  ),
  apiserver_authentication_jwt_authenticator_latency_seconds: histogram(
    'ALPHA',
    ['jwt_issuer_hash', 'result'],
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    'Time to verify a token of an issuer, where its verdict is not known.',
  ),
  apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds: gauge(
    'ALPHA',
    ['apiserver_id_hash', 'jwt_issuer_hash', 'result'],
    'When the keys of an issuer were last read, or could not be.',
    'max',
  ),
  apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info: gauge(
    'ALPHA',
    ['jwt_issuer_hash', 'apiserver_id_hash', 'hash'],
    'Digest of the keys of an issuer that are in use.',
    'max',
  ),
  authentication_token_cache_request_total: counter(
    'ALPHA',
    ['status'],
    'Tokens that were looked up in a cache of what others say of them: hit, miss.',
  ),
  authentication_token_cache_request_duration_seconds: histogram(
    'ALPHA',
    ['status'],
    webhookSeconds,
    'Time until it was known whose token it is.',
  ),
  authentication_token_cache_fetch_total: counter(
    'ALPHA',
    ['status'],
    'Questions about tokens that were not in the cache: ok, error.',
  ),
  authentication_token_cache_active_fetch_count: gauge(
    'ALPHA',
    ['status'],
    'Such questions under way (in_flight), and requests that wait for them (blocked).',
  ),
  apiserver_delegated_authn_request_total: counter(
    'ALPHA',
    ['code'],
    'Calls of the token webhook by status of the answer; <error>: there was none.',
  ),
  apiserver_delegated_authn_request_duration_seconds: histogram(
    'ALPHA',
    ['code'],
    delegatedSeconds,
    'Time of these calls.',
  ),
  authorization_attempts_total: counter(
    'ALPHA',
    ['result'],
    'Authorizations by result: allowed, denied, no-opinion, error.',
  ),
  authorization_duration_seconds: histogram(
    'ALPHA',
    ['result'],
    authSeconds,
    'Time that authorization took.',
  ),
  apiserver_authorization_decisions_total: counter(
    'ALPHA',
    ['decision', 'name', 'type'],
    'What each authorizer has decided, by its type and name: allowed, denied.',
  ),
  apiserver_conversion_webhook_request_total: counter(
    'ALPHA',
    ['result', 'failure_type'],
    'Calls of conversion webhooks by result and, of failures, by what failed.',
  ),
  apiserver_conversion_webhook_duration_seconds: histogram(
    'ALPHA',
    ['result', 'failure_type'],
    conversionSeconds,
    'Time that each call of a conversion webhook took.',
  ),
  apiextensions_apiserver_validation_ratcheting_seconds: histogram(
    'ALPHA',
    [],
    ratchetingSeconds,
    'Time that comparing an updated custom object with the stored one took.',
  ),
  apiserver_cel_compilation_duration_seconds: histogram(
    'BETA',
    [],
    webhookSeconds,
    'Time that compiling the rules of one value of a schema took.',
  ),
  apiserver_cel_evaluation_duration_seconds: histogram(
    'BETA',
    [],
    webhookSeconds,
    'Time that the rules of a schema took for one write, without compiling them.',
  ),
  apiserver_crd_conversion_webhook_duration_seconds: histogram(
    'ALPHA',
    ['crd_name', 'from_version', 'succeeded', 'to_version'],
    crdConversionSeconds,
    'Time that each conversion by a webhook took, by definition and versions.',
  ),
  apiserver_authorization_webhook_evaluations_total: counter(
    'ALPHA',
    ['name', 'result'],
    'Questions to authorization webhooks: success, timeout, error, canceled.',
  ),
  apiserver_authorization_webhook_duration_seconds: histogram(
    'ALPHA',
    ['name', 'result'],
    webhookSeconds,
    'Time that each question to an authorization webhook took.',
  ),
  apiserver_authorization_webhook_evaluations_fail_open_total: counter(
    'ALPHA',
    ['name', 'result'],
    'Requests that an authorization webhook had no opinion on because it failed.',
  ),
  apiserver_authorization_match_condition_evaluation_seconds: histogram(
    'ALPHA',
    ['name', 'type'],
    conditionSeconds,
    'Time that the match conditions of an authorizer took.',
  ),
  apiserver_authorization_match_condition_evaluation_errors_total: counter(
    'ALPHA',
    ['name', 'type'],
    'Requests for which match conditions failed and none was false.',
  ),
  apiserver_authorization_match_condition_exclusions_total: counter(
    'ALPHA',
    ['name', 'type'],
    'Requests that an authorizer was not asked about: a match condition was false.',
  ),
  apiserver_authorization_config_controller_automatic_reloads_total: counter(
    'BETA',
    ['apiserver_id_hash', 'status'],
    'Changes of the file of --authorization-config: success, failure.',
  ),
  apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds: gauge(
    'BETA',
    ['apiserver_id_hash', 'status'],
    'When the file of --authorization-config changed last, by what came of it.',
    'max',
  ),
  apiserver_authorization_config_controller_last_config_info: gauge(
    'ALPHA',
    ['apiserver_id_hash', 'hash'],
    'Digest of the file of --authorization-config that is in force.',
    'max',
  ),
  apiserver_admission_controller_admission_duration_seconds: histogram(
    'STABLE',
    ['name', 'operation', 'rejected', 'type'],
    admissionSeconds,
    'Time that each admission plugin took, by type: admit, validate.',
  ),
  apiserver_admission_step_admission_duration_seconds: histogram(
    'STABLE',
    ['operation', 'rejected', 'type'],
    admissionSeconds,
    'Time that all admission plugins took, by type: admit, validate.',
  ),
  apiserver_admission_step_admission_duration_seconds_summary: {
    type: 'summary',
    stability: 'ALPHA',
    labels: ['operation', 'rejected', 'type'],
    help: 'Time that all admission plugins took, of the last five hours.',
  } satisfies SummaryRow,
  apiserver_admission_webhook_admission_duration_seconds: histogram(
    'STABLE',
    ['name', 'operation', 'rejected', 'type'],
    [...admissionSeconds, 10, 25],
    'Time that the call of each admission webhook took, by type: admit, validating.',
  ),
  apiserver_admission_webhook_request_total: counter(
    'ALPHA',
    ['code', 'name', 'operation', 'rejected', 'type'],
    'Calls of admission webhooks by the code of what came of them; 0: the server failed.',
  ),
  apiserver_admission_webhook_rejection_count: counter(
    'ALPHA',
    ['error_type', 'name', 'operation', 'rejection_code', 'type'],
    'Requests that an admission webhook, or the failure to call it, has refused.',
  ),
  apiserver_admission_webhook_fail_open_count: counter(
    'ALPHA',
    ['name', 'type'],
    'Requests that were admitted although an admission webhook could not be asked.',
  ),
  apiserver_admission_configuration_revision: gauge(
    'ALPHA',
    [],
    'Revision of the last change of webhooks, policies and bindings that is in force.',
    'min',
  ),
  apiserver_admission_configuration_retries_total: counter(
    'ALPHA',
    [],
    'Requests that were judged anew, since rules of admission had changed meanwhile.',
  ),
  apiserver_admission_match_condition_evaluation_seconds: histogram(
    'ALPHA',
    ['kind', 'name', 'operation', 'type'],
    conditionSeconds,
    'Time that the match conditions of a webhook or policy took.',
  ),
  apiserver_admission_match_condition_evaluation_errors_total: counter(
    'ALPHA',
    ['kind', 'name', 'operation', 'type'],
    'Match conditions of webhooks and policies that failed.',
  ),
  apiserver_admission_match_condition_exclusions_total: counter(
    'ALPHA',
    ['kind', 'name', 'operation', 'type'],
    'Requests that a webhook or policy was not asked about: a match condition was false.',
  ),
  apiserver_validating_admission_policy_check_total: counter(
    'BETA',
    ['enforcement_action', 'error_type', 'policy', 'policy_binding'],
    'Violations and errors of validating policies, by what followed.',
  ),
  apiserver_validating_admission_policy_check_duration_seconds: histogram(
    'BETA',
    ['enforcement_action', 'error_type', 'policy', 'policy_binding'],
    [5e-7, 0.001, 0.01, 0.1, 1],
    'Time of the evaluations that found a violation or an error.',
  ),
  apiserver_manifest_admission_config_controller_automatic_reloads_total: counter(
    'ALPHA',
    ['apiserver_id_hash', 'plugin', 'status'],
    'Manifests of admission that were read, at the start and after changes: success, failure.',
  ),
  apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds: gauge(
    'ALPHA',
    ['apiserver_id_hash', 'plugin', 'status'],
    'When manifests of admission were read last, by what came of it.',
    'max',
  ),
  apiserver_manifest_admission_config_controller_last_config_info: gauge(
    'ALPHA',
    ['apiserver_id_hash', 'hash', 'plugin'],
    'Digest of the manifests of admission that are in force.',
    'max',
  ),
  apiserver_mutating_admission_policy_check_total: counter(
    'ALPHA',
    ['error_type', 'policy', 'policy_binding'],
    'Mutations of mutating policies, by what came of them.',
  ),
  apiserver_mutating_admission_policy_check_duration_seconds: histogram(
    'ALPHA',
    ['error_type', 'policy', 'policy_binding'],
    [5e-7, 0.001, 0.01, 0.1, 1],
    'Time of each mutation of mutating policies.',
  ),
  apiserver_admission_quota_recalculation_drift_total: counter(
    'ALPHA',
    [],
    'Quotas that said another usage than a count found, where nothing that was given back is why.',
  ),
  apiserver_admission_quota_transactions_total: counter(
    'ALPHA',
    ['result'],
    'Transactions that charge quotas, each with one object or several, by what became of them: ' +
      'committed, lost (something it depends on had changed), failed.',
  ),
  pod_security_evaluations_total: counter(
    'ALPHA',
    [
      'decision',
      'mode',
      'policy_level',
      'policy_version',
      'request_operation',
      'resource',
      'subresource',
    ],
    'Writes held against a pod security standard: allow, deny; of audit and warn, deny alone.',
  ),
  apiserver_audit_event_total: counter('ALPHA', [], 'Audit events that were made.'),
  apiserver_audit_level_total: counter(
    'ALPHA',
    ['level'],
    'Requests held against the audit policy, by the level that it gives them.',
  ),
  apiserver_audit_error_total: counter(
    'ALPHA',
    ['plugin'],
    'Audit events that are lost, by who lost them: log, webhook, buffered, truncate.',
  ),
  apiserver_audit_requests_rejected_total: counter(
    'ALPHA',
    [],
    'Requests that failed since no audit event of them could be written.',
  ),
  pod_security_exemptions_total: counter(
    'ALPHA',
    ['request_operation', 'resource', 'subresource'],
    'Writes that no pod security standard is held against: who, where, runtime class.',
  ),
  pod_security_errors_total: counter(
    'ALPHA',
    ['fatal', 'request_operation', 'resource', 'subresource'],
    'Writes whose namespace asks for a pod security standard that cannot be told.',
  ),
  apiserver_cache_list_total: counter(
    'ALPHA',
    ['group', 'index', 'resource'],
    'Lists answered from memory, by the index that was used.',
  ),
  apiserver_cache_list_fetched_objects_total: counter(
    'ALPHA',
    ['group', 'index', 'resource'],
    'Objects looked at by lists from memory.',
  ),
  apiserver_cache_list_returned_objects_total: counter(
    'ALPHA',
    ofResource,
    'Objects returned by lists from memory.',
  ),
  apiserver_init_events_total: counter(
    'ALPHA',
    ofResource,
    'Synthetic events that watches began with.',
  ),
  apiserver_terminated_watchers_total: counter(
    'ALPHA',
    ofResource,
    'Watchers ended because the log had passed their position.',
  ),
  apiserver_watch_cache_events_received_total: counter(
    'ALPHA',
    ofResource,
    'Events taken from etcd into memory.',
  ),
  apiserver_watch_cache_events_dispatched_total: counter(
    'ALPHA',
    ofResource,
    'Events that memory has for watchers.',
  ),
  apiserver_watch_cache_initializations_total: counter(
    'ALPHA',
    ofResource,
    'How often memory was filled.',
  ),
  apiserver_watch_cache_consistent_read_total: counter(
    'ALPHA',
    ['fallback', 'group', 'resource', 'success'],
    'Consistent reads, by whether memory could prove itself current.',
  ),
  apiserver_watch_cache_read_wait_seconds: histogram(
    'ALPHA',
    ofResource,
    waitSeconds,
    'Time that reads waited until memory had reached their revision.',
  ),
  apiserver_watch_cache_resource_version: gauge(
    'ALPHA',
    ofResource,
    'Revision of the last event of a resource.',
    'min',
  ),
  apiserver_resource_size_estimate_bytes: gauge(
    'ALPHA',
    ofResource,
    'Bytes of stored objects, by resource.',
    'max',
  ),
  apiserver_resource_objects: gauge('ALPHA', ofResource, 'Objects stored, by resource.', 'max'),
  apiserver_storage_objects: {
    ...gauge('STABLE', ['resource'], 'Objects stored, by resource.'),
    across: 'max',
    deprecatedSince: '1.34',
  },
  apiserver_storage_size_bytes: gauge(
    'STABLE',
    ['storage_cluster_id'],
    'Bytes of the file of the etcd member in use.',
    'max',
  ),
  apiserver_storage_list_total: counter('ALPHA', ofResource, 'Lists answered from etcd.'),
  apiserver_storage_events_received_total: counter(
    'BETA',
    ofResource,
    'Events received from etcd.',
  ),
  apiserver_storage_decode_errors_total: counter(
    'ALPHA',
    ofResource,
    'Stored objects whose bytes could not be read.',
  ),
  etcd_request_duration_seconds: histogram(
    'ALPHA',
    ['group', 'operation', 'resource'],
    requestSeconds,
    'Time of requests to etcd.',
  ),
  etcd_requests_total: counter('ALPHA', ['group', 'operation', 'resource'], 'Requests to etcd.'),
  etcd_request_errors_total: counter(
    'ALPHA',
    ['group', 'operation', 'resource'],
    'Requests to etcd that failed.',
  ),
  rest_client_requests_total: counter(
    'ALPHA',
    ['code', 'host', 'method'],
    'Outgoing requests, by status code; `<error>` when there was no answer.',
  ),
  rest_client_request_retries_total: counter(
    'ALPHA',
    ['code', 'host', 'verb'],
    'Outgoing requests that were repeated, by what the one before had ended with.',
  ),
  rest_client_request_duration_seconds: histogram(
    'ALPHA',
    ['host', 'verb'],
    clientSeconds,
    'Time of outgoing calls, with waiting for a connection and repetitions.',
  ),
  rest_client_request_size_bytes: histogram(
    'ALPHA',
    ['host', 'verb'],
    clientBytes,
    'Bytes of the bodies of outgoing requests.',
  ),
  rest_client_response_size_bytes: histogram(
    'ALPHA',
    ['host', 'verb'],
    clientBytes,
    'Bytes of the bodies of answers to outgoing requests.',
  ),
  rest_client_dns_resolution_duration_seconds: histogram(
    'ALPHA',
    ['host'],
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30],
    'Time of looking up the addresses of hosts.',
  ),
  apiserver_storage_unreadable_objects: gauge(
    'ALPHA',
    [],
    'Stored objects whose bytes cannot be read at present.',
    'max',
  ),
  apiserver_storage_compaction_rounds_total: counter(
    'ALPHA',
    ['result'],
    'Rounds of compaction: compacted, started (nothing is old enough yet), ' +
      'learned (another replica did it), failed.',
  ),
  apiserver_ready: gauge('ALPHA', [], 'Whether /readyz passes, looked at with each scrape.', 'min'),
  apiserver_certificate_expiration_timestamp_seconds: gauge(
    'ALPHA',
    ['use'],
    'Until when what is in use is good: serving, etcd_client, and the last certificate of ' +
      'shared_ca, client_ca, front_proxy_ca.',
    'min',
  ),
  apiserver_cache_memory_bytes: gauge(
    'ALPHA',
    ['kind'],
    'Memory of the cache: current state, event log, memoised encodings and objects, indexes.',
  ),
  apiserver_cache_memory_limit_bytes: gauge('ALPHA', [], 'The bound given by --cache-memory-mb.'),
  apiserver_worker_connections: gauge(
    'ALPHA',
    ['worker'],
    'Open connections by worker, with --workers.',
  ),
  apiserver_worker_restarts_total: counter(
    'ALPHA',
    ['worker'],
    'Workers that were started again since the one before had ended by itself.',
  ),
  apiserver_event_loop_delay_seconds: gauge(
    'ALPHA',
    ['percentile'],
    'Delay of the event loop since the last scrape.',
    'max',
  ),
  apiserver_validation_declarative_validation_mismatch_total: counter(
    'BETA',
    [],
    'Writes for which declarative and handwritten validation found different failures.',
  ),
  apiextensions_openapi_v2_regeneration_count: counter(
    'ALPHA',
    ['crd', 'reason'],
    'Changes of the OpenAPI 2.0 document by definitions of custom resources.',
  ),
  apiextensions_openapi_v3_regeneration_count: counter(
    'ALPHA',
    ['crd', 'group', 'reason', 'version'],
    'Changes of OpenAPI 3.0 documents by definitions of custom resources.',
  ),
  leader_election_master_status: gauge(
    'ALPHA',
    ['name'],
    'Whether this replica leads, by the name of the Lease.',
    'max',
  ),
  workqueue_adds_total: counter('BETA', ['name'], 'Keys that became ready, by work queue.'),
  workqueue_depth: gauge('BETA', ['name'], 'Keys that are ready and wait for a worker.'),
  workqueue_longest_running_processor_seconds: gauge(
    'BETA',
    ['name'],
    'How long the longest of the present runs has lasted.',
    'max',
  ),
  workqueue_unfinished_work_seconds: gauge(
    'BETA',
    ['name'],
    'How long the present runs have lasted, all together.',
  ),
  workqueue_queue_duration_seconds: histogram(
    'BETA',
    ['name'],
    queueSeconds,
    'Time that keys were ready before a worker took them.',
  ),
  workqueue_work_duration_seconds: histogram(
    'BETA',
    ['name'],
    queueSeconds,
    'Time of one run of a key.',
  ),
  workqueue_retries_total: counter('BETA', ['name'], 'Keys that are tried again after a back-off.'),
  '{kubernetes}_healthcheck': {
    ...gauge('STABLE', ['name', 'type'], 'Whether a check passed when it was last asked for.'),
    across: 'min',
    isSli: true,
  },
  '{kubernetes}_healthchecks_total': {
    ...counter('STABLE', ['name', 'status', 'type'], 'Results of checks: success, error.'),
    isSli: true,
  },
  '{kubernetes}_build_info': gauge(
    'BETA',
    [
      'build_date',
      'compiler',
      'git_commit',
      'git_tree_state',
      'git_version',
      'go_version',
      'major',
      'minor',
      'platform',
    ],
    'What this server is a build of.',
    'max',
  ),
  '{kubernetes}_feature_enabled': gauge(
    'BETA',
    ['name', 'stage'],
    'Whether each feature gate is on.',
    'max',
  ),
  version_info: gauge(
    'ALPHA',
    ['binary', 'component', 'emulation', 'min_compat'],
    'Releases of this server and of the API that it speaks.',
    'max',
  ),
  registered_metrics_total: counter(
    'BETA',
    ['deprecated_version', 'stability_level'],
    'Metrics that are served.',
    'max',
  ),
  hidden_metrics_total: counter('BETA', [], 'Metrics that are hidden by their deprecation.', 'max'),
  disabled_metrics_total: counter('BETA', [], 'Metrics that --disabled-metrics names.', 'max'),
  process_cpu_seconds_total: counter('STABLE', [], 'CPU time of the process.'),
  process_resident_memory_bytes: gauge('STABLE', [], 'Resident memory of the process.'),
  process_start_time_seconds: gauge(
    'STABLE',
    [],
    'Start of the process, seconds since the epoch.',
    'min',
  ),
  process_open_fds: gauge('STABLE', [], 'Open file descriptors.', 'max'),
  process_max_fds: gauge('STABLE', [], 'Limit on open file descriptors.', 'min'),
  process_network_receive_bytes_total: counter('STABLE', [], 'Bytes received over IP.', 'max'),
  process_network_transmit_bytes_total: counter('STABLE', [], 'Bytes sent over IP.', 'max'),
  process_virtual_memory_max_bytes: gauge('STABLE', [], 'Limit on virtual memory.', 'min'),
  process_virtual_memory_bytes: gauge('STABLE', [], 'Virtual memory of the process.'),
} as const satisfies Readonly<Record<string, MetricRow>>;

export type MetricName = keyof typeof metricTable;

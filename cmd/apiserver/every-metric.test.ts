// The assembled server feeds every metric of the table: some things are asked of it, and each
// metric has counted one of them. What takes a fault has a test of its own.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../lib/base/log.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { EtcdCluster } from '../../lib/storage-etcd/testing/etcd-process.ts';
import { metricTable } from '../../lib/telemetry/metric-table.ts';
import { assemble } from './assemble.ts';
import type { Assembled } from './assemble.ts';

const folder = mkdtempSync(join(tmpdir(), 'apiserver-metrics-'));
const dataFolder = join(folder, 'data');
const configMaps = '/api/v1/namespaces/default/configmaps';
let cluster: EtcdCluster;
let server: Assembled;
let port = 0;

const tokenUses =
  'cmd/apiserver/authentication-observers.test.ts › ' +
  'uses of service-account tokens are counted by age and by where they lie';
const reloadsTest =
  'cmd/apiserver/reload-observer.test.ts › reloads of the %s configuration are counted by status';
const callsTest = 'lib/client/client-metrics.test.ts › calls are counted by what they ended with';
const webhooksTest =
  'cmd/apiserver/authorization-observers.test.ts › ' +
  'questions to webhooks and their conditions are counted by name';
const hooksTest =
  'lib/admission/webhooks/call-guards.test.ts › ' +
  'x.own: calls, lines, circuits and connections of webhooks are told';
const askedTest =
  'cmd/apiserver/authentication-observers.test.ts › tokens that others are asked about are counted';
const openApiTest =
  'lib/server/custom-discovery.test.ts › ' +
  'changes of OpenAPI are counted by definition, version and reason';
const issuersTest =
  'cmd/apiserver/jwt-observer.test.ts › the keys of issuers are shown while they are in force';

const manifestsTest =
  'cmd/apiserver/static-manifests.test.ts › ' +
  's.load, s.metrics: changes act at once, and an error keeps the last set';
const mutationsTest =
  'lib/admission/policies/mutating-policies.test.ts › ' +
  'x.policy: each mutation is counted by what came of it';

const conversionsTest =
  'lib/crd/conversion/conversion-metrics.test.ts › ' +
  'conversions by webhooks are counted and timed by how they ended';

const rulesTest =
  'cmd/apiserver/schema-rules-observer.test.ts › ' +
  'rules of custom resources are timed: compiled once, evaluated at each write';

const admissionCallsTest =
  'lib/admission/webhooks/validating-webhooks.test.ts › ' +
  'calls by code, refusals by who refused, and what was passed over';
const admissionConditionsTest =
  'lib/admission/webhooks/validating-webhooks.test.ts › ' +
  'match conditions: exclusions by phase, times and errors by the type of calls';
const policiesTest =
  'lib/admission/policies/verdict.test.ts › x.policy: each finding is counted by what followed';

const workersTest = 'e2e/workers.e2e.ts › a worker that is killed is started again, others go on';

/** Metric → `file › title` of the test that shows it, which stands in that file. */
const shownElsewhere: Readonly<Record<string, string>> = {
  apiserver_worker_connections: workersTest,
  apiserver_worker_restarts_total: workersTest,
  apiserver_validating_admission_policy_check_total: policiesTest,
  apiserver_validating_admission_policy_check_duration_seconds: policiesTest,
  rest_client_requests_total: callsTest,
  rest_client_request_retries_total: callsTest,
  rest_client_request_duration_seconds: callsTest,
  rest_client_request_size_bytes: callsTest,
  rest_client_response_size_bytes: callsTest,
  rest_client_dns_resolution_duration_seconds: callsTest,
  apiserver_admission_webhook_circuit_open: hooksTest,
  apiserver_admission_webhook_inflight: hooksTest,
  apiserver_admission_webhook_queue_seconds: hooksTest,
  apiserver_admission_webhook_connections: hooksTest,
  apiserver_authorization_webhook_evaluations_total: webhooksTest,
  apiserver_authorization_webhook_duration_seconds: webhooksTest,
  apiserver_authorization_webhook_evaluations_fail_open_total: webhooksTest,
  apiserver_authorization_match_condition_evaluation_seconds: webhooksTest,
  apiserver_authorization_match_condition_evaluation_errors_total: webhooksTest,
  apiserver_authorization_match_condition_exclusions_total: webhooksTest,
  apiserver_authorization_config_controller_automatic_reloads_total: reloadsTest,
  apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds: reloadsTest,
  apiserver_authorization_config_controller_last_config_info: reloadsTest,
  apiserver_manifest_admission_config_controller_automatic_reloads_total: manifestsTest,
  apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds:
    manifestsTest,
  apiserver_manifest_admission_config_controller_last_config_info: manifestsTest,
  apiserver_admission_configuration_retries_total:
    'cmd/apiserver/rules-in-force.test.ts › x.own: requests that are judged anew are counted',
  apiserver_mutating_admission_policy_check_total: mutationsTest,
  apiserver_mutating_admission_policy_check_duration_seconds: mutationsTest,
  apiserver_cel_compilation_duration_seconds: rulesTest,
  apiserver_cel_evaluation_duration_seconds: rulesTest,
  apiextensions_apiserver_validation_ratcheting_seconds: rulesTest,
  apiserver_admission_webhook_admission_duration_seconds: admissionCallsTest,
  apiserver_admission_webhook_request_total: admissionCallsTest,
  apiserver_admission_webhook_rejection_count: admissionCallsTest,
  apiserver_admission_webhook_fail_open_count: admissionCallsTest,
  apiserver_admission_match_condition_evaluation_seconds: admissionConditionsTest,
  apiserver_admission_match_condition_evaluation_errors_total: admissionConditionsTest,
  apiserver_admission_match_condition_exclusions_total: admissionConditionsTest,
  apiserver_conversion_webhook_request_total: conversionsTest,
  apiserver_conversion_webhook_duration_seconds: conversionsTest,
  apiserver_crd_conversion_webhook_duration_seconds: conversionsTest,
  apiserver_terminated_watchers_total:
    'cmd/apiserver/cache-metrics.test.ts › ' +
    'objects read, states of watches, events and waits are counted by resource',
  apiserver_storage_unreadable_objects:
    'cmd/apiserver/cache-metrics.test.ts › ' +
    'objects read, states of watches, events and waits are counted by resource',
  apiserver_storage_decode_errors_total:
    'cmd/apiserver/cache-observer.test.ts › ' +
    'reads and stored objects that cannot be read are counted by resource',
  etcd_request_errors_total:
    'cmd/apiserver/storage-metrics.test.ts › calls of etcd are counted by how they ended',
  apiserver_validation_declarative_validation_mismatch_total:
    'cmd/apiserver/mismatch-observer.test.ts › ' +
    'a difference between the forms of a rule is counted and logged',
  authentication_token_cache_request_total: askedTest,
  authentication_token_cache_request_duration_seconds: askedTest,
  authentication_token_cache_fetch_total: askedTest,
  authentication_token_cache_active_fetch_count: askedTest,
  apiserver_delegated_authn_request_total: askedTest,
  apiserver_delegated_authn_request_duration_seconds: askedTest,
  apiserver_audit_event_total:
    'cmd/apiserver/audit.test.ts › what is recorded, lost and refused is counted',
  apiserver_audit_level_total:
    'cmd/apiserver/audit.test.ts › what is recorded, lost and refused is counted',
  apiserver_audit_error_total:
    'cmd/apiserver/audit.test.ts › what is recorded, lost and refused is counted',
  apiserver_audit_requests_rejected_total:
    'cmd/apiserver/audit.test.ts › what is recorded, lost and refused is counted',
  pod_security_exemptions_total:
    'cmd/apiserver/pod-security-observer.test.ts › ' +
    'writes that are exempt, and labels that say nothing, are counted',
  pod_security_errors_total:
    'cmd/apiserver/pod-security-observer.test.ts › ' +
    'writes that are exempt, and labels that say nothing, are counted',
  apiserver_admission_quota_recalculation_drift_total:
    'cmd/apiserver/controller-observer.test.ts › quotas that said another usage are counted',
  workqueue_depth:
    'cmd/apiserver/controller-observer.test.ts › ' +
    'a work queue is measured: what waits, what runs and how long, what is retried',
  workqueue_longest_running_processor_seconds:
    'cmd/apiserver/controller-observer.test.ts › ' +
    'a work queue is measured: what waits, what runs and how long, what is retried',
  workqueue_unfinished_work_seconds:
    'cmd/apiserver/controller-observer.test.ts › ' +
    'a work queue is measured: what waits, what runs and how long, what is retried',
  workqueue_retries_total:
    'cmd/apiserver/controller-observer.test.ts › ' +
    'a work queue is measured: what waits, what runs and how long, what is retried',
  serviceaccount_valid_tokens_total: tokenUses,
  serviceaccount_stale_tokens_total: tokenUses,
  serviceaccount_legacy_tokens_total: tokenUses,
  serviceaccount_legacy_manual_token_uses_total: tokenUses,
  serviceaccount_legacy_auto_token_uses_total: tokenUses,
  serviceaccount_invalid_legacy_auto_token_uses_total: tokenUses,
  apiserver_authentication_config_controller_automatic_reloads_total: reloadsTest,
  apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds: reloadsTest,
  apiserver_authentication_config_controller_last_config_info: reloadsTest,
  apiserver_authentication_jwt_authenticator_latency_seconds: issuersTest,
  apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds: issuersTest,
  apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info: issuersTest,
  apiextensions_openapi_v2_regeneration_count: openApiTest,
  apiextensions_openapi_v3_regeneration_count: openApiTest,
  hidden_metrics_total: 'lib/telemetry/metrics.test.ts › in %s with %s asked for: shown %s',
  disabled_metrics_total:
    'lib/telemetry/metrics.test.ts › metrics are counted by what is done with them',
};

beforeAll(async () => {
  cluster = await EtcdCluster.start();
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, 'T,admin,1,"system:masters"\n', { mode: 0o600 });
  port = await freePort();
  const parsed = parseFlags([
    `--etcd-servers=${cluster.endpoints.join(',')}`,
    `--data-dir=${dataFolder}`,
    `--token-auth-file=${tokens}`,
    `--secure-port=${String(port)}`,
  ]);
  const logger = createLogger('error', () => undefined);
  server = await assemble(parsed, logger, AbortSignal.timeout(60_000));
});
afterAll(async () => {
  await server.stop();
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port: free } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return free;
}

interface Asked {
  readonly body?: object;
  readonly token?: string;
  readonly tls?: https.RequestOptions;
}

async function ask(line: string, { body, token = 'T', tls = {} }: Asked = {}): Promise<string> {
  const [method = '', path = ''] = line.split(' ');
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const request = https.request({
    host: '127.0.0.1',
    port,
    path,
    method,
    agent: false,
    rejectUnauthorized: false,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...tls,
  });
  request.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer>];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** The certificate that every replica leaves for its administrator. */
function adminCertificate(): https.RequestOptions {
  const config = readFileSync(join(dataFolder, 'admin.kubeconfig'), 'utf8');
  const dataOf = (name: string): Buffer =>
    Buffer.from(new RegExp(`${name}-data"?: "?([\\w+/=]+)`).exec(config)?.[1] ?? '', 'base64');
  return { cert: dataOf('client-certificate'), key: dataOf('client-key') };
}

/** An open watch; the returned function leaves it. */
async function openWatch(path: string): Promise<() => Promise<void>> {
  const request = https.get({
    host: '127.0.0.1',
    port,
    path,
    agent: false,
    rejectUnauthorized: false,
    headers: { authorization: 'Bearer T' },
  });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
  await once(response, 'data');
  return async () => {
    request.destroy();
    await once(request, 'close');
  };
}

/** A write that is charged to a quota, which memory knows by then. */
async function underQuota(): Promise<void> {
  const quotas = '/api/v1/namespaces/default/resourcequotas';
  const hard = { secrets: '100' };
  await ask(`POST ${quotas}`, { body: { metadata: { name: 'one' }, spec: { hard } } });
  const status = { hard, used: { secrets: '0' } };
  await ask(`PATCH ${quotas}/one/status`, { body: { status } });
  await ask(`GET ${quotas}`);
  const body = { metadata: { name: 'counted' } };
  await ask('POST /api/v1/namespaces/default/secrets', { body });
}

async function doEverything(): Promise<void> {
  const metadata = { name: 'one' };
  await ask(`POST ${configMaps}`, { body: { metadata } });
  await ask(`PUT ${configMaps}/one`, { body: { metadata, data: { a: 'b' } } });
  await ask(`PATCH ${configMaps}/one`, { body: { data: { a: 'c' } } });
  await ask(`GET ${configMaps}/one`);
  const listed = JSON.parse(await ask(`GET ${configMaps}`)) as {
    metadata: { resourceVersion: string };
  };
  const exact = `resourceVersion=${listed.metadata.resourceVersion}&resourceVersionMatch=Exact`;
  await ask(`GET ${configMaps}?${exact}`);
  await ask(`GET ${configMaps}?resourceVersion=1&resourceVersionMatch=Exact`);
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await ask('POST /api/v1/namespaces/default/pods?dryRun=All', { body: { metadata, spec } });
  const rules = '/apis/admissionregistration.svc.io/v1/validatingwebhookconfigurations';
  await ask(`POST ${rules}`, { body: { metadata, webhooks: [] } });
  await underQuota();
  await ask('GET /api/v1/componentstatuses');
  await ask('GET /readyz');
  await ask(`GET ${configMaps}`, { token: '' });
  await ask('GET /livez', { token: '' });
  await ask(`GET ${configMaps}`, { token: 'wrong' });
  await ask('GET /api', { token: '', tls: adminCertificate() });
  await ask(`GET ${configMaps}?resourceVersion=999999999`); // 504: it does not come
  const plain = connect(port, '127.0.0.1');
  plain.write('GET / HTTP/1.1\r\n\r\n');
  plain.resume();
  await once(plain, 'close');
  const events =
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const leave = await openWatch(`${configMaps}?watch=1&${events}`);
  await leave();
  await ask(`DELETE ${configMaps}/one`);
}

/** Metrics that have a sample other than 0. */
const countedIn = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^(\w+?)(?:_bucket|_sum|_count)?(?:\{.*\})? (\S+)$/gm)]
      .filter(([, , value]) => Number(value) !== 0)
      .map(([, name = '']) => name),
  );

test('every metric has counted something', async () => {
  await doEverything();
  const leave = await openWatch('/api/v1/namespaces?watch=1');
  const texts = [await ask('GET /metrics'), await ask('GET /metrics/slis')];
  await leave();
  const counted = countedIn(texts.join('\n'));
  const silent = Object.keys(metricTable)
    .map((name) => name.replace('{kubernetes}', 'svc'))
    .filter((name) => !counted.has(name) && !Object.hasOwn(shownElsewhere, name));
  expect(silent).toEqual([]);
});

test.each(Object.entries(shownElsewhere))('%s is shown elsewhere', (_name, where) => {
  const [file = '', title = ''] = where.split(' › ');
  const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
  expect(text).toContain(title);
});

import { describe, expect, test } from '@jest/globals';
import { metricTable } from './metric-table.ts';
import { testMetrics } from './testing/test-metrics.ts';
import type { RequestLabels } from './request-metrics.ts';

const labels: RequestLabels = {
  verb: 'GET',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  scope: 'resource',
  dryRun: '',
};
const create = (showHiddenFor?: string) => testMetrics({ showHiddenFor });

describe('the text of /metrics', () => {
  test.each([
    [200, 0],
    [429, 1],
    [504, 1],
  ])('requests that end with %d are %d terminations', async (code, count) => {
    const metrics = create();
    metrics.requests.finished('readOnly', labels, {
      code,
      seconds: 1,
      requestBytes: 0,
      responseBytes: 10,
    });
    const { body } = await metrics.text();
    const samples = body.match(/^apiserver_request_terminations_total\{.* 1$/gm) ?? [];
    expect(samples).toHaveLength(count);
  });
  test('counts requests by their labels, with cumulative buckets', async () => {
    const metrics = create();
    metrics.requests.started('readOnly', labels);
    for (const seconds of [0.001, 0.03, 0.03, 100]) {
      metrics.requests.finished('readOnly', labels, {
        code: 200,
        seconds,
        requestBytes: 0,
        responseBytes: 10,
      });
    }
    const { contentType, body } = await metrics.text();
    expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
    const usual =
      'group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"';
    expect(body).toContain(
      `apiserver_request_total{code="200",component="apiserver",dry_run="",${usual}} 4\n`,
    );
    const name = 'apiserver_request_duration_seconds';
    const all = `component="apiserver",dry_run="",${usual}`;
    for (const [bound, count] of [
      ['0.005', 1],
      ['0.025', 1],
      ['0.05', 3],
      ['60', 3],
      ['+Inf', 4],
    ]) {
      const bucket = new RegExp(
        `^${name}_bucket\\{.*le="${String(bound).replace('+', '\\+')}".*\\} (\\d+)$`,
        'm',
      );
      expect(bucket.exec(body)?.[1]).toBe(String(count));
    }
    expect(body).toContain(`${name}_count{${all}} 4\n`);
    expect(body).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} -3\n');
  });

  test('gives every shown row its type and its help with the stability', async () => {
    const { body } = await create().text();
    for (const [name, row] of Object.entries(metricTable)) {
      if (!body.includes(`# TYPE ${name} `)) continue;
      expect(body).toContain(`# TYPE ${name} ${row.type}\n`);
      expect(body).toContain(`# HELP ${name} [${row.stability}] `);
    }
    expect(body).toMatch(/^process_resident_memory_bytes \d{7,}$/m);
    expect(body).toMatch(/^apiserver_event_loop_delay_seconds\{percentile="0\.99"\} [\d.e-]+$/m);
  });

  test('keeps label values apart and escapes them', async () => {
    const metrics = create();
    metrics.series.etcd_requests_total.child('a"\n\\', 'get', 'b').value = 3;
    const { body } = await metrics.text();
    expect(body).toContain(
      'etcd_requests_total{group="a\\"\\n\\\\",operation="get",resource="b"} 3\n',
    );
    expect(() => metrics.series.etcd_requests_total.child('one')).toThrow('has labels');
  });

  test('observes many events of one batch at once', async () => {
    const metrics = create();
    const count = metrics.requests.watchEvents(labels);
    count.add(3, 6_000);
    count.add(0, 0);
    const { body } = await metrics.text();
    const of = 'group="",resource="pods",version="v1"';
    expect(body).toContain(`apiserver_watch_events_total{${of}} 3\n`);
    expect(body).toContain(`apiserver_watch_events_sizes_count{${of}} 3\n`);
    expect(body).toContain(`apiserver_watch_events_sizes_sum{${of}} 6000\n`);
  });
});

test.each([
  ['GET', 1, undefined],
  ['LIST', 1, undefined],
  ['PATCH', 0, 'patch'],
  ['DELETECOLLECTION', 0, 'deletecollection'],
])('%s: %d answers have a size, and bodies are those of %s', async (verb, count, bodyVerb) => {
  const metrics = create();
  const outcome = { code: 200, seconds: 1, requestBytes: 7, responseBytes: 10 };
  metrics.requests.finished('readOnly', { ...labels, verb }, outcome);
  const { body } = await metrics.text();
  expect(body.match(/^apiserver_response_sizes_sum\{.* 10$/gm) ?? []).toHaveLength(count);
  const of = `group="",resource="pods",verb="${bodyVerb ?? ''}"`;
  const counted = `apiserver_request_body_size_bytes_sum{${of}} 7\n`;
  expect(body.includes(counted)).toBe(bodyVerb !== undefined);
});

test('health checks are served apart', async () => {
  const metrics = create();
  metrics.series['{kubernetes}_healthcheck'].child('etcd', 'readyz').value = 1;
  const sli = 'test_healthcheck{name="etcd",type="readyz"} 1\n';
  expect((await metrics.sliText()).body).toContain(sli);
  expect((await metrics.text()).body).not.toContain('test_healthcheck');
});

test('what has to be asked for is asked before each answer', async () => {
  const metrics = create();
  const size = metrics.series.apiserver_storage_size_bytes.child('etcd-0');
  metrics.beforeText.add(async () => {
    await Promise.resolve();
    size.value++;
  });
  metrics.beforeText.add(() => Promise.reject(new Error('etcd is away')));
  await metrics.text();
  expect((await metrics.text()).body).toContain(
    'apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 2\n',
  );
});

test('metrics are counted by what is done with them', async () => {
  const disabled = ['test_build_info', 'apiserver_request_total', 'unknown'];
  const all = (await create().text()).body;
  const { body } = await testMetrics({ disabled }).text();
  expect(body).not.toMatch(/apiserver_request_total|test_build_info/);
  expect(body).toContain('\ndisabled_metrics_total 2\n');
  const stable = 'registered_metrics_total{deprecated_version="",stability_level="STABLE"}';
  const count = (of: string): number => Number(of.split(stable)[1]?.split('\n')[0]);
  expect(count(body)).toBe(count(all) - 1);
  expect(all).toContain('{deprecated_version="1.34.0",stability_level="STABLE"} 1\n');
});

describe('deprecated metrics', () => {
  test.each([
    ['1.36', undefined, true, 0], // deprecated in 1.34: shown, with a mark
    ['1.37', undefined, false, 1], // three releases later: hidden
    ['1.37', '1.36', true, 0], // hidden, but asked for
    ['1.38', '1.37', false, 1], // gone
  ])('in %s with %s asked for: shown %s', async (release, showHiddenFor, isShown, hidden) => {
    const { body } = await testMetrics({ release, showHiddenFor }).text();
    expect(body.includes('# TYPE apiserver_storage_objects ')).toBe(isShown);
    if (isShown)
      expect(body).toContain('apiserver_storage_objects [STABLE] (Deprecated from 1.34)');
    expect(body).toContain(`\nhidden_metrics_total ${String(hidden)}\n`);
  });

  test.each(['1.34', '1.36', '1.37', 'x', ''])('cannot be asked for of %s', (version) => {
    expect(() => create(version)).toThrow('only metrics hidden in the previous release, 1.35');
  });
});

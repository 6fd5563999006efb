import { expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { testMetrics } from '../telemetry/testing/test-metrics.ts';
import { ClientMetrics } from './client-metrics.ts';
import { call, openHook } from './testing/open-calls.ts';
import { RawServer, answerOk, answerText } from './testing/raw-server.ts';

const linesOf = async (
  from: { text(): Promise<{ readonly body: string }> },
  wanted: RegExp,
): Promise<string[]> => (await from.text()).body.split('\n').filter((line) => wanted.test(line));

test('calls are counted by what they ended with', async () => {
  await using server = await RawServer.start((request) => {
    if (request.index === 0) request.socket.destroy();
    else if (request.index === 1) answerOk(request);
    else request.socket.write(answerText('busy', { status: '503 Busy' }));
  });
  // Its own: files of one process share those of `openHook`, whose hosts are bounded.
  const metrics = testMetrics();
  const target = await openHook(server.url, { metrics: new ClientMetrics(metrics.series) });
  await call(target, { retryCount: 1, body: Buffer.alloc(100) });
  await expect(call(target, { method: 'GET' })).rejects.toThrow('status 503');
  target.close();
  const host = `host="127.0.0.1:${String(server.port)}"`;
  const mine = (name: string): Promise<string[]> =>
    linesOf(metrics, new RegExp(`^rest_client_${name}.*${host}`));
  expect(await mine('requests_total')).toEqual([
    `rest_client_requests_total{code="<error>",${host},method="POST"} 1`,
    `rest_client_requests_total{code="200",${host},method="POST"} 1`,
    `rest_client_requests_total{code="503",${host},method="GET"} 1`,
  ]);
  expect(await mine('request_retries_total')).toEqual([
    `rest_client_request_retries_total{code="<error>",${host},verb="POST"} 1`,
  ]);
  expect(await mine('request_duration_seconds_count')).toEqual([
    `rest_client_request_duration_seconds_count{${host},verb="POST"} 1`,
    `rest_client_request_duration_seconds_count{${host},verb="GET"} 1`,
  ]);
  expect(await mine('request_size_bytes_sum')).toContain(
    `rest_client_request_size_bytes_sum{${host},verb="POST"} 100`,
  );
  expect(await mine('response_size_bytes_sum')).toContain(
    `rest_client_response_size_bytes_sum{${host},verb="POST"} 11`,
  );
  expect((await mine('dns_resolution_duration_seconds_count')).length).toBe(1);
});

test('hosts and codes are bounded', async () => {
  const own = testMetrics();
  const bounded = new ClientMetrics(own.series);
  for (let index = 0; index < limits.clientMetricHostsMax * 2; index++) {
    bounded.of(`host-${String(index)}:443`).attempted('POST', 200);
  }
  for (let status = 100; status < 1_000; status++)
    bounded.of('host-0:443').attempted('POST', status);
  const lines = await linesOf(own, /^rest_client_requests_total/);
  const hosts = new Set(lines.map((line) => /host="([^"]*)"/.exec(line)?.[1]));
  expect(hosts.size).toBe(limits.clientMetricHostsMax + 1);
  expect(lines.filter((line) => line.includes('host="host-0:443"')).length).toBeLessThan(80);
  expect(lines).toContain(
    'rest_client_requests_total{code="2xx",host="host-0:443",method="POST"} 90',
  );
});

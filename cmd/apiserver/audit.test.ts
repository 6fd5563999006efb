import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LostEvents } from '../../lib/audit/lost-events.ts';
import { createLogger } from '../../lib/base/log.ts';
import { ManualClock } from '../../lib/base/testing/manual-clock.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { openAudit } from './audit.ts';
import { openBase } from './base.ts';
import { auditObserver } from './audit-observer.ts';

let folder = '';
let policy = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-flags-'));
  policy = written('policy.yaml', {
    apiVersion: 'audit.svc.io/v1',
    kind: 'Policy',
    rules: [{ level: 'Metadata' }],
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, content: object | string): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** What is opened, and the lines of the log. */
async function opened(argv: readonly string[]) {
  const lines: string[] = [];
  await using started = new AsyncDisposableStack();
  const { flags, texts, given } = parseFlags([`--data-dir=${join(folder, 'data')}`, ...argv]);
  const logger = createLogger('warn', (line) => void lines.push(line));
  const signal = AbortSignal.timeout(60_000);
  const base = openBase({ flags, flagTexts: texts, givenFlags: given, logger, signal, started });
  const auditor = await openAudit(base);
  const request = {
    verb: 'get',
    isResourceRequest: false,
    ...{ group: '', version: '', resource: '', subresource: '', namespace: '', name: '' },
    path: '/version',
  };
  const facts = { auditId: 'id', requestUri: '/version', userAgent: '', sourceIps: [] };
  const outcome = auditor?.outcomeOf(request, undefined);
  const at = { ...facts, receivedAtMs: base.clock.monotonicMs() };
  const record = outcome && auditor?.open(outcome, request, undefined, at);
  await record?.reach('ResponseComplete', 200);
  return { isOpen: auditor !== undefined, lines };
}

describe('flags that are refused', () => {
  test.each<readonly [readonly string[], RegExp]>([
    [['--audit-policy-file=/none'], /^--audit-policy-file=\/none: there is no such file$/],
    [['--audit-log-version=audit.svc.io/v2'], /must be audit.svc.io\/v1, there is no other one$/],
    [['--audit-webhook-version=audit.k8s.io/v1'], /^--audit-webhook-version=.* must be audit.svc/],
    [['--audit-log-maxage=-1'], /^--audit-log-maxage=-1: must not be less than 0$/],
    [
      ['--audit-log-mode=batch', '--audit-log-batch-buffer-size=0'],
      /^--audit-log-batch-buffer-size=0: must be a positive number$/,
    ],
    [
      ['--audit-webhook-batch-max-size=0'],
      /^--audit-webhook-batch-max-size=0: must be a positive number$/,
    ],
    [
      ['--audit-log-mode=batch', '--audit-log-batch-throttle-enable'],
      /^--audit-log-batch-throttle-qps=0: must be a positive number$/,
    ],
    [
      ['--audit-webhook-batch-throttle-burst=0'],
      /^--audit-webhook-batch-throttle-burst=0: must be a positive number$/,
    ],
    [
      ['--audit-log-truncate-enabled', '--audit-log-truncate-max-event-size=0'],
      /^--audit-log-truncate-max-event-size=0: must be a positive number$/,
    ],
    [
      ['--audit-log-truncate-enabled', '--audit-log-truncate-max-batch-size=7'],
      /batch-size=7: must not be less than --audit-log-truncate-max-event-size$/,
    ],
  ])('%j: %s', async (argv, message) => {
    await expect(opened(argv)).rejects.toThrow(message);
  });

  test.each([
    ['rules: [', /not valid YAML/],
    [
      { apiVersion: 'audit.svc.io/v1', kind: 'Policy', rules: [{ level: 'x' }] },
      /rules\[0\]\.level/,
    ],
    [{ apiVersion: 'audit.svc.io/v1', kind: 'Policy', rules: [] }, /no rules/],
  ])('a policy of %j: flag, file and fault', async (content, message) => {
    const file = written('bad.yaml', content);
    const opening = opened([`--audit-policy-file=${file}`, '--audit-log-path=-']);
    await expect(opening).rejects.toThrow(message);
    await expect(opened([`--audit-policy-file=${file}`])).rejects.toThrow(
      `--audit-policy-file=${file}: `,
    );
  });

  test('a path that cannot be written, and a webhook that cannot be called', async () => {
    const given = `--audit-policy-file=${policy}`;
    await expect(opened([given, `--audit-log-path=${policy}/x.log`])).rejects.toThrow(
      /^--audit-log-path=.*x.log: a part of its path is a file|is a file, not a folder/,
    );
    const config = written('kubeconfig', 'clusters: 3');
    await expect(opened([given, `--audit-webhook-config-file=${config}`])).rejects.toThrow(
      `--audit-webhook-config-file=${config}: `,
    );
  });
});

describe('what is opened', () => {
  test('nothing, without a policy or a place for events, which the log tells', async () => {
    expect(await opened([])).toEqual({ isOpen: false, lines: [] });
    const noPolicy = await opened(['--audit-log-path=-']);
    expect(noPolicy.isOpen).toBe(false);
    expect(noPolicy.lines[0]).toContain('there is no --audit-policy-file');
    const noPlace = await opened([`--audit-policy-file=${policy}`]);
    expect(noPlace.isOpen).toBe(false);
    expect(noPlace.lines[0]).toContain('no flag says where to');
  });

  test.each([
    ['blocking', '{"kind":"Event","apiVersion":"audit.svc.io/v1","level":"Metadata"'],
    ['blocking-strict', '{"kind":"Event"'],
    ['batch', '{"kind":"Event"'],
  ])('a log in mode %s, which has everything when the server has stopped', async (mode, line) => {
    const path = join(folder, mode, 'audit.log');
    const wait =
      mode === 'batch' ? ['--audit-log-batch-max-wait=1h', '--audit-log-batch-max-size=9'] : [];
    const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${path}`, ...wait];
    const { isOpen } = await opened([...flags, `--audit-log-mode=${mode}`]);
    expect(isOpen).toBe(true);
    expect(readFileSync(path, 'utf8').startsWith(line)).toBe(true);
  });

  test('a log in the older format', async () => {
    const path = join(folder, 'legacy.log');
    const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${path}`];
    await opened([...flags, '--audit-log-format=legacy']);
    expect(readFileSync(path, 'utf8')).toMatch(/^\S+Z AUDIT: id="id" stage="ResponseComplete" /);
  });
});

test('what is recorded, lost and refused is counted', () => {
  const metrics = testMetrics();
  const lost = new LostEvents(
    createLogger('error', () => undefined),
    new ManualClock(),
  );
  const observer = auditObserver(metrics, lost);
  observer.evaluated('None');
  observer.evaluated('Metadata');
  observer.evaluated('Metadata');
  observer.recorded();
  observer.lost('buffered', 3, 'full');
  observer.rejected();
  const { series } = metrics;
  expect(series.apiserver_audit_level_total.child('None').value).toBe(1);
  expect(series.apiserver_audit_level_total.child('Metadata').value).toBe(2);
  expect(series.apiserver_audit_event_total.child().value).toBe(1);
  expect(series.apiserver_audit_error_total.child('buffered').value).toBe(3);
  expect(series.apiserver_audit_requests_rejected_total.child().value).toBe(1);
});

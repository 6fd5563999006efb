import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lib/base/clock.ts';
import { createLogger } from '../../lib/base/log.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { clientParts } from './client-parts.ts';
import { openTokenWebhook } from './token-webhook.ts';

const folder = mkdtempSync(join(tmpdir(), 'apiserver-token-webhook-'));
afterAll(() => rmSync(folder, { recursive: true }));

const config = (server: string): string => `
current-context: c
contexts: [{ name: c, context: { cluster: hook } }]
clusters: [{ name: hook, cluster: { server: "${server}" } }]
`;
const name = 'authentication-token-webhook-config-file';

async function open(flagTexts: readonly string[]): Promise<boolean> {
  await using started = new AsyncDisposableStack();
  const { flags } = parseFlags(flagTexts);
  const logger = createLogger('error');
  const calls = clientParts({ logger, clock: systemClock, metrics: testMetrics() });
  const base = { flags, calls, started };
  return (await openTokenWebhook(base)) !== undefined;
}

describe('--authentication-token-webhook-config-file', () => {
  test('a client configuration opens it, no flag opens nothing', async () => {
    const file = join(folder, 'good');
    writeFileSync(file, config('https://hook.example/authenticate'));
    expect([await open([`--${name}=${file}`]), await open([])]).toEqual([true, false]);
  });

  test.each([
    ['absent', undefined, 'cannot be read'],
    ['no-yaml', '{ "token": "secret', 'not YAML'],
    ['no-server', 'current-context: c\n', 'contexts'],
    ['plain-http', config('http://hook.example'), 'is no https:// URL'],
  ])('that is %s refuses the start, and quotes nothing of it', async (file, text, why) => {
    const path = join(folder, file);
    if (text !== undefined) writeFileSync(path, text);
    const opening = open([`--${name}=${path}`]);
    await expect(opening).rejects.toThrow(`--${name}=${path}: `);
    await expect(opening).rejects.toThrow(why);
    await expect(opening).rejects.not.toThrow('secret');
  });

  test('a version that is none is refused', () => {
    expect(() => parseFlags(['--authentication-token-webhook-version=v2'])).toThrow('v1beta1, v1');
  });
});

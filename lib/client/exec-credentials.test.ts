// Programs that say as whom the server calls: what they are told, how long their answer is kept,
// and what comes of those that fail.
import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../base/limits.ts';
import { createLogger } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { openTarget } from './open-target.ts';
import type { Target } from './target.ts';
import { ExecPlugins } from './exec-credentials.ts';
import { call, clientParts, errorOf, until } from './testing/open-calls.ts';
import { RawServer, answerOk, answerText, hookTls } from './testing/raw-server.ts';
import type { Answering } from './testing/raw-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'exec-'));
afterAll(() => rmSync(folder, { recursive: true }));

const v1 = 'client.authentication.k8s.io/v1';
let count = 0;

interface Fixture {
  readonly target: Target;
  readonly clock: ManualClock;
  readonly log: string[];
  /** Since the begin. */
  readonly runCount: () => number;
}

/** `script` has `run`, from 1, and `answer(status)`. */
async function withPlugin(
  url: string,
  script: string,
  options: { readonly exec?: object; readonly user?: object; readonly cluster?: object } = {},
): Promise<Fixture> {
  const id = String(count++);
  const runs = join(folder, `${id}.runs`);
  const { ca } = await hookTls();
  const program = join(folder, `${id}.cjs`);
  writeFileSync(runs, '');
  writeFileSync(
    program,
    `const fs = require('node:fs');
    fs.appendFileSync(${JSON.stringify(runs)}, 'x');
    const run = fs.readFileSync(${JSON.stringify(runs)}, 'utf8').length;
    const answer = (status, more = {}) => process.stdout.write(JSON.stringify(
      { kind: 'ExecCredential', apiVersion: '${v1}', status, ...more }));
    ${script}`,
  );
  const exec = {
    ...{ apiVersion: v1, command: process.execPath, args: [program], interactiveMode: 'Never' },
    ...options.exec,
  };
  const data = Buffer.from(ca.cert).toString('base64');
  const kubeconfig = {
    clusters: [
      {
        name: 'c',
        cluster: { server: url, 'certificate-authority-data': data, ...options.cluster },
      },
    ],
    users: [{ name: 'u', user: { exec, ...options.user } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const kubeconfigFile = join(folder, `${id}.yaml`);
  writeFileSync(kubeconfigFile, JSON.stringify(kubeconfig));
  const clock = new ManualClock();
  const log: string[] = [];
  const logger = createLogger('debug', (line) => void log.push(line));
  const plugins = new ExecPlugins({ clock, log: logger });
  const parts = { ...clientParts(), clock, log: logger, plugins };
  const target = await openTarget({ kubeconfigFile }, parts);
  return { target, clock, log, runCount: () => readFileSync(runs, 'utf8').length };
}

const tokensOf = (server: RawServer): (string | undefined)[] =>
  server.requests.map(({ head }) => /^authorization: Bearer (.*)$/im.exec(head)?.[1]);
const refusing =
  (isRefused: (token: string) => boolean): Answering =>
  ({ head, socket }) => {
    const token = /^authorization: Bearer (.*)$/im.exec(head)?.[1]?.trim() ?? '';
    socket.write(answerText('{}', isRefused(token) ? { status: '401 Unauthorized' } : {}));
  };

describe('a program', () => {
  test('names who calls, beside whom it acts as, and is run once for all', async () => {
    await using server = await RawServer.start(answerOk);
    const script = 'setTimeout(() => answer({ token: `t-${run}` }), 50)';
    const user = { as: 'other', 'as-groups': ['a', 'b'] };
    const { target, runCount } = await withPlugin(server.url, script, { user });
    await Promise.all([call(target), call(target), call(target)]);
    await call(target);
    expect(runCount()).toBe(1);
    expect(tokensOf(server)).toEqual(['t-1', 't-1', 't-1', 't-1']);
    const head = server.requests[0]?.head ?? '';
    expect(head).toMatch(/^impersonate-user: other\r$/m);
    expect(head).toMatch(/^impersonate-group: a\r\nimpersonate-group: b$/m);
    target.close();
  });

  test('may give a certificate; the next one is shown on other connections', async () => {
    const { ca } = await hookTls();
    const pairs = await Promise.all(
      ['one', 'two'].map((commonName) => ca.issue({ use: 'clientAuth', commonName })),
    );
    const tls = { requestCert: true, rejectUnauthorized: true, ca: ca.cert };
    const shown: string[] = [];
    await using server = await RawServer.start((request) => {
      shown.push(String(request.socket.getPeerCertificate().subject.CN));
      answerOk(request);
    }, tls);
    const script = `const { cert, key } = ${JSON.stringify(pairs)}[run - 1];
      answer({ clientCertificateData: cert, clientKeyData: key,
        expirationTimestamp: run === 1 ? '1969-01-01T00:00:00Z' : null });`;
    const { target, clock } = await withPlugin(server.url, script);
    await call(target);
    clock.pass(limits.clientExecRestMs);
    await call(target);
    await call(target);
    expect(shown).toEqual(['one', 'two', 'two']);
    target.close();
  });

  test('is asked again when its answer has expired', async () => {
    await using server = await RawServer.start(answerOk);
    const script = 'answer({ token: `t-${run}`, expirationTimestamp: process.env.UNTIL });';
    const clock = new ManualClock();
    const until = new Date(clock.nowMs() + 60_000).toISOString();
    const exec = { env: [{ name: 'UNTIL', value: until }] };
    const made = await withPlugin(server.url, script, { exec });
    await call(made.target);
    made.clock.pass(59_000);
    await call(made.target);
    made.clock.pass(1_000);
    await call(made.target);
    expect(tokensOf(server)).toEqual(['t-1', 't-1', 't-2']);
    made.target.close();
  });

  test('is asked once more when a server refuses its answer, and not at every call', async () => {
    await using server = await RawServer.start(refusing((token) => token === 't-1'));
    const { target, runCount, clock } = await withPlugin(
      server.url,
      'answer({ token: `t-${run}` });',
    );
    expect((await call(target)).status).toBe(200);
    expect(tokensOf(server)).toEqual(['t-1', 't-2']);
    server.answerWith(refusing(() => true));
    for (let tries = 0; tries < 3; tries++) {
      expect((await errorOf(call(target))).failure).toMatchObject({ kind: 'status', status: 401 });
    }
    expect(runCount()).toBeLessThanOrEqual(3);
    clock.pass(limits.clientExecRestMs);
    await errorOf(call(target));
    expect(runCount()).toBeLessThanOrEqual(4);
    target.close();
  });

  test.each([
    [v1, 'KUBERNETES_EXEC_INFO'],
    ['client.authentication.svc.io/v1', 'SVC_EXEC_INFO'],
  ])('of %s is told where it calls, by %s, and answers in any spelling', async (version, name) => {
    await using server = await RawServer.start(answerOk);
    const script = `process.stderr.write(process.env.${name}); answer({ token: 'some-token' });`;
    const exec = { apiVersion: version, provideClusterInfo: true };
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { a: 1 } }];
    const cluster = { extensions, 'tls-server-name': 'localhost' };
    const { target, log } = await withPlugin(server.url, script, { exec, cluster });
    await call(target);
    const { said } = JSON.parse(log.find((line) => line.includes('"said"')) ?? '{}') as {
      said: string;
    };
    expect(said).toContain(`"apiVersion":"${version}"`);
    expect(said).toContain('"interactive":false');
    expect(said).toContain(`"server":"${server.url}"`);
    expect(said).toContain('"tls-server-name":"localhost"');
    expect(said).toContain('"config":{"a":1}');
    target.close();
  });
});

describe('a program that', () => {
  const missing = { command: 'no-such-plugin', installHint: 'Ask for it.' };
  test.each<[claim: string, script: string, reason: string, exec?: object]>([
    ['is not there', '', 'executable no-such-plugin not found: Ask for it.', missing],
    ['fails', 'process.exit(3)', 'executable NODE failed with exit code 3'],
    [
      'is killed',
      "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 9e3)",
      'executable NODE was ended by SIGTERM',
    ],
    ['prints no JSON', "console.log('t0psecret')", 'executable NODE: its output is not JSON'],
    ['prints nothing', '', 'executable NODE: its output is not JSON'],
    [
      'prints another kind',
      "answer({}, { kind: 'X' })",
      'executable NODE: its output is not of kind ExecCredential',
    ],
    [
      'prints another version',
      `answer({ token: 't' }, { apiVersion: '${v1}beta1' })`,
      `executable NODE: it is configured for ${v1} and answers in "${v1}beta1"`,
    ],
    ['has no status', 'answer(undefined)', 'executable NODE: its output has no status'],
    [
      'has no credentials',
      "answer({ token: '' })",
      'executable NODE: its output has neither a token nor a certificate with its key',
    ],
    [
      'has half a pair',
      "answer({ clientKeyData: 't0psecret' })",
      'executable NODE: its output has only one of clientCertificateData and clientKeyData',
    ],
    [
      'has a bad time',
      "answer({ token: 't0psecret', expirationTimestamp: 'soon' })",
      'executable NODE: expirationTimestamp of its output is no time',
    ],
    [
      'prints without end',
      "process.stdout.write('x'.repeat(2e6)); setInterval(() => {}, 1e3)",
      `executable NODE prints more than ${String(limits.clientExecOutputBytesMax)} bytes`,
    ],
  ])(
    '%s fails the call, and is not run again at once',
    async (_claim, script, reason, exec = {}) => {
      const { target, log, runCount } = await withPlugin('https://127.0.0.1:1/', script, { exec });
      const error = await errorOf(call(target));
      const said = `exec: ${reason.replace('NODE', process.execPath)}`;
      expect(error.failure).toEqual({
        kind: 'credentials',
        reason: `getting credentials: ${said}`,
      });
      expect(error.place?.step).toBe('credentials');
      await errorOf(call(target));
      expect(runCount()).toBeLessThanOrEqual(1);
      expect(`${error.message} ${log.join()}`).not.toContain('t0psecret');
      target.close();
    },
  );

  test('gives a token that no header may have fails the call', async () => {
    const { target } = await withPlugin('https://127.0.0.1:1/', "answer({ token: 'a b\\n' })");
    expect((await errorOf(call(target))).reason).toBe(
      'getting credentials: the token holds nothing, or characters that no header may have',
    );
    target.close();
  });

  test('does not end is ended, and a call waits for it no longer than it has time', async () => {
    const script = 'setInterval(() => {}, 1e3)';
    const { target, clock } = await withPlugin('https://127.0.0.1:1/', script);
    const early = errorOf(call(target, { timeoutMs: 1_000 }));
    const late = errorOf(call(target, { timeoutMs: 100_000 }));
    await until(() => clock.waitsMs.includes(limits.clientExecTimeoutMs));
    clock.pass(1_000);
    expect((await early).failure).toEqual({ kind: 'timeout', step: 'credentials' });
    clock.pass(limits.clientExecTimeoutMs);
    expect((await late).reason).toMatch(/exec: executable .* has not ended in 60 s$/);
    target.close();
  });

  test('writes to standard error is heard in the log, without secrets', async () => {
    await using server = await RawServer.start(answerOk);
    const script = `process.stderr.write('login of t0psecret\\n\\u001b[1mAuthorization: ' +
      'Bearer abc.def ' +
      'password=hunter2 by ' + process.env.CLIENT_SECRET); answer({ token: 't0psecret' });`;
    const exec = { env: [{ name: 'CLIENT_SECRET', value: 'of-the-client' }] };
    const { target, log } = await withPlugin(server.url, script, { exec });
    await call(target);
    const line = log.find((one) => one.includes('"said"')) ?? '{}';
    expect((JSON.parse(line) as { said: string }).said).toBe(
      'login of *** [1mAuthorization: Bearer *** password=*** by ***',
    );
    target.close();
  });
});

import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../base/limits.ts';
import { createLogger } from '../base/log.ts';
import { createTestCa } from '../base/testing/certificates.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { openTarget } from './open-target.ts';
import type { ClientParts } from './open-target.ts';
import { call, clientParts, failureOf, until } from './testing/open-calls.ts';
import { RawServer, answerOk, hookTls } from './testing/raw-server.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

interface Fixture {
  readonly parts: ClientParts;
  readonly clock: ManualClock;
  readonly log: string[];
  readonly file: (name: string) => string;
  readonly write: (name: string, text: string) => Promise<void>;
  /** Lets the time until the next look at the files pass, and waits for the look to be over. */
  readonly look: () => Promise<void>;
}

async function fixture(): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'client-'));
  folders.push(folder);
  const clock = new ManualClock();
  const log: string[] = [];
  const file = (name: string): string => join(folder, name);
  const parts = {
    ...clientParts(),
    clock,
    log: createLogger('debug', (line) => void log.push(line)),
  };
  const look = async (): Promise<void> => {
    clock.pass(limits.clientFilesIntervalMs);
    await until(() => clock.waitsMs.includes(limits.clientFilesIntervalMs));
  };
  const write = (name: string, text: string): Promise<void> => writeFile(file(name), text);
  return { parts, clock, log, file, write, look };
}

const kubeconfig = (url: string): string => `
apiVersion: v1
kind: Config
clusters:
- name: hook
  cluster: { server: "${url}", certificate-authority: ca.crt }
users:
- name: api
  user: { client-certificate: api.crt, client-key: api.key, tokenFile: token }
contexts:
- name: c
  context: { cluster: hook, user: api }
current-context: c
`;

/** A server that wants a client certificate, and files that have one. */
async function configured(server: RawServer): Promise<Fixture> {
  const made = await fixture();
  const { ca } = await hookTls();
  const { cert, key } = await ca.issue({ use: 'clientAuth', commonName: 'api-1' });
  await made.write('hook.yaml', kubeconfig(server.url));
  await made.write('ca.crt', ca.cert);
  await made.write('api.crt', cert);
  await made.write('api.key', key);
  await made.write('token', 'first-token\n');
  return made;
}

const problemsOf = (log: string[]): string[] =>
  log
    .splice(0)
    .filter((line) => line.includes('"warn"'))
    .map((line) => (JSON.parse(line) as { problem: string }).problem);

const wantsCertificate = async (): Promise<object> => {
  const { ca } = await hookTls();
  return { requestCert: true, rejectUnauthorized: true, ca: ca.cert };
};

describe('a client configuration file', () => {
  test('says where and as whom to call', async () => {
    await using server = await RawServer.start(answerOk, await wantsCertificate());
    const { parts, file } = await configured(server);
    const target = await openTarget({ kubeconfigFile: file('hook.yaml') }, parts);
    await call(target);
    const [request] = server.requests;
    expect(request?.head).toContain('authorization: Bearer first-token');
    expect(request?.head).toMatch(/^POST \/hook HTTP/);
    expect(request?.socket.getPeerCertificate().subject.CN).toBe('api-1');
    target.close();
  });

  test('is followed: token, client certificate, CA and the file itself', async () => {
    await using server = await RawServer.start(answerOk, await wantsCertificate());
    const { parts, file, write, look, log } = await configured(server);
    const target = await openTarget({ kubeconfigFile: file('hook.yaml') }, parts);
    await call(target);
    await look();
    expect(log).toEqual([]);

    await write('token', 'second-token');
    await look();
    await call(target);
    expect(server.requests[1]?.head).toContain('authorization: Bearer second-token');

    const { ca } = await hookTls();
    const next = await ca.issue({ use: 'clientAuth', commonName: 'api-2' });
    await write('api.crt', next.cert);
    await write('api.key', next.key);
    await look();
    await call(target);
    expect(server.requests[2]?.socket.getPeerCertificate().subject.CN).toBe('api-2');

    const newCa = await createTestCa('new-ca');
    await write('ca.crt', newCa.cert);
    await look();
    expect((await failureOf(call(target))).kind).toBe('tls');
    const presented = await newCa.issue({ use: 'serverAuth', commonName: 'hook' });
    server.present({ ...presented, ca: ca.cert });
    await call(target);

    await using moved = await RawServer.start(answerOk);
    await write('hook.yaml', kubeconfig(moved.url));
    await write('ca.crt', ca.cert);
    await look();
    await call(target);
    expect(moved.requests.length).toBe(1);
    await until(() => server.openCount === 0);
    expect(log.filter((line) => line.includes('has changed')).length).toBe(4);
    target.close();
  });

  test('that is half written changes nothing, and one line without secrets says so', async () => {
    await using server = await RawServer.start(answerOk, await wantsCertificate());
    const { parts, file, write, look, log } = await configured(server);
    const target = await openTarget({ kubeconfigFile: file('hook.yaml') }, parts);
    const { ca } = await hookTls();
    const next = await ca.issue({ use: 'clientAuth', commonName: 'api-2' });
    const halfOf = (text: string): string => text.slice(0, text.length / 2);
    const problems: string[] = [];
    const afterWriting = async (name: string, text: string, whole: string): Promise<void> => {
      await write(name, text);
      await look();
      await look();
      expect((await call(target)).status).toBe(200);
      problems.push(...problemsOf(log));
      await write(name, whole);
      await look();
    };
    // The new certificate has come, its key has not.
    await afterWriting('api.crt', next.cert, next.cert);
    await afterWriting('api.key', halfOf(next.key), next.key);
    await afterWriting('ca.crt', ca.cert + halfOf(ca.cert), ca.cert);
    await afterWriting('ca.crt', '', ca.cert);
    await afterWriting('token', ' \n', 'third-token');
    await afterWriting('hook.yaml', 'clusters: [', kubeconfig(server.url));
    await afterWriting('hook.yaml', '', kubeconfig(server.url));
    await rm(file('token'));
    await look();
    problems.push(...problemsOf(log));
    expect(problems).toEqual([
      'the client certificate and its key are no pair of PEM texts that can be used ' +
        '(key values mismatch)',
      expect.stringMatching(/^the client certificate and its key are no pair of PEM texts/),
      'the CA bundle is not one PEM certificate or more',
      'the CA bundle is not one PEM certificate or more',
      'the token holds nothing, or characters that no header may have',
      'not YAML',
      'not YAML',
      `${file('token')} cannot be read: ENOENT`,
    ]);
    target.close();
  });

  test('that cannot be used at first is an error', async () => {
    await using server = await RawServer.start(answerOk);
    const { parts, file, write, clock } = await configured(server);
    await write('ca.crt', 'no certificate');
    const opening = openTarget({ kubeconfigFile: file('hook.yaml') }, parts);
    await expect(opening).rejects.toThrow('the CA bundle is not one PEM certificate or more');
    const missing = openTarget({ kubeconfigFile: file('none.yaml') }, parts);
    await expect(missing).rejects.toThrow(/none\.yaml cannot be read: ENOENT/);
    expect(clock.waitsMs).toEqual([]);
  });

  test('is followed no more once the target is closed', async () => {
    await using server = await RawServer.start(answerOk);
    const { parts, file, clock, write, log } = await configured(server);
    const target = await openTarget({ kubeconfigFile: file('hook.yaml') }, parts);
    expect(clock.waitsMs).toEqual([limits.clientFilesIntervalMs]);
    // In the middle of a look.
    await write('token', 'other-token');
    clock.pass(limits.clientFilesIntervalMs);
    target.close();
    const next = await openTarget({ kubeconfigFile: file('hook.yaml') }, parts);
    next.close();
    expect(clock.waitsMs).toEqual([]);
    expect(log).toEqual([]);
  });
});

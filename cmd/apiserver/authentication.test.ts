import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../lib/base/log.ts';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import { unionAuthenticator } from '../../lib/authn/union.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { openAuthentication } from './authentication.ts';
import { openBase } from './base.ts';
import type { Base } from './base.ts';
import { makeCa } from './pki.ts';
import { followServingTls } from './serving-tls.ts';
import { openTrustedCertificates } from './trusted-certificates.ts';

const { signal } = new AbortController();
const [first, second] = [await createTestCa('first'), await createTestCa('second')];
const ca = await makeCa('shared');
const shared = {
  ca,
  continueKey: new Uint8Array(),
  serviceAccountKey: { key: '', publicKey: '' },
  serviceAccountIssuer: '',
};

let folder: string;
let log: string[];
let started: AsyncDisposableStack;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'authentication-'));
  log = [];
  started = new AsyncDisposableStack();
});
afterEach(async () => {
  await started.disposeAsync();
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
};

function open(...argv: string[]): Base {
  const { flags, given } = parseFlags([`--data-dir=${join(folder, 'data')}`, ...argv]);
  const logger = createLogger('info', (line) => void log.push(line));
  return openBase({ flags, flagTexts: new Map(), givenFlags: given, logger, signal, started });
}
const opened = (...argv: string[]) => {
  const base = open(...argv);
  const trusted = openTrustedCertificates(base, shared);
  const { authenticator } = openAuthentication(base, {
    shared,
    trusted,
    serviceAccounts: unionAuthenticator([]),
    webhook: undefined,
    viewOf: () => undefined,
  });
  return { base, trusted, authenticator };
};

async function connectedBy(issuer: typeof first) {
  const { cert } = await issuer.issue({ use: 'clientAuth', commonName: 'proxy' });
  const certificate = new X509Certificate(cert);
  return { remoteAddress: '192.0.2.1', certificate, intermediates: [] };
}

async function until(claim: () => boolean): Promise<void> {
  for (let tries = 0; !claim() && tries < 1_000; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(claim()).toBe(true);
}

const frontProxy = (path: string): string[] => [
  `--requestheader-client-ca-file=${path}`,
  '--requestheader-username-headers=X-Remote-User',
];

describe('flags of the front proxy', () => {
  test('uid headers need their gate', () => {
    const argv = [
      ...frontProxy(file('ca', first.cert)),
      '--requestheader-uid-headers=X-Remote-Uid',
    ];
    expect(() => opened(...argv)).not.toThrow();
  });

  test('uid headers are refused without their gate', () => {
    const gate = '--feature-gates=RemoteRequestHeaderUID=false';
    expect(() => opened('--requestheader-uid-headers=X-Remote-Uid', gate)).toThrow(
      /--requestheader-uid-headers needs/,
    );
  });

  test('--requestheader-username-headers: required beside --requestheader-client-ca-file', () => {
    const argv = [`--requestheader-client-ca-file=${file('ca', first.cert)}`];
    expect(() => opened(...argv)).toThrow(/needs --requestheader-username-headers/);
  });

  test('--requestheader-client-ca-file: required, headers without it are warned of', () => {
    opened('--requestheader-username-headers=X-Remote-User');
    expect(log.join('')).toContain('have no effect without --requestheader-client-ca-file');
  });
});

test('--anonymous-auth: default on when the mode is not AlwaysAllow', () => {
  opened('--authorization-mode=AlwaysAllow');
  expect(log.join('')).toContain('--anonymous-auth is off');
});

describe('a CA file that changes', () => {
  const fido = ['X-Remote-User', 'fido'];

  test('is in force at once for open connections; a broken one changes nothing', async () => {
    const clients = file('clients', first.cert);
    const fronts = file('fronts', first.cert);
    const { base, trusted, authenticator } = opened(
      `--client-ca-file=${clients}`,
      ...frontProxy(fronts),
    );
    const shown: (string | undefined)[] = [];
    const serving = { ...ca, clientCa: '', named: [] };
    const setTls = ({ clientCa }: { readonly clientCa: string | undefined }) =>
      void shown.push(clientCa);
    followServingTls(base, { setTls }, { serving, trusted });
    const connections = [await connectedBy(first), await connectedBy(second)];
    const users = () =>
      connections.map((connection) => {
        const credentials = { token: undefined, rawHeaders: fido, audiences: [] };
        const answer = authenticator.authenticate({ ...credentials, connection }, {
          signal,
        } as never);
        return 'user' in answer ? answer.user.name : answer;
      });
    const rejected = { outcome: 'rejected', reason: expect.any(String) };
    expect(users()).toEqual(['fido', rejected]);

    file('fronts', second.cert);
    await until(() => log.join('').includes('--requestheader-client-ca-file: new certificates'));
    expect(users()).toEqual(['proxy', 'fido']);

    file('clients', second.cert);
    await until(() => log.join('').includes('--client-ca-file: new certificates'));
    expect(users()).toEqual([rejected, 'fido']);
    expect(shown.at(-1)).toBe(`${ca.cert.trim()}\n${second.cert.trim()}\n${second.cert.trim()}\n`);

    const before = shown.length;
    file('clients', 'nothing');
    await until(() =>
      log.join('').includes('--client-ca-file: the new certificates cannot be used'),
    );
    expect(users()).toEqual([rejected, 'fido']);
    expect(shown).toHaveLength(before);
  });
});

test('a serving certificate that changes with its key is shown, half a pair is not', async () => {
  const pair = await first.issue({ use: 'serverAuth', commonName: 'a' });
  const next = await first.issue({ use: 'serverAuth', commonName: 'b' });
  const cert = file('cert', pair.cert);
  const { base, trusted } = opened(
    `--tls-cert-file=${cert}`,
    `--tls-private-key-file=${file('key', pair.key)}`,
  );
  const shown: string[] = [];
  const setTls = (tls: { readonly cert: string }) => void shown.push(tls.cert.trim());
  const serving = { ...pair, cert: `${pair.cert.trim()}\n`, clientCa: '', named: [] };
  followServingTls(base, { setTls }, { serving, trusted });
  file('cert', next.cert);
  await until(() => log.join('').includes('the one before stays in force'));
  expect(shown).toEqual([]);
  file('key', next.key);
  await until(() => shown.length > 0);
  expect(shown).toEqual([next.cert.trim()]);
});

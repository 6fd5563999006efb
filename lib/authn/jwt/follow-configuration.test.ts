// Changes of the configuration file while requests are served.
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createLogger } from '../../base/log.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { signingAlgorithms } from '../../config/authentication-flags.ts';
import { ask, jwtParts, testContext } from '../testing/jwt-parts.ts';
import { TokenIssuer, issuerKey } from '../testing/token-issuer.ts';
import type { IssuerKey } from '../testing/token-issuer.ts';
import { readAuthenticationConfiguration } from './configuration.ts';
import { ConfigurationFollower } from './follow-configuration.ts';
import { ReloadingJwt } from './reloading-jwt.ts';
import { compileConfiguration } from './validate.ts';

const context = testContext();
let key: IssuerKey;
const ending: (() => void)[] = [];

beforeAll(async () => {
  key = await issuerKey('1');
});
afterEach(() => {
  for (const end of ending.splice(0)) end();
});

interface Listed {
  readonly of: Pick<TokenIssuer, 'url' | 'ca'>;
  readonly prefix?: string;
}

/** Files are replaced, as editors and mounts do. */
function textOf(issuers: readonly Listed[], more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: issuers.map(({ of, prefix = '' }) => ({
      issuer: { url: of.url, certificateAuthority: of.ca, audiences: ['client'] },
      claimMappings: { username: { claim: 'sub', prefix } },
    })),
    ...more,
  });
}

async function follow(text: string, timers?: ManualClock) {
  const folder = mkdtempSync(join(tmpdir(), 'authn-config-'));
  const path = join(folder, 'config.yaml');
  writeFileSync(path, text);
  const log: string[] = [];
  const reloads: string[] = [];
  const configuration = readAuthenticationConfiguration(text, context.naming);
  const logger = createLogger('info', (line) => log.push(line));
  const clock = timers === undefined ? systemClock : { ...systemClock, ...afterOf(timers) };
  const compiled = compileConfiguration(configuration, context);
  const jwt = new ReloadingJwt(compiled, signingAlgorithms, jwtParts({ clock }));
  const follower = new ConfigurationFollower(
    jwt,
    { path, text, configuration },
    {
      clock: systemClock,
      logger,
      context,
      onReload: (result) => reloads.push(result === 'failure' ? result : 'success'),
    },
  );
  ending.push(() => {
    follower.close();
    jwt.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await Promise.all(jwt.issuers.map(({ keys }) => keys.ready));
  const write = (changed: string): void => {
    writeFileSync(`${path}.new`, changed);
    renameSync(`${path}.new`, path);
  };
  return { jwt, follower, path, write, log, reloads };
}

const afterOf = (timers: ManualClock) => ({
  after: (delayMs: number, run: () => void) => timers.after(delayMs, run),
});

/** It ends with the test that waits, whatever becomes of that. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn++) {
    if (holds()) return;
    await later(5);
  }
  throw new Error('it does not come');
}

const nameOf = async (jwt: ReloadingJwt, token: string): Promise<string> => {
  const answer = await ask(jwt, token);
  return answer.outcome === 'accepted' ? answer.user.name : answer.outcome;
};

test('a changed file is in force as a whole; issuers that stay keep their keys', async () => {
  await using one = await TokenIssuer.start([key]);
  await using two = await TokenIssuer.start([key]);
  const { jwt, write, reloads } = await follow(textOf([{ of: one }]));
  const [a, b] = await Promise.all([one.sign({ sub: 'a' }), two.sign({ sub: 'b' })]);
  expect([await nameOf(jwt, a), await nameOf(jwt, b)]).toEqual(['a', 'absent']);
  write(textOf([{ of: one }, { of: two }]));
  await until(() => reloads.length === 1);
  expect([await nameOf(jwt, a), await nameOf(jwt, b)]).toEqual(['a', 'b']);
  expect(one.hits.get('/keys')).toBe(1);
  write(textOf([{ of: two, prefix: 'x:' }]));
  await until(() => reloads.length === 2);
  expect([await nameOf(jwt, a), await nameOf(jwt, b)]).toEqual(['absent', 'x:b']);
  write(textOf([]));
  await until(() => reloads.length === 3);
  expect([await nameOf(jwt, a), await nameOf(jwt, b)]).toEqual(['absent', 'absent']);
  expect(reloads).toEqual(['success', 'success', 'success']);
});

describe('a file that cannot be used changes nothing, and says so', () => {
  const issuer = { url: 'http://a.tests', ca: '' };
  test.each<[claim: string, text: string, reason: string]>([
    ['no YAML', 'jwt: [', 'not valid YAML'],
    ['nothing', '', 'the file is empty'],
    ['a field that is none', textOf([], { jwts: [] }), 'unknown field'],
    ['an invalid field', textOf([{ of: issuer }]), 'URL scheme must be https'],
    [
      'other anonymous requests than at the start',
      textOf([], { anonymous: { enabled: true } }),
      'anonymous: Forbidden: changed from initial configuration file',
    ],
  ])('%s', async (_claim, text, reason) => {
    await using one = await TokenIssuer.start([key]);
    const { jwt, write, reloads, log } = await follow(textOf([{ of: one }]));
    write(text);
    await until(() => reloads.length > 0);
    expect(reloads).toEqual(['failure']);
    expect(log.join()).toContain(reason);
    expect(await nameOf(jwt, await one.sign({ sub: 'a' }))).toBe('a');
    write(textOf([{ of: one, prefix: 'x:' }]));
    await until(() => reloads.length > 1);
    expect(await nameOf(jwt, await one.sign({ sub: 'a' }))).toBe('x:a');
  });

  test('one that is gone', async () => {
    await using one = await TokenIssuer.start([key]);
    const { jwt, path, follower, reloads } = await follow(textOf([{ of: one }]));
    unlinkSync(path);
    await follower.look();
    await until(() => reloads.length > 0);
    expect(await nameOf(jwt, await one.sign({ sub: 'a' }))).toBe('a');
  });

  test('an issuer that is away: it is waited for, and tried until it comes', async () => {
    await using one = await TokenIssuer.start([key]);
    await using two = await TokenIssuer.start([key]);
    two.answers.set('/keys', (_, response) => void response.writeHead(503).end());
    const timers = new ManualClock();
    const { jwt, write, reloads, log } = await follow(textOf([{ of: one }]), timers);
    write(textOf([{ of: two }]));
    await until(() => two.hits.has('/keys'));
    const [a, b] = await Promise.all([one.sign({ sub: 'a' }), two.sign({ sub: 'b' })]);
    expect([await nameOf(jwt, a), await nameOf(jwt, b)]).toEqual(['a', 'absent']);
    timers.pass(limits.issuersReadyTimeoutMs);
    await until(() => reloads.length === 1);
    expect(reloads).toEqual(['failure']);
    expect(log.join()).toContain(`no keys of ${two.url} could be read`);
    expect([await nameOf(jwt, a), await nameOf(jwt, b)]).toEqual(['a', 'absent']);
    two.answers.clear();
    await until(() => {
      if (timers.waitsMs.includes(limits.issuerRetryIntervalMs)) {
        timers.pass(limits.issuerRetryIntervalMs);
      }
      return reloads.includes('success');
    });
    expect([await nameOf(jwt, a), await nameOf(jwt, b)]).toEqual(['absent', 'b']);
  });

  test('a newer change goes before one that waits', async () => {
    await using one = await TokenIssuer.start([key]);
    await using away = await TokenIssuer.start([key]);
    away.answers.set('/keys', (_, response) => void response.writeHead(503).end());
    const { jwt, write, reloads } = await follow(textOf([{ of: one }]));
    write(textOf([{ of: away }]));
    await until(() => away.hits.has('/keys'));
    write(textOf([{ of: one, prefix: 'x:' }]));
    await until(() => reloads.length > 0);
    expect(reloads).toEqual(['success']);
    expect(await nameOf(jwt, await one.sign({ sub: 'a' }))).toBe('x:a');
  });
});

test('reloads under load: not one wrong decision', async () => {
  await using stays = await TokenIssuer.start([key]);
  await using comes = await TokenIssuer.start([key]);
  await using never = await TokenIssuer.start([key]);
  const files = [
    textOf([{ of: stays }]),
    textOf([{ of: stays }, { of: comes, prefix: '1:' }]),
    textOf([{ of: comes, prefix: '2:' }, { of: stays }]),
    'jwt: [broken',
  ];
  const { jwt, write, reloads } = await follow(files[0] ?? '');
  let isOver = false;
  const wrong: string[] = [];
  let count = 0;
  const check = async (token: string, right: readonly string[]): Promise<void> => {
    const name = await nameOf(jwt, token);
    count++;
    if (!right.includes(name)) wrong.push(name);
  };
  const load = async (worker: number): Promise<void> => {
    for (let at = 0; !isOver; at++) {
      const sub = `${String(worker)}-${String(at)}`;
      const claims = { sub };
      await check(await stays.sign(claims), [sub]);
      await check(await comes.sign(claims), ['absent', `1:${sub}`, `2:${sub}`]);
      await check(await never.sign(claims), ['absent']);
      await check(await never.sign({ ...claims, iss: stays.url, aud: 'x' }), ['rejected']);
    }
  };
  const workers = Array.from({ length: 8 }, (_, worker) => load(worker));
  for (let turn = 1; turn <= 20; turn++) {
    const before = reloads.length;
    write(files[turn % files.length] ?? '');
    await until(() => reloads.length > before);
  }
  isOver = true;
  await Promise.all(workers);
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(100);
  expect(reloads).toContain('failure');
});

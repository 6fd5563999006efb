// The first contact with real members: one that answers, none, and one that speaks otherwise.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLogger } from '../../lib/base/log.ts';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import type { EtcdTlsFiles } from '../../lib/storage-etcd/endpoint.ts';
import { EtcdCluster } from '../../lib/storage-etcd/testing/etcd-process.ts';
import { reachEtcd, versionWarning } from './reach-etcd.ts';

let etcd: EtcdCluster;
let secure: EtcdCluster;
const never = new AbortController().signal;

beforeAll(async () => {
  [etcd, secure] = await Promise.all([EtcdCluster.start(), EtcdCluster.start({ tls: true })]);
});
afterAll(() => Promise.all([etcd.stop(), secure.stop()]));

/** The log lines of an attempt, and its failure. */
async function attempt(
  endpoints: readonly string[],
  options: { readonly tls?: EtcdTlsFiles; readonly signal?: AbortSignal } = {},
): Promise<{ lines: string[]; failure: unknown }> {
  const { tls = {}, signal = never } = options;
  const lines: string[] = [];
  const logger = createLogger('info', (line) => lines.push(line));
  const storage = new EtcdStorage({ endpoints, tls });
  try {
    await reachEtcd(storage, { endpoints, tls, logger, signal, timeoutMs: 1_500 });
    return { lines, failure: undefined };
  } catch (failure) {
    return { lines, failure };
  } finally {
    storage.close();
  }
}

const url = (cluster: EtcdCluster, scheme: string): string =>
  (cluster.endpoints[0] ?? '').replace(/^https?/, scheme);

describe('a start', () => {
  test('goes on as soon as a member answers, whatever the others do', async () => {
    const members = ['http://127.0.0.1:1', url(etcd, 'http')];
    expect(await attempt(members)).toEqual({ lines: [], failure: undefined });
    const tls = secure.tlsFiles ?? {};
    expect(await attempt(secure.endpoints, { tls })).toEqual({ lines: [], failure: undefined });
  });

  test('waits for etcd, says so, and gives up with the reason of each member', async () => {
    const { lines, failure } = await attempt(['http://127.0.0.1:1', 'http://127.0.0.1:2']);
    expect(lines).toEqual([expect.stringMatching(/"etcd does not answer yet".*127.0.0.1:2/)]);
    expect(failure).toMatchObject({
      name: 'FlagError',
      message:
        '--etcd-servers: etcd cannot be used: ' +
        'http://127.0.0.1:1 refuses connections: nothing listens there; ' +
        'http://127.0.0.1:2 refuses connections: nothing listens there',
    });
  });

  test('gives up at once where waiting will not help', async () => {
    const mixed = await attempt([url(secure, 'http')]);
    expect(mixed.lines).toEqual([]);
    expect(mixed.failure).toMatchObject({
      name: 'FlagError',
      message:
        `--etcd-servers: etcd cannot be used: ${url(secure, 'http')} speaks TLS: ` +
        'write https:// for it',
    });
    const plain = await attempt([url(etcd, 'https')]);
    expect(plain.lines).toEqual([]);
    expect(String(plain.failure)).toContain('speaks without TLS: write http:// for it');
  });

  test('ends a member that is connected to and silent', async () => {
    await etcd.pause(0);
    try {
      const { failure } = await attempt([url(etcd, 'http')]);
      expect(String(failure)).toContain(`${url(etcd, 'http')} takes connections and is silent`);
    } finally {
      etcd.resume(0);
    }
  });

  test('ends with the reason of whoever stops it', async () => {
    const stopping = AbortSignal.abort(new Error('stopped'));
    expect(String((await attempt(etcd.endpoints, { signal: stopping })).failure)).toBe(
      'Error: stopped',
    );
  });
});

test('versions: too old ends the start, old is told, the others pass', () => {
  expect(() => versionWarning('3.3.27')).toThrow(
    '--etcd-servers: etcd 3.3.27 is too old: use 3.5.24 or newer',
  );
  expect(versionWarning('3.4.23')).toMatch(/^etcd 3.4.23 cannot be trusted with progress requests/);
  expect(versionWarning('3.5.30')).toBeUndefined();
});

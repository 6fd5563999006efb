import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { effectOf, EtcdError, toStatusError } from './etcd-error.ts';
import { EtcdStorage } from './etcd-storage.ts';
import { EtcdCluster } from './testing/etcd-process.ts';

const never = new AbortController().signal;

async function failure(run: Promise<unknown>): Promise<StatusError> {
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StatusError) return error;
  throw new Error(`no StatusError: ${String(error)}`);
}

describe('what clients read of a failed call', () => {
  test.each([
    [status.UNAVAILABLE, 'etcdserver: no leader', 'etcdserver: no leader'],
    [status.UNAVAILABLE, 'connect ECONNREFUSED 10.0.0.7:2379', 'UNAVAILABLE'],
    [status.UNAUTHENTICATED, 'token of https://10.0.0.7:2379', 'UNAUTHENTICATED'],
    [99, 'made up by 10.0.0.7:2379', 'UNKNOWN'],
  ])('is etcd’s own word or the name of the code: %p %p', (code, text, shown) => {
    const error = new EtcdError(code, text);
    expect(toStatusError(error).message).toContain(`etcd refused: ${shown}`);
    expect(toStatusError(error).message).not.toContain('10.0.0.7');
    expect(toStatusError(error).cause).toBe(error);
  });
});

test.each([
  [status.UNAVAILABLE, 'etcdserver: no leader', 'notStarted'],
  [status.UNKNOWN, 'raft proposal dropped', 'notStarted'],
  [status.UNKNOWN, 'etcdserver: no leader', 'unknown'],
  [status.UNAVAILABLE, 'etcdserver: request timed out', 'unknown'],
  [status.FAILED_PRECONDITION, 'raft proposal dropped', 'final'],
])('the effect of a write that failed with %p %p is %s', (code, text, effect) => {
  expect(effectOf(new EtcdError(code, text))).toBe(effect);
});

test('of a full database: 503, what to do, and no time to repeat it after', () => {
  const text = 'etcdserver: mvcc: database space exceeded';
  const shown = toStatusError(new EtcdError(status.RESOURCE_EXHAUSTED, text));
  expect(shown).toMatchObject({ code: 503, reason: 'ServiceUnavailable', details: undefined });
  expect(shown.message).toMatch(/NOSPACE.*compacted and defragmented and the alarm is disarmed/);
  expect(shown.message).toContain('may have happened');
});

describe('without a member that answers', () => {
  let etcd: EtcdCluster;
  let storage: EtcdStorage;

  beforeAll(async () => {
    etcd = await EtcdCluster.start();
    const times = { readAttemptMs: 200, readTimeoutMs: 400, writeTimeoutMs: 400 };
    storage = new EtcdStorage({ ...etcd.connection, ...times });
    await storage.currentRevision(never);
  });

  afterAll(async () => {
    storage.close();
    await etcd.stop();
  });

  /** Address and port of the member, wherever they stand. */
  const address = (): RegExp => new RegExp(`127\\.0\\.0\\.1|${new URL(url()).port}|addr`);
  const url = (): string => etcd.endpoints[0] ?? '';
  const put = (): Promise<StatusError> =>
    failure(storage.put('/registry/a', Buffer.from('x'), { expected: 0 }, never));
  const read = (): Promise<StatusError> => failure(storage.get('/registry/a', never));

  test('a write whose outcome is unknown and a read name no address', async () => {
    await etcd.pause(0);
    try {
      const [written, probed] = [await put(), await storage.connection.probeMembers(never)];
      expect(written).toMatchObject({ code: 504, cause: expect.any(EtcdError) });
      expect(written.message).not.toMatch(address());
      expect(probed.join()).not.toMatch(address());
      const seen = await read();
      expect(seen).toMatchObject({ code: 503 });
      expect(seen.message).not.toMatch(address());
    } finally {
      etcd.resume(0);
    }
    await etcd.kill(0);
    for (const error of [await put(), await read()]) expect(error.message).not.toMatch(address());
  });
});

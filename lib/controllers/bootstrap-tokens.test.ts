// What is done with bootstrap tokens, on a real etcd: the cleaner removes them in time, the signer
// keeps cluster-info signed by them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { compactVerify } from 'jose';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { createLogger } from '../base/log.ts';
import { sleep } from '../base/abort.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { scope, sent, VerbDriver } from '../registry/testing/verb-driver.ts';
import { BootstrapSigner } from './bootstrap-signer.ts';
import { controllerUser } from './controller-user.ts';
import { during } from './testing/run-controller.ts';
import { TokenCleaner } from './bootstrap-token-cleaner.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let secrets: ResourceStore;
let configMaps: ResourceStore;
let system: string;
let open: string;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
});
afterAll(async () => {
  await registry.stop();
});
beforeEach(async () => {
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  [secrets, configMaps] = [replica.store('secrets'), replica.store('configmaps')];
  [system, open] = [replica.naming.systemNamespace, replica.naming.publicNamespace];
  for (const store of [secrets, configMaps]) {
    for (const namespace of [system, open]) {
      for (const { name } of (await verbs.list(store, '', namespace)).items) {
        await remove(store, namespace, name);
      }
    }
  }
});

async function remove(store: ResourceStore, namespace: string, name: string): Promise<void> {
  const client = internalClient(controllerUser(replica.naming, 'test'));
  await client.delete(store, { path: { namespace, name, subresource: '' } }, scope().signal);
}

/** Runs its timers when the time is set past them. */
class SetClock implements Clock {
  #nowMs = Date.parse('2026-06-01T12:00:00Z');
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  nowMs = (): number => this.#nowMs;
  monotonicMs = (): number => systemClock.monotonicMs();

  get waits(): readonly number[] {
    return [...this.#timers].map(({ atMs }) => atMs - this.#nowMs);
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  advance(byMs: number): void {
    this.#nowMs += byMs;
    for (const timer of [...this.#timers]) {
      if (timer.atMs > this.#nowMs) continue;
      this.#timers.delete(timer);
      timer.run();
    }
  }
}

const context = (clock: Clock) => ({
  secrets,
  configMaps,
  naming: replica.naming,
  client: internalClient(controllerUser(replica.naming, 'token-cleaner')),
  clock,
  log: createLogger('error'),
});

const secretOf = (id: string): string => id.padEnd(16, '0');
const newToken = (id: string, data: object = {}, more: object = {}) =>
  verbs.create(
    secrets,
    {
      metadata: { name: `bootstrap-token-${id}` },
      type: replica.naming.resolve('bootstrap.{kubernetes}.io/token'),
      stringData: { 'token-id': id, 'token-secret': secretOf(id), ...data },
      ...more,
    },
    '',
    system,
  );

const namesIn = async (store: ResourceStore, namespace: string): Promise<string[]> =>
  (await verbs.list(store, '', namespace)).items.map(({ name }) => name);

async function until<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  const { signal } = scope();
  for (;;) {
    const value = await read();
    if (isSo(value)) return value;
    await sleep(10, signal);
  }
}

describe('the cleaner', () => {
  const remaining = () => namesIn(secrets, system);

  test('removes each token as its time comes, and those whose time nobody can read', async () => {
    const clock = new SetClock();
    await newToken('past00', { expiration: '2026-06-01T11:59:59Z' });
    await newToken('soon00', { expiration: '2026-06-01T12:30:00Z' });
    await newToken('later0', { expiration: '2026-06-02T12:00:00Z' });
    await newToken('never0');
    await newToken('words0', { expiration: 'tomorrow' });
    await newToken('other0', { expiration: '2026-06-01T11:00:00Z' }, { type: 'Opaque' });
    await during(new TokenCleaner(context(clock)), async () => {
      const left = ['later0', 'never0', 'other0', 'soon00'].map((id) => `bootstrap-token-${id}`);
      expect(await until(remaining, ({ length }) => length === 4)).toEqual(left);
      await until(
        async () => clock.waits,
        ({ length }) => length === 2,
      );
      expect([...clock.waits].sort((a, b) => a - b)).toEqual([1_800_000, 3_600_000]);
      clock.advance(1_799_999);
      await newToken('added0', { expiration: '2026-06-01T12:30:00Z' });
      await until(
        async () => clock.waits,
        ({ length }) => length === 3,
      );
      expect(await remaining()).toHaveLength(5);
      clock.advance(1);
      expect(await until(remaining, ({ length }) => length === 3)).toEqual(left.slice(0, 3));
      clock.advance(86_400_000);
      expect(await until(remaining, ({ length }) => length === 2)).toEqual(left.slice(1, 3));
    });
    expect(clock.waits).toEqual([]);
  });

  test('leaves a token that was given more time', async () => {
    const clock = new SetClock();
    await newToken('abcde1', { expiration: '2026-06-01T12:00:10Z' });
    await during(new TokenCleaner(context(clock)), async () => {
      await until(
        async () => clock.waits,
        ({ length }) => length === 1,
      );
      await secrets.patch({
        ...scope(),
        path: { namespace: system, name: 'bootstrap-token-abcde1', subresource: '' },
        kind: 'merge',
        patch: Buffer.from(JSON.stringify({ stringData: { expiration: '2026-06-01T12:00:20Z' } })),
        options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
      });
      await until(
        async () => clock.waits,
        ([wait]) => wait === 20_000,
      );
      clock.advance(10_000);
      expect(await remaining()).toHaveLength(1);
      clock.advance(10_000);
      await until(remaining, ({ length }) => length === 0);
    });
  });
});

describe('the signer', () => {
  const kubeconfig = 'clusters: []\n# größe\n';
  const newClusterInfo = (data: object = { kubeconfig }) =>
    verbs.create(configMaps, { metadata: { name: 'cluster-info' }, data }, '', open);
  async function data(): Promise<Record<string, string>> {
    const { items } = await verbs.list(configMaps, '', open);
    const [item] = items;
    return item === undefined ? {} : (sent(item)['data'] as Record<string, string>);
  }
  const signed = (...ids: string[]) =>
    until(data, (found) => {
      const keys = Object.keys(found).filter((key) => key !== 'kubeconfig' && key !== 'more');
      return (
        keys.sort().join() ===
        ids
          .map((id) => `jws-kubeconfig-${id}`)
          .sort()
          .join()
      );
    });
  const signing = { 'usage-bootstrap-signing': 'true' };

  test('signs by each token that may, with the token as the key of a detached JWS', async () => {
    await newToken('abcde1', signing);
    await newToken('abcde2', { ...signing, expiration: '2026-06-01T11:00:00Z' });
    await newToken('abcde3', { 'usage-bootstrap-signing': 'false' });
    await newToken('abcde4');
    await newClusterInfo({ kubeconfig, more: 'x', 'jws-kubeconfig-gone00': 'old' });
    await during(new BootstrapSigner(context(new SetClock())), async () => {
      const found = await signed('abcde1');
      expect(found).toMatchObject({ kubeconfig, more: 'x' });
      const [header, payload, signature] = (found['jws-kubeconfig-abcde1'] ?? '').split('.');
      expect(payload).toBe('');
      const whole = [header, Buffer.from(kubeconfig).toString('base64url'), signature].join('.');
      const key = Buffer.from(`abcde1.${secretOf('abcde1')}`);
      const verified = await compactVerify(whole, key);
      expect(verified.protectedHeader).toEqual({ alg: 'HS256', kid: 'abcde1' });
      expect(Buffer.from(verified.payload).toString()).toBe(kubeconfig);
    });
  });

  test('follows tokens, their time and the config map', async () => {
    const clock = new SetClock();
    await during(new BootstrapSigner(context(clock)), async () => {
      await newToken('abcde1', signing);
      await newClusterInfo();
      const first = await signed('abcde1');
      await newToken('abcde2', { ...signing, expiration: '2026-06-01T12:00:10Z' });
      await signed('abcde1', 'abcde2');
      await until(
        async () => clock.waits,
        ([wait]) => wait === 10_000,
      );
      clock.advance(10_000);
      await signed('abcde1');
      await configMaps.patch({
        ...scope(),
        path: { namespace: open, name: 'cluster-info', subresource: '' },
        kind: 'merge',
        patch: Buffer.from(JSON.stringify({ data: { kubeconfig: 'other' } })),
        options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
      });
      const key = 'jws-kubeconfig-abcde1';
      await until(data, (found) => found[key] !== first[key] && found['kubeconfig'] === 'other');
      await remove(secrets, system, 'bootstrap-token-abcde1');
      await signed();
    });
  });

  test('leaves a config map without a kubeconfig alone', async () => {
    await newToken('abcde1', signing);
    const made = await newClusterInfo({ more: 'x', 'jws-kubeconfig-gone00': 'old' });
    await during(new BootstrapSigner(context(new SetClock())), () =>
      sleep(300, new AbortController().signal),
    );
    const [item] = (await verbs.list(configMaps, '', open)).items;
    expect(item && sent(item).metadata.resourceVersion).toBe(made.metadata.resourceVersion);
  });
});

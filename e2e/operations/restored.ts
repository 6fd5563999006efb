// A backup is taken and restored under load, however both are done. Watchers list anew, nobody is
// shown what lies before something he had seen without a 410 between, the controllers go on.
import { expect } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { configMaps, type Asks } from './asks.ts';
import type { Identity } from './clients.ts';
import { Informer } from './informer.ts';

export interface Restored {
  /** Each is written to, and has two informers. */
  readonly replicas: readonly Asks[];
  readonly identity: () => Identity;
  /** Tells its names from those of others. */
  readonly name: string;
  readonly backUp: () => Promise<void>;
  readonly restore: () => Promise<void>;
}

interface Listed {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
  }[];
}

const settleMs = 60_000;

/**
 * Resolves with the version that all agree on at the end, and how often informers were told 410.
 * @throws Error, or what `expect` throws
 */
export async function restoredUnderLoad(
  world: Restored,
): Promise<{ readonly revision: number; readonly goneCount: number }> {
  const { replicas, identity, name } = world;
  const [first, second, third] = replicas;
  if (!first || !second || !third) throw new Error('three replicas are restored');
  const informers = [...replicas, ...replicas].map(
    ({ url }) => new Informer({ url, identity, path: configMaps }),
  );
  const writers = new Writers(replicas, name);
  try {
    await writers.flow();
    await controllersWork(first, `${name}-before`);
    await world.backUp();
    await writers.flow();
    const lost = revisionOf(await listed(first));
    while (informers.some(({ reached }) => reached < lost)) await sleep(20);

    await world.restore();
    await writers.flow();
    await controllersWork(second, `${name}-after`);
    await writers.flow();
    await writers.stop();

    const last = await listed(third);
    const expected = last.items.map((item) => [item.metadata.name, item.metadata.resourceVersion]);
    const isThere = ({ known }: Informer): boolean =>
      expected.length === known.size &&
      expected.every(([each = '', version]) => known.get(each) === version);
    const giveUpAt = performance.now() + settleMs;
    while (!informers.every(isThere) && performance.now() < giveUpAt) await sleep(50);
    for (const { backwards, goneCount, known } of informers) {
      expect([...known].sort()).toEqual(expected.toSorted());
      expect(backwards).toEqual([]);
      expect(goneCount).toBeGreaterThan(0);
    }
    const goneCount = informers.reduce((sum, informer) => sum + informer.goneCount, 0);
    return { revision: revisionOf(last), goneCount };
  } finally {
    await writers.stop();
    await Promise.all(informers.map((informer) => informer.stop()));
  }
}

const revisionOf = ({ metadata }: Listed): number => Number(metadata.resourceVersion);

/** Writes and deletes until it is ended, through all replicas in turn, and retries nothing. */
class Writers {
  readonly #replicas: readonly Asks[];
  readonly #name: string;
  readonly #running: Promise<unknown>;
  #writtenCount = 0;
  #isOver = false;

  constructor(replicas: readonly Asks[], name: string) {
    this.#replicas = replicas;
    this.#name = name;
    this.#running = Promise.all(replicas.map((_, writer) => this.#run(writer)));
  }

  async flow(count = 60): Promise<void> {
    const wanted = this.#writtenCount + count;
    while (this.#writtenCount < wanted) await sleep(20);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(writer: number): Promise<void> {
    const nameOf = (turn: number): string => `${this.#name}-${String(writer)}-${String(turn)}`;
    for (let turn = 0; !this.#isOver; turn++) {
      const replica = this.#replicas[(writer + turn) % this.#replicas.length];
      const body = { metadata: { name: nameOf(turn) } };
      const made = await replica?.request('POST', configMaps, { body }).catch(() => undefined);
      if (made?.status === 201) this.#writtenCount++;
      const old = `${configMaps}/${nameOf(turn - 10)}`;
      await replica?.request('DELETE', old).catch(() => undefined);
      await sleep(20);
    }
  }
}

async function listed(replica: Asks): Promise<Listed> {
  for (;;) {
    const { status, text } = await replica.request('GET', configMaps);
    if (status === 200) return JSON.parse(text) as Listed;
    await sleep(50);
  }
}

/** A namespace gets its account, and goes. */
async function controllersWork(replica: Asks, name: string): Promise<void> {
  const namespace = `/api/v1/namespaces/${name}`;
  const body = { metadata: { name } };
  const made = await replica.request('POST', '/api/v1/namespaces', { body });
  expect([made.status, made.text]).toEqual([201, made.text]);
  const account = `${namespace}/serviceaccounts/default`;
  while ((await replica.request('GET', account)).status !== 200) await sleep(50);
  expect((await replica.request('DELETE', namespace)).status).toBe(200);
  while ((await replica.request('GET', namespace)).status !== 404) await sleep(50);
}

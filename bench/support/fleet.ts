// Replicas on one etcd as one thing under measurement: CPU and memory are sums, connections go
// round. All are pinned to the same core: what counts is CPU, not how many cores there are.
import { median } from './compare.ts';
import { Connection } from './http1-client.ts';
import type { Bench, Target } from './server.ts';

export class Fleet {
  readonly targets: readonly Target[];
  readonly #bench: Bench;

  private constructor(bench: Bench, targets: readonly Target[]) {
    this.#bench = bench;
    this.targets = targets;
  }

  /** Starts replicas one after the other, as an operator does, and stops them after `use`. */
  static async with<T>(
    bench: Bench,
    count: number,
    use: (fleet: Fleet, readySeconds: number) => Promise<T>,
  ): Promise<T> {
    const targets: Target[] = [];
    const readySeconds: number[] = [];
    const fleet = new Fleet(bench, targets);
    try {
      for (let index = 0; index < count; index++) {
        const startedMs = performance.now();
        const flags = [`--data-dir=${bench.file(`replica-${String(index)}`)}`];
        targets.push(await bench.server({ flags }));
        readySeconds.push((performance.now() - startedMs) / 1_000);
      }
      return await use(fleet, median(readySeconds));
    } finally {
      await Promise.all(targets.map((target) => fleet.#bench.stopServer(target)));
    }
  }

  get ports(): number[] {
    return this.targets.map(({ port }) => port);
  }

  connections(count: number): Promise<Connection[]> {
    const { ports } = this;
    return Promise.all(
      Array.from({ length: count }, (_, index) =>
        Connection.open(ports[index % ports.length] ?? 0),
      ),
    );
  }

  /** CPU of all replicas while `run` ran. */
  async cpuOf<T>(run: () => Promise<T>): Promise<{ result: T; micros: number }> {
    const cpu = async (): Promise<number> =>
      sum(await Promise.all(this.targets.map(({ process: started }) => started.cpuMicros())));
    const before = await cpu();
    const result = await run();
    return { result, micros: (await cpu()) - before };
  }

  /** Of all replicas, after collections. */
  async rssBytes(): Promise<number> {
    const all: number[] = [];
    for (const { process: started } of this.targets) all.push((await started.memory()).rssBytes);
    return sum(all);
  }
}

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);

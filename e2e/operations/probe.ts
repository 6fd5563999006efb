// Writes through one replica, then reads through another: what was refused, what was old.
import { setTimeout as sleep } from 'node:timers/promises';
import { configMaps, type Asks } from './asks.ts';

export class Probe {
  oldCount = 0;
  refusedCount = 0;
  freshCount = 0;
  readonly #writer: Asks;
  readonly #reader: Asks;
  readonly #name: string;
  #turn = 0;

  /** Of one name there is one probe at a time. */
  constructor(writer: Asks, reader: Asks, name = 'probe') {
    this.#writer = writer;
    this.#reader = reader;
    this.#name = name;
  }

  /** @returns whether the write was done; what it says is unknown where it was not */
  async run(): Promise<boolean> {
    const turn = `${String(Date.now())}-${String(++this.#turn)}`;
    const path = `${configMaps}/${this.#name}`;
    const body = { metadata: { name: this.#name }, data: { turn } };
    const write = async (method: string, to: string): Promise<number | undefined> =>
      (await this.#writer.request(method, to, { body }).catch(() => undefined))?.status;
    const status = await write('PUT', path);
    if (status !== 200 && !(status === 404 && (await write('POST', configMaps)) === 201)) {
      return false;
    }
    const one = await this.#reader.request('GET', path).catch(() => undefined);
    this.#count(one?.status, one?.text.includes(`"turn":"${turn}"`) === true);
    const list = `${configMaps}?limit=500`;
    const all = await this.#reader.request('GET', list).catch(() => undefined);
    this.#count(all?.status, all?.text.includes(`"turn":"${turn}"`) === true);
    return true;
  }

  /** Until it is told to end. */
  async keepRunning(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.run();
      await sleep(20);
    }
  }

  #count(status: number | undefined, isFresh: boolean): void {
    if (status !== 200) this.refusedCount++;
    else if (isFresh) this.freshCount++;
    else this.oldCount++;
  }
}

// A steady load of readers, writers and watchers through one URL that must not notice what
// operators do behind it. Nothing is retried: every answer but the expected one is a failure, and
// so is an acknowledged write that a later read or a watch does not show.
import { setTimeout as sleep } from 'node:timers/promises';
import { Http1Client, Http2Client, type Answer, type Client, type Identity } from './clients.ts';

export interface LoadOptions {
  readonly url: string;
  readonly identity: () => Identity;
  /** Where its objects are; one load at a time. Default: `default`. */
  readonly namespace?: string;
  /** Connections with two users each: so many of either protocol. Default: 2. */
  readonly connectionCount?: number;
  /** Between two requests of a user. Default: 20. */
  readonly pauseMs?: number;
  /** More of them end `flow`. Default: 100. */
  readonly failureCountMax?: number;
}

export interface LoadReport {
  /** What failed, in words, with the phase in which it was asked. */
  readonly failures: readonly string[];
  readonly requestCount: number;
  readonly eventCount: number;
  /** Streams that the server ended in order. */
  readonly watchEndCount: number;
  /** Watches that had to list anew: 410. */
  readonly relistCount: number;
  readonly goawayCount: number;
}

interface ObjectBody {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: { readonly turn?: string };
}

interface ListBody {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly ObjectBody[];
}

interface WatchEvent {
  readonly type: string;
  readonly object: ObjectBody & { readonly code?: number; readonly message?: string };
}

const settleMs = 30_000;
/** After what failed. */
const restMs = 100;
const label = 'steady=load';

export class SteadyLoad {
  /** Of what operators do now: part of each failure's text. */
  phase = 'start';
  readonly #options: LoadOptions;
  readonly #failures: string[] = [];
  readonly #http1: readonly Http1Client[];
  readonly #http2: readonly Http2Client[];
  readonly #users: Promise<void>[] = [];
  readonly #watches: Promise<void>[] = [];
  readonly #watchers: Watched[] = [];
  /** Versions that writes were answered with. */
  readonly #written = new Set<string>();
  readonly #configMaps: string;
  #isStopping = false;
  #isOver = false;
  #requestCount = 0;
  #watchEndCount = 0;
  #relistCount = 0;

  private constructor(options: LoadOptions) {
    this.#options = options;
    const { connectionCount = 2, namespace = 'default' } = options;
    this.#configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
    const each = <T>(make: () => T): T[] => Array.from({ length: connectionCount }, make);
    this.#http1 = each(() => new Http1Client(options));
    this.#http2 = each(() => new Http2Client(options));
  }

  static async start(options: LoadOptions): Promise<SteadyLoad> {
    const load = new SteadyLoad(options);
    const clients = [...load.#http1, ...load.#http2];
    for (const [index, client] of clients.entries()) {
      for (const user of ['a', 'b']) {
        const name = `load-${String(index)}-${user}`;
        const body = { metadata: { name, labels: { steady: 'load' } }, data: { turn: '0' } };
        const { status } = await load.#asked(client, {
          method: 'POST',
          path: load.#configMaps,
          body,
        });
        // A load before this one may have left it.
        if (status !== 201 && status !== 409) throw new Error(`${name}: ${String(status)}`);
        load.#users.push(load.#use(client, name));
      }
    }
    for (const client of [load.#http1[0], load.#http2[0]]) {
      if (client !== undefined) load.#watches.push(load.#watch(client));
    }
    await load.flow();
    return load;
  }

  /** How many requests were answered as they should be. */
  get requestCount(): number {
    return this.#requestCount;
  }

  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Resolves after so many more answers: proof that the service works. */
  async flow(count = 100): Promise<void> {
    const wanted = this.#requestCount + count;
    while (this.#requestCount < wanted) {
      if (this.#failures.length > (this.#options.failureCountMax ?? 100)) {
        throw new Error(this.#failures.slice(0, 5).join('\n'));
      }
      await sleep(10);
    }
  }

  /** Ends the load, once every watcher has seen the last write. */
  async stop(): Promise<LoadReport> {
    this.#isStopping = true;
    await Promise.all(this.#users);
    const lastRevision = Math.max(0, ...[...this.#written].map(revisionOfKey));
    const giveUpAt = performance.now() + settleMs;
    while (this.#watchers.some(({ reached }) => reached < lastRevision)) {
      if (performance.now() > giveUpAt) break;
      await sleep(20);
    }
    this.#isOver = true;
    for (const client of [...this.#http1, ...this.#http2]) client.close();
    await Promise.all(this.#watches);
    for (const watched of this.#watchers) this.#judge(watched);
    return {
      failures: this.#failures,
      requestCount: this.#requestCount,
      eventCount: this.#watchers.reduce((sum, { seen }) => sum + seen.size, 0),
      watchEndCount: this.#watchEndCount,
      relistCount: this.#relistCount,
      goawayCount: this.#http2.reduce((sum, { goawayCount }) => sum + goawayCount, 0),
    };
  }

  #judge({ protocol, seen, skippedTo }: Watched): void {
    const missing = [...this.#written].filter(
      (key) => !seen.has(key) && !skippedTo.some(([from, to]) => isWithin(key, from, to)),
    );
    if (missing.length === 0) return;
    const some = missing.slice(0, 3).join(', ');
    this.#failures.push(`the watch of ${protocol} lost ${String(missing.length)}: ${some}`);
  }

  async #asked(
    client: Client,
    request: { readonly method: string; readonly path: string; readonly body?: object },
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { status, body } = await client.ask(request);
    return { status, text: await textOf(body) };
  }

  /** One user: writes its object, reads what it wrote, lists; each on whichever replica answers. */
  async #use(client: Client, name: string): Promise<void> {
    const path = `${this.#configMaps}/${name}`;
    let reached = 0;
    for (let turn = 1; !this.#isStopping; turn++) {
      const data = { turn: String(turn) };
      const isWritten = await this.#step<ObjectBody>(
        client,
        { method: 'PATCH', path, body: { data } },
        ({ metadata }) => {
          this.#written.add(`${name}@${metadata.resourceVersion}`);
          reached = Math.max(reached, Number(metadata.resourceVersion));
          return undefined;
        },
      );
      if (!isWritten) {
        await sleep(restMs); // whether it happened is not known
        continue;
      }
      await this.#step<ObjectBody>(client, { method: 'GET', path }, (object) =>
        object.data?.turn === data.turn
          ? undefined
          : `read ${String(object.data?.turn)} after ${String(turn)}`,
      );
      const list = `${this.#configMaps}?labelSelector=${label}`;
      await this.#step<ListBody>(client, { method: 'GET', path: list }, ({ metadata, items }) => {
        const revision = Number(metadata.resourceVersion);
        if (revision < reached) return `a list of ${String(revision)} after ${String(reached)}`;
        reached = revision;
        const own = items.find((item) => item.metadata.name === name);
        return own?.data?.turn === data.turn ? undefined : 'a list without the last write';
      });
    }
  }

  /** Whether the answer came, and was right. */
  async #step<Body>(
    client: Client,
    request: { readonly method: string; readonly path: string; readonly body?: object },
    judge: (body: Body) => string | undefined,
  ): Promise<boolean> {
    const { phase } = this;
    const fail = (why: string): false => {
      this.#failures.push(`${phase}: ${client.protocol} ${request.method} ${request.path}: ${why}`);
      return false;
    };
    await sleep(this.#options.pauseMs ?? 20);
    try {
      const { status, text } = await this.#asked(client, request);
      if (status !== 200) return fail(`${String(status)} ${text.slice(0, 500)}`);
      const wrong = judge(JSON.parse(text) as Body);
      if (wrong !== undefined) return fail(wrong);
    } catch (error) {
      return fail(String(error));
    }
    this.#requestCount++;
    return true;
  }

  async #watch(client: Client): Promise<void> {
    const watched = new Watched(client.protocol);
    this.#watchers.push(watched);
    const list = `${this.#configMaps}?labelSelector=${label}`;
    let from: number | undefined;
    while (!this.#isOver) {
      const { phase } = this;
      try {
        if (from === undefined) {
          const { status, text } = await this.#asked(client, { method: 'GET', path: list });
          if (status !== 200) throw new Error(`a list was answered ${String(status)} ${text}`);
          from = Number((JSON.parse(text) as ListBody).metadata.resourceVersion);
          watched.skip(from);
        }
        const query = `&watch=true&allowWatchBookmarks=true&resourceVersion=${String(from)}`;
        const answer = await client.ask({ method: 'GET', path: `${list}${query}` });
        from = await this.#follow(answer, watched);
      } catch (error) {
        if (this.#isOver) return;
        const why = String(error);
        this.#failures.push(`${phase}: ${client.protocol} watch: ${why}`);
        await sleep(restMs);
      }
    }
  }

  /** @returns where the next stream begins; undefined: its position is gone, 410. */
  async #follow(answer: Answer, watched: Watched): Promise<number | undefined> {
    if (answer.status === 410) {
      await textOf(answer.body);
      this.#relistCount++;
      return undefined;
    }
    if (answer.status !== 200)
      throw new Error(`${String(answer.status)} ${await textOf(answer.body)}`);
    let rest = '';
    let isGone = false;
    for await (const chunk of answer.body) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const event = JSON.parse(line) as WatchEvent;
        if (event.type !== 'ERROR') watched.take(event);
        else if (event.object.code === 410) isGone = true;
        else throw new Error(`an event ${line}`);
      }
    }
    if (rest !== '') throw new Error(`the stream ended within a line: ${rest.slice(0, 100)}`);
    this.#watchEndCount++;
    if (!isGone) return watched.reached;
    this.#relistCount++;
    return undefined;
  }
}

/** What one watcher has seen over all of its streams. */
class Watched {
  readonly protocol: string;
  readonly seen = new Set<string>();
  /** Spans of versions that a list stood for: after the first, up to the second. */
  readonly skippedTo: [number, number][] = [];
  reached = 0;

  constructor(protocol: string) {
    this.protocol = protocol;
  }

  /** @throws Error where the list shows what the watcher had already passed. */
  skip(revision: number): void {
    if (revision < this.reached) {
      throw new Error(`a list of ${String(revision)} after ${String(this.reached)}`);
    }
    this.skippedTo.push([this.reached, revision]);
    this.reached = revision;
  }

  /** @throws Error for an event a second time, or out of its order. */
  take({ type, object }: WatchEvent): void {
    const { name, resourceVersion } = object.metadata;
    const revision = Number(resourceVersion);
    const isBookmark = type === 'BOOKMARK';
    if (revision < this.reached || (!isBookmark && revision === this.reached)) {
      throw new Error(`an event ${type} of ${resourceVersion} after ${String(this.reached)}`);
    }
    this.reached = revision;
    if (!isBookmark) this.seen.add(`${name}@${resourceVersion}`);
  }
}

const revisionOfKey = (key: string): number => Number(key.slice(key.indexOf('@') + 1));

const isWithin = (key: string, after: number, upTo: number): boolean =>
  revisionOfKey(key) > after && revisionOfKey(key) <= upTo;

async function textOf(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

// A client that keeps a copy of a collection as informers do: it lists, follows by a watch, resumes
// after what breaks, and lists anew only when it is told 410. It notes each time that something it
// was shown lies before what it had seen, without a 410 between.
import { setTimeout as sleep } from 'node:timers/promises';
import { Http1Client, type ClientOptions } from './clients.ts';

interface Shown {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}
interface Event {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Shown & { readonly code?: number };
}
interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Shown[];
}

const retryMs = 50;

export class Informer {
  /** Names with the version that is known of each. */
  readonly known = new Map<string, string>();
  /** What was shown against its order. */
  readonly backwards: string[] = [];
  listCount = 0;
  goneCount = 0;
  reached = 0;
  readonly #client: Http1Client;
  readonly #path: string;
  readonly #running: Promise<void>;
  #isOver = false;

  constructor(options: ClientOptions & { readonly path: string }) {
    this.#client = new Http1Client(options);
    this.#path = options.path;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#client.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    let mayGoBack = true;
    while (!this.#isOver) {
      try {
        if (mayGoBack) {
          await this.#list();
          mayGoBack = false;
        }
        mayGoBack = await this.#watch();
      } catch {
        await sleep(retryMs); // the store or the server is away: resumed where it was
      }
    }
  }

  async #list(): Promise<void> {
    const { status, body } = await this.#client.ask({ method: 'GET', path: this.#path });
    const chunks: Buffer[] = [];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    if (status !== 200) throw new Error(`a list was answered ${String(status)}`);
    const list = JSON.parse(Buffer.concat(chunks).toString('utf8')) as List;
    this.known.clear();
    for (const { metadata } of list.items) this.known.set(metadata.name, metadata.resourceVersion);
    this.reached = Number(list.metadata.resourceVersion);
    this.listCount++;
  }

  /** Whether the position is gone: 410. */
  async #watch(): Promise<boolean> {
    const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${String(this.reached)}`;
    const path = `${this.#path}?${query}`;
    const { status, body } = await this.#client.ask({ method: 'GET', path });
    if (status !== 200 && status !== 410) throw new Error(`a watch was answered ${String(status)}`);
    let rest = '';
    let isGone = status === 410;
    for await (const chunk of body) {
      if (status !== 200) continue;
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) isGone ||= this.#take(JSON.parse(line) as Event);
    }
    if (isGone) this.goneCount++;
    return isGone;
  }

  /** Whether it says 410. */
  #take({ type, object }: Event): boolean {
    if (type === 'ERROR') return object.code === 410;
    const { name, resourceVersion } = object.metadata;
    const revision = Number(resourceVersion);
    const isLater = type === 'BOOKMARK' ? revision >= this.reached : revision > this.reached;
    if (!isLater) this.backwards.push(`${type} ${resourceVersion} after ${String(this.reached)}`);
    this.reached = revision;
    if (type === 'DELETED') this.known.delete(name);
    else if (type !== 'BOOKMARK') this.known.set(name, resourceVersion);
    return false;
  }
}

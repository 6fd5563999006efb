// What a worker has from its parent: connections, the etcd of this server, a place for audit lines,
// and news of the other workers. Made of the environment that the parent gives; alone of all
// replicas, workers have one.
import type { Socket } from 'node:net';
import type { ByteSink } from '../../../lib/audit/byte-sink.ts';
import type { ConnectionSource } from '../../../lib/server/connection-source.ts';
import type { Health, HealthCheck } from '../../../lib/telemetry/health.ts';
import type { Metrics, MetricsText } from '../../../lib/telemetry/metrics.ts';
import type { LocalEtcd } from '../local-etcd.ts';
import { Channel } from './channel.ts';
import type { ParentAnswers, WorkerAnswers } from './messages.ts';
import { placeVariable } from './place.ts';
import type { WorkerPlace } from './place.ts';

/** undefined: this process is no worker. It ends with its parent, who alone minds signals. */
export function openLink(): WorkerLink | undefined {
  const text = process.env[placeVariable];
  if (text === undefined || process.send === undefined) return undefined;
  Reflect.deleteProperty(process.env, placeVariable); // it is nothing to those that it starts
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => undefined);
  process.on('disconnect', () => process.exit(1));
  return new WorkerLink(JSON.parse(text) as WorkerPlace);
}

const metricsPath = '/metrics';
const slisPath = '/metrics/slis';

export class WorkerLink {
  readonly place: WorkerPlace;
  /** Resolves with the reason when this worker is to end. */
  readonly stopped: Promise<string>;
  readonly source: ConnectionSource;
  readonly #channel: Channel<ParentAnswers, WorkerAnswers>;
  #isReplaced = false;
  #take: (socket: Socket) => void = (socket) => void socket.destroy();
  #closedCount = 0;
  #own: Pick<Metrics, 'text' | 'sliText'> | undefined;
  #health: Health | undefined;
  #othersFailure: string | undefined;

  constructor(place: WorkerPlace) {
    this.place = place;
    let stop: (why: string) => void = () => undefined;
    this.stopped = new Promise((resolve) => (stop = resolve));
    this.#channel = new Channel(ownPipe, {
      connection: (_, socket) => this.#taken(socket),
      state: () => this.#health?.ownFailure('readyz') ?? null,
      metrics: async (path) => (await this.#ownText(path))?.body ?? '',
      stop: (why) => {
        this.#isReplaced = why === 'replaced';
        stop(why);
        return null;
      },
    });
    this.source = {
      open: (at, take) => {
        this.#take = take;
        const { bindAddress, port } = at;
        return this.#channel.ask('listen', { bindAddress, port });
      },
      close: async () => {
        await this.#channel.ask('unlisten', null);
      },
    };
  }

  /** Another one has its place: the server as such goes on. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** The etcd that the parent runs, and ends. @throws FlagError */
  async localEtcd(): Promise<LocalEtcd> {
    const { url, etcdctlPath } = await this.#channel.ask('etcd', null);
    return {
      url,
      etcdctlPath: etcdctlPath ?? undefined,
      ended: new Promise(() => undefined),
      stop: () => Promise.resolve(),
    };
  }

  /** @throws FlagError */
  async auditLog(path: string): Promise<ByteSink> {
    await this.#channel.ask('openAudit', path);
    return {
      write: async (bytes) => {
        await this.#channel.ask('writeAudit', Buffer.from(bytes).toString('utf8'));
      },
      close: () => Promise.resolve(),
    };
  }

  /** What others are told of this worker. */
  tells(health: Health, own: Metrics): void {
    this.#health = health;
    this.#own = own;
  }

  /** What is asked for at `/metrics`: of all workers. The rest is this worker's. */
  metricsOfAll(own: Metrics): Metrics {
    const of = async (path: string): Promise<MetricsText> => ({
      contentType: own.contentType,
      body: await this.#channel.ask('metrics', path),
    });
    return { ...own, text: () => of(metricsPath), sliText: () => of(slisPath) };
  }

  /** Whether the others serve; `askOthers` first. */
  readonly check: HealthCheck = {
    name: 'workers',
    endpoints: ['readyz'],
    isOfOthers: true,
    failure: () => this.#othersFailure,
  };

  readonly askOthers = async (): Promise<void> => {
    this.#othersFailure = (await this.#channel.ask('others', null)) ?? undefined;
  };

  /** It serves at this URL. */
  ready(url: string): void {
    this.#channel.tell('ready', url);
  }

  /** Resolves when the parent has it. */
  async failed(reason: string): Promise<void> {
    await this.#channel.ask('failed', reason);
  }

  /** What this worker has counted, before it ends. */
  async last(): Promise<void> {
    const paths = [metricsPath, slisPath];
    const texts = await Promise.all(paths.map((path) => this.#ownText(path)));
    const entries = paths.map((path, index) => [path, texts[index]?.body ?? '']);
    await this.#channel.ask('last', Object.fromEntries(entries) as Record<string, string>);
  }

  async #ownText(path: string): Promise<MetricsText | undefined> {
    return path === slisPath ? this.#own?.sliText() : this.#own?.text();
  }

  #taken(socket: Socket | undefined): null {
    if (socket === undefined) {
      this.#closed(); // the client left on the way
      return null;
    }
    socket.once('close', () => this.#closed());
    this.#take(socket);
    return null;
  }

  /** Told soon, many at once. */
  #closed(): void {
    if (this.#closedCount++ > 0) return;
    setImmediate(() => {
      this.#channel.tell('closed', this.#closedCount);
      this.#closedCount = 0;
    });
  }
}

const ownPipe: ConstructorParameters<typeof Channel>[0] = {
  send: (message) => {
    if (process.connected) process.send?.(message, undefined, {}, () => undefined);
  },
  onMessage: (receive) =>
    void process.on('message', (message, handle) => receive(message, handle as Socket | undefined)),
};

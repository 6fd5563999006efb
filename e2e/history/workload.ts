// Concurrent clients and watchers over the replicas of an API server, recorded as a history for
// checker.ts. Start it, do harm to the servers, stop it: the end waits until every watcher has seen
// the last write.

import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, TransportError, type Access } from './api-client.ts';
import type { Fields, History, ReadAt, Revision } from './history.ts';
import { Operations, type WriteOptions } from './operations.ts';
import { newSeed, Random } from './random.ts';
import { NAME_PREFIX, Recorder } from './recorder.ts';
import { subjects, type Subject, type SubjectName } from './subject.ts';
import { Watcher } from './watcher.ts';

export interface WorkloadOptions {
  /** Base URLs, one for each replica. */
  readonly servers: readonly string[];
  readonly access?: Access;
  /** Choices replay from it: operation N of client C is the same in every run with this seed. */
  readonly seed?: string;
  /** Made if absent, and left behind. Default: a new one for each run. */
  readonly namespace?: string;
  /** What the clients write and watch; events in both versions. Default: configmaps. */
  readonly resource?: SubjectName;
  /** Size of objects beside the data of the run. */
  readonly paddingBytes?: number;
  readonly clients?: number;
  /**
   * Number of the first client. Another one lets a run go on with the objects that an earlier run
   * left in its namespace: ids of writes carry it. Judge the records of both together.
   */
  readonly firstClient?: number;
  readonly watchers?: number;
  /** Watchers that read slowly, beside the others. */
  readonly slowWatchers?: number;
  /** The longest time after which a watcher cuts a stream by itself. */
  readonly streamMsMax?: number;
  /** How many objects the clients contend for. */
  readonly names?: number;
  /** Mean rest of a client between two requests. */
  readonly pauseMs?: number;
  readonly requestTimeoutMs?: number;
  /** How long after the last write watchers may take to see it. */
  readonly settleMs?: number;
}

export interface Workload {
  readonly seed: string;
  readonly namespace: string;
  /** How many requests were answered so far: lets a test wait for traffic instead of time. */
  answered(): number;
  /** Ends the run in order. Throws when no server takes a last write any more. */
  stop(): Promise<History>;
}

const SLOW_REST_MS_MAX = 200;

export async function startWorkload(options: WorkloadOptions): Promise<Workload> {
  const run = new Run(options);
  await run.prepare();
  run.start();
  return run;
}

type Action = 'create' | 'update' | 'patch' | 'delete' | 'get' | 'list';
const ACTIONS: Readonly<Record<Action, number>> = {
  create: 3,
  update: 5,
  patch: 4,
  delete: 1,
  get: 6,
  list: 3,
};

class Run implements Workload {
  readonly seed: string;
  readonly namespace: string;
  readonly #options: Required<Omit<WorkloadOptions, 'seed' | 'namespace'>>;
  readonly #subject: Subject;
  readonly #servers: readonly ApiClient[];
  readonly #recorder = new Recorder();
  readonly #watchers: Watcher[] = [];
  readonly #loops: Promise<void>[] = [];
  #isStopping = false;
  #answered = 0;

  constructor({ seed = newSeed(), namespace, ...options }: WorkloadOptions) {
    this.seed = seed;
    this.namespace = namespace ?? `history-${Date.now().toString(36)}-${newSeed().slice(0, 5)}`;
    this.#options = {
      access: {},
      resource: 'configmaps',
      paddingBytes: 0,
      clients: 6,
      firstClient: 0,
      watchers: 2 * options.servers.length,
      slowWatchers: 0,
      streamMsMax: 1_500,
      names: 6,
      pauseMs: 10,
      requestTimeoutMs: 10_000,
      settleMs: 20_000,
      ...options,
    };
    this.#subject = subjects[this.#options.resource];
    this.#servers = options.servers.map((url) => new ApiClient(url, this.#options.access));
  }

  answered(): number {
    return this.#answered;
  }

  async prepare(): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } };
    const request = { method: 'POST', path: '/api/v1/namespaces', body };
    const answer = await this.#servers[0]?.request(
      request,
      AbortSignal.timeout(this.#options.requestTimeoutMs),
    );
    if (answer?.status === 201 || answer?.status === 409) return;
    throw new Error(`no namespace ${this.namespace}: ${JSON.stringify(answer)}`);
  }

  start(): void {
    const { clients, firstClient, watchers, slowWatchers, streamMsMax } = this.#options;
    for (let client = 0; client < clients; client += 1) {
      this.#loops.push(this.#runClient(firstClient + client));
    }
    for (let watcher = 0; watcher < watchers + slowWatchers; watcher += 1) {
      const member = new Watcher({
        watcher,
        seed: this.seed,
        servers: this.#servers,
        namespace: this.namespace,
        subject: this.#subject,
        recorder: this.#recorder,
        operations: this.#operations(firstClient + clients + 1 + watcher),
        restMsMax: watcher < watchers ? 0 : SLOW_REST_MS_MAX,
        streamMsMax,
      });
      this.#watchers.push(member);
      this.#loops.push(member.run());
    }
    // A loop that fails must fail the run when it is stopped, not the process before.
    for (const loop of this.#loops) loop.catch(() => undefined);
  }

  async stop(): Promise<History> {
    this.#isStopping = true;
    try {
      await Promise.all(this.#loops.slice(0, this.#options.clients));
      const lastRevision = await this.#writeLast();
      for (const watcher of this.#watchers) watcher.calm();
      await this.#settle(lastRevision);
      for (const watcher of this.#watchers) watcher.stop();
      await Promise.all(this.#loops);
      const { seed, namespace } = this;
      return this.#recorder.history({ seed, namespace, lastRevision });
    } finally {
      for (const watcher of this.#watchers) watcher.stop();
      for (const server of this.#servers) server.close();
    }
  }

  #operations(client: number): Operations {
    const { requestTimeoutMs, paddingBytes } = this.#options;
    const { namespace } = this;
    const servers = this.#servers;
    return new Operations({
      client,
      servers,
      namespace,
      subject: this.#subject,
      paddingBytes,
      recorder: this.#recorder,
      requestTimeoutMs,
    });
  }

  async #runClient(client: number): Promise<void> {
    const operations = this.#operations(client);
    const { pauseMs } = this.#options;
    for (let count = 0; !this.#isStopping; count += 1) {
      const random = new Random(this.seed, 'client', client, count);
      const pause = random.fraction() * 2 * pauseMs;
      if (await this.#act(operations, random, client)) this.#answered += 1;
      else await sleep(pauseMs);
      await sleep(pause);
    }
  }

  async #act(operations: Operations, random: Random, client: number): Promise<boolean> {
    const drawn = random.weighted(ACTIONS);
    const action = drawn === 'update' && this.#subject.updateCreates ? 'patch' : drawn;
    const name = `${NAME_PREFIX}${random.below(this.#options.names)}`;
    const pickServer = (): number => random.below(this.#servers.length);
    const server = pickServer();
    if (action === 'list') {
      const limit = random.chance(0.5) ? { limit: 1 + random.below(3) } : {};
      const at = this.#readAt(random, 'list');
      return (await operations.list(at, { ...limit, serverOfPage: pickServer })) !== undefined;
    }
    const compares = action === 'update' && this.#subject.updateCompares;
    const write =
      action === 'get'
        ? undefined
        : planWrite(action, { operations, name, random, client, compares });
    if (write === undefined) return operations.get(name, server, this.#readAt(random, 'get'));
    const outcome = await operations.write({ ...write, server });
    return outcome.kind !== 'unknown' && !(outcome.kind === 'refused' && outcome.why === 'other');
  }

  #readAt(random: Random, verb: 'get' | 'list'): ReadAt {
    const exact = verb === 'list' ? 1 : 0;
    const mode = random.weighted({ latest: 5, any: 2, notOlderThan: 2, exact });
    if (mode === 'latest' || mode === 'any') return { mode };
    const revision = this.#recorder.highest;
    // Nothing was seen yet: zero would mean "any".
    return revision === 0 ? { mode: 'latest' } : { mode, revision };
  }

  /** The write whose arrival every watcher is waited for. */
  async #writeLast(): Promise<Revision> {
    const { clients, firstClient, settleMs } = this.#options;
    const operations = this.#operations(firstClient + clients);
    const deadline = Date.now() + settleMs;
    for (let attempt = 0; Date.now() < deadline; attempt += 1) {
      const name = `${NAME_PREFIX}last-${attempt}`;
      const server = attempt % this.#servers.length;
      const write = { verb: 'create', name, server, expected: {}, fields: {} } as const;
      const outcome = await operations.write(write);
      if (outcome.kind === 'applied' && outcome.state !== undefined) {
        await this.#readFromAll(operations);
        return outcome.state.revision;
      }
      await sleep(100);
    }
    throw new TransportError(`no server took the last write within ${settleMs} ms`, false);
  }

  /** One consistent list from every server, so that each has shown its final state. */
  async #readFromAll(operations: Operations): Promise<void> {
    for (const server of this.#servers.keys()) {
      await operations.list({ mode: 'latest' }, { serverOfPage: () => server });
    }
  }

  async #settle(lastRevision: Revision): Promise<void> {
    const deadline = Date.now() + this.#options.settleMs;
    const isBehind = (watcher: Watcher): boolean => watcher.reached < lastRevision;
    while (this.#watchers.some(isBehind) && Date.now() < deadline) await sleep(20);
  }
}

/** Undefined: the client has not seen the object and should look first. */
function planWrite(
  verb: WriteOptions['verb'],
  {
    operations,
    name,
    random,
    client,
    compares,
  }: {
    readonly operations: Operations;
    readonly name: string;
    readonly random: Random;
    readonly client: number;
    /** It must name the version that it replaces. */
    readonly compares: boolean;
  },
): Omit<WriteOptions, 'server'> | undefined {
  const seen = operations.lastSeen(name);
  const isCompared = random.chance(verb === 'update' ? 0.9 : 0.4) || compares;
  const expected = seen !== undefined && isCompared ? { revision: seen.revision } : {};
  const mine: Fields = { [`client-${client}`]: String(random.below(1_000_000)) };
  switch (verb) {
    case 'create':
      return { verb, name, expected: {}, fields: mine };
    case 'update':
      return seen && { verb, name, expected, fields: { ...seen.data, ...mine } };
    case 'patch':
      return { verb, name, expected, fields: mine };
    case 'delete':
      return seen && { verb, name, expected: { ...expected, uid: seen.uid }, fields: {} };
  }
}

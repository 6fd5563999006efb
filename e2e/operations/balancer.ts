// A TCP load balancer as operators run one: it passes bytes, takes new connections to servers whose
// /readyz answers 200 alone, and goes to the next one where none is accepted. It retries nothing.
import { get } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const checkEveryMs = 100;
const checkTimeoutMs = 10_000;

export class Balancer {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #targets: readonly string[];
  readonly #ready = new Set<string>();
  readonly #end = new AbortController();
  readonly #checks: readonly Promise<void>[];
  #nextIndex = 0;

  private constructor(server: Server, targets: readonly string[]) {
    this.url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    this.#server = server;
    this.#targets = targets;
    for (const target of targets) this.#ready.add(target);
    this.#checks = targets.map((target) => this.#keepChecking(target));
    server.on('connection', (socket) => this.#open(socket));
  }

  /** Listens on a free port of 127.0.0.1; the targets are `https:` URLs, ready at first. */
  static async start(targets: readonly string[]): Promise<Balancer> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Balancer(server, targets);
  }

  /** Whether new connections go there. */
  takes(target: string): boolean {
    return this.#ready.has(target);
  }

  async close(): Promise<void> {
    this.#end.abort();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all([closed, ...this.#checks]);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket));
  }

  #open(client: Socket): void {
    this.#keep(client);
    const first = this.#nextIndex++;
    const inTurn = this.#targets.map((_, index) => (first + index) % this.#targets.length);
    const candidates = inTurn
      .map((index) => this.#targets[index] ?? '')
      .filter((target) => this.#ready.has(target));
    this.#openTo(client, candidates);
  }

  #openTo(client: Socket, [target, ...others]: readonly string[]): void {
    if (target === undefined) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(target);
    const server = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    server.setNoDelay(true);
    this.#keep(server);
    const refused = (): void => this.#openTo(client, others);
    server.once('error', refused);
    server.once('connect', () => {
      server.off('error', refused);
      // Ends and resets of one side are those of the other.
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        from.on('error', () => to.resetAndDestroy());
        from.on('close', () => to.destroySoon());
        from.pipe(to);
      }
    });
  }

  async #keepChecking(target: string): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      if (await isReady(target)) this.#ready.add(target);
      else this.#ready.delete(target);
      await sleep(checkEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

const isReady = (target: string): Promise<boolean> =>
  new Promise((resolve) => {
    const options = {
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(checkTimeoutMs),
    };
    get(`${target}/readyz`, options, (answer) => {
      answer.resume().on('error', () => undefined);
      resolve(answer.statusCode === 200);
    }).on('error', () => resolve(false));
  });

// What is done within the network of one container from outside: packets are lost in one direction
// by its packet filter, or come late. It needs root, as the engine does.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Asks } from '../operations/asks.ts';
import { TcpProxy } from '../tcp-proxy.ts';
import { Asker } from './asker.ts';
import { networkOf, type Network, type Replica, type Service, type SetUp } from './set-up.ts';

const delayLink = fileURLToPath(new URL('delay-link.ts', import.meta.url));
const firstPort = 12_379;
/** Of replicas in their containers; the process that delays is root. */
const replicaUser = '65532';

/** Whether this may be done here; says why not. */
export const mayFilter = ((): boolean => {
  try {
    if (process.getuid?.() !== 0) throw new Error('it needs root');
    for (const command of ['nsenter', 'iptables']) {
      execFileSync(command, ['--version'], { stdio: 'ignore' });
    }
    return true;
  } catch (error) {
    process.stderr.write(
      `no packet is lost or late: ${String(error)} (packages iptables, util-linux)\n`,
    );
    return false;
  }
})();

const run = promisify(execFile);

export class ContainerNetwork {
  readonly #setUp: SetUp;
  readonly #service: Service;

  constructor(setUp: SetUp, service: Service) {
    this.#setUp = setUp;
    this.#service = service;
  }

  /** Its address on a network. */
  async address(network: Network): Promise<string> {
    const { NetworkSettings } = await (await this.#setUp.container(this.#service)).inspect();
    const address = NetworkSettings.Networks[networkOf(network)]?.IPAddress;
    if (!address) throw new Error(`${this.#service} is not on ${network}`);
    return address;
  }

  /** Adds rules, such as `INPUT -p tcp --sport 2379 -j DROP`; what it returns takes them away. */
  async filter(...rules: readonly string[]): Promise<() => Promise<void>> {
    for (const rule of rules) await this.#iptables('-A', rule);
    return async () => {
      for (const rule of rules) await this.#iptables('-D', rule);
    };
  }

  /** What the replica exchanges with these addresses of etcd comes late, both ways. */
  async delay(addresses: readonly string[], delayMs: number): Promise<() => Promise<void>> {
    const links = addresses.map((address, index) => ({ address, port: firstPort + index }));
    const args = links.map(({ address, port }) => `${String(port)}=${address}:2379`);
    const prefix = await this.#prefix();
    const command = [...prefix, process.execPath, delayLink, String(delayMs), ...args];
    const child = spawn(command[0] ?? '', command.slice(1), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve, reject) => {
      child.stdout.once('data', resolve);
      child.once('error', reject).once('exit', () => reject(new Error('nothing is delayed')));
    });
    const redirect = links.map(
      ({ address, port }) =>
        `OUTPUT -t nat -p tcp -d ${address} --dport 2379 -m owner --uid-owner ${replicaUser} ` +
        `-j REDIRECT --to-ports ${String(port)}`,
    );
    const undo = await this.filter(...redirect);
    await this.reset();
    return async () => {
      await undo();
      child.kill();
    };
  }

  /** Ends every connection to etcd; those that come next go where rules send them. */
  async reset(): Promise<void> {
    const from = `OUTPUT -p tcp --dport 2379 -m owner --uid-owner ${replicaUser}`;
    const undo = await this.filter(`${from} -j REJECT --reject-with tcp-reset`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    await undo();
  }

  async #iptables(change: '-A' | '-D', rule: string): Promise<void> {
    const [chain = '', ...rest] = rule.split(' ');
    const command = [...(await this.#prefix()), 'iptables', '-w', change, chain, ...rest];
    await run(command[0] ?? '', command.slice(1));
  }

  async #prefix(): Promise<readonly string[]> {
    const { State } = await (await this.#setUp.container(this.#service)).inspect();
    return ['nsenter', '--target', String(State.Pid), '--net'];
  }
}

/** A replica without the balancer before it, until `close`. */
export class DirectReplica implements Asks {
  readonly url: string;
  readonly #asker: Asker;
  readonly #link: TcpProxy;

  private constructor(setUp: SetUp, link: TcpProxy) {
    this.url = link.url;
    this.#asker = new Asker({ url: link.url, admin: setUp.admin });
    this.#link = link;
  }

  static async of(setUp: SetUp, replica: Replica): Promise<DirectReplica> {
    const address = await new ContainerNetwork(setUp, replica).address(frontOf(replica));
    return new DirectReplica(setUp, await TcpProxy.start(`https://${address}:6443`));
  }

  request(...args: Parameters<Asker['request']>): ReturnType<Asker['request']> {
    return this.#asker.request(...args);
  }

  async close(): Promise<void> {
    this.#asker.close();
    await this.#link.close();
  }
}

const frontOf = (replica: Replica): Network => `front-${replica.slice(-1)}` as Network;

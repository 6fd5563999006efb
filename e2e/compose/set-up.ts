// The running set-up as tests see it: its addresses, its administrator, what can be done to each of
// its containers and networks. main.ts brings it up and takes it down.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { load } from 'js-yaml';
import { getContainerRuntimeClient, type ContainerRuntimeClient } from 'testcontainers';
import type { Identity } from '../operations/clients.ts';
import { composeEnvironment, project, root } from './project.ts';

export const replicas = ['apiserver-1', 'apiserver-2', 'apiserver-3'] as const;
export const members = ['etcd-1', 'etcd-2', 'etcd-3'] as const;
export type Replica = (typeof replicas)[number];
export type Member = (typeof members)[number];
export type Service = Replica | Member | 'balancer' | 'etcd-metrics' | 'prometheus';
/** As docker-compose.yml calls them. */
export type Network =
  'peers' | 'metrics' | 'watch' | 'edge' | `store-${1 | 2 | 3}` | `front-${1 | 2 | 3}`;

export interface Executed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Container = ReturnType<ContainerRuntimeClient['container']['getById']>;

const readyTimeoutMs = 90_000;
const pollMs = 200;

export class SetUp {
  /** Of the balancer. */
  readonly url = project.apiserverUrl;
  readonly prometheusUrl = project.prometheusUrl;
  readonly admin: Required<Omit<Identity, 'token'>>;
  readonly #client: ContainerRuntimeClient;

  private constructor(client: ContainerRuntimeClient, admin: SetUp['admin']) {
    this.#client = client;
    this.admin = admin;
  }

  /** To the project that runs. */
  static async attach(): Promise<SetUp> {
    return new SetUp(await getContainerRuntimeClient(), await adminOf());
  }

  /** Its SIGTERM (of the balancer SIGUSR1), and after its grace period SIGKILL. */
  async stop(service: Service): Promise<void> {
    await (await this.container(service)).stop();
  }

  async start(service: Service): Promise<void> {
    await (await this.container(service)).start();
  }

  async restart(service: Service): Promise<void> {
    await (await this.container(service)).restart();
  }

  /** Resolves when the process is gone. It is not started again but by `start`. */
  async kill(service: Service, signal = 'SIGKILL'): Promise<void> {
    await (await this.container(service)).kill({ signal });
  }

  /** Stops its processes where they are, and lets them go on. */
  async pause(service: Service): Promise<() => Promise<void>> {
    const container = await this.container(service);
    await container.pause();
    return async () => {
      await container.unpause();
    };
  }

  /** `docker compose up` for one service alone, with variables of its own. */
  async remake(service: Service, variables: Record<string, string>): Promise<void> {
    await compose(['up', '--detach', '--no-deps', service], variables);
  }

  async exec(service: Service, command: readonly string[]): Promise<Executed> {
    const container = await this.container(service);
    const done = await this.#client.container.exec(container, [...command]);
    return { code: done.exitCode, stdout: done.stdout, stderr: done.stderr };
  }

  /** Takes it off a network, as an unplugged cable does; `join` puts it back under its names. */
  async cut(service: Service, network: Network): Promise<() => Promise<void>> {
    const container = await this.container(service);
    const name = networkOf(network);
    const { NetworkSettings } = await container.inspect();
    // Untyped there.
    const aliases = NetworkSettings.Networks[name]?.Aliases as string[] | undefined;
    const dockerNetwork = this.#client.container.dockerode.getNetwork(name);
    await dockerNetwork.disconnect({ Container: container.id, Force: true });
    return async () => {
      const EndpointConfig = { Aliases: aliases ?? [] };
      await dockerNetwork.connect({ Container: container.id, EndpointConfig });
    };
  }

  /** What its health check says is good. */
  async healthy(service: Service): Promise<void> {
    await until(`${service} is healthy`, async () => {
      const { State } = await (await this.container(service)).inspect();
      return State.Running && State.Health?.Status === 'healthy';
    });
  }

  /**
   * Waits for the balancer to say of a replica that it is UP or DOWN, after `sinceMs` of the clock.
   * It says so at each change.
   */
  async balanced(replica: Replica, is: 'UP' | 'DOWN', sinceMs: number): Promise<void> {
    await until(`the balancer says that ${replica} is ${is}`, async () => {
      const container = await this.container('balancer');
      const since = sinceMs / 1_000;
      const log = await container.logs({ stdout: true, stderr: true, follow: false, since });
      const said = [...log.toString().matchAll(/Server replicas\/([\w-]+) is (UP|DOWN)/g)];
      return said.findLast(([, name]) => name === replica)?.[2] === is;
    });
  }

  async container(service: Service): Promise<Container> {
    const label = [
      `com.docker.compose.project=${project.name}`,
      `com.docker.compose.service=${service}`,
      'com.docker.compose.oneoff=False',
    ];
    const { dockerode } = this.#client.container;
    const [found] = await dockerode.listContainers({ all: true, filters: { label } });
    if (found === undefined) throw new Error(`there is no container of ${service}`);
    return dockerode.getContainer(found.Id);
  }
}

/** Its name for the engine. */
export const networkOf = (network: Network): string => `${project.name}_${network}`;
export const volumeOf = (volume: string): string => `${project.name}_${volume}`;

/** @throws Error with what the command says. */
export async function compose(
  args: readonly string[],
  variables: Record<string, string> = {},
): Promise<string> {
  return docker(['compose', '--project-name', project.name, ...args], variables);
}

export async function docker(
  args: readonly string[],
  variables: Record<string, string> = {},
): Promise<string> {
  const env = composeEnvironment(variables);
  const done = await promisify(execFile)('docker', [...args], { cwd: root, env });
  return done.stdout;
}

/** @throws Error after a minute and a half. */
export async function until(claim: string, holds: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + readyTimeoutMs;
  while (!(await holds())) {
    if (performance.now() > giveUpAt) throw new Error(`it does not come true that ${claim}`);
    await sleep(pollMs);
  }
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: Record<string, string> }[];
  readonly users: readonly { readonly user: Record<string, string> }[];
}

async function adminOf(): Promise<SetUp['admin']> {
  const folder = mkdtempSync(join(tmpdir(), 'compose-admin-'));
  try {
    const file = join(folder, 'admin.kubeconfig');
    await compose(['cp', 'secrets:/secrets/admin/admin.kubeconfig', file]);
    const { clusters, users } = load(readFileSync(file, 'utf8')) as Kubeconfig;
    const plain = (base64 = ''): string => Buffer.from(base64, 'base64').toString('utf8');
    return {
      ca: plain(clusters[0]?.cluster['certificate-authority-data']),
      cert: plain(users[0]?.user['client-certificate-data']),
      key: plain(users[0]?.user['client-key-data']),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

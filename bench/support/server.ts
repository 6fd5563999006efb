// The measured API server on its own etcd, and bare servers beside it with the same TLS identity.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import type { JsonObject, ResourceInfo } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { encodeStored } from '../../lib/codec/stored-form.ts';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { createKeyspace } from '../../lib/storage-etcd/keys.ts';
import { EtcdCluster } from '../../lib/storage-etcd/testing/etcd-process.ts';
import { MeasuredProcess } from './measured-process.ts';

export const token = 'bench-token';
const loadConcurrency = 64;

/** Where load is sent: one measured process that listens. */
export interface Target {
  readonly port: number;
  readonly process: MeasuredProcess;
}

/** One etcd and the servers that are started on it; `stop` ends all of them. */
export class Bench {
  readonly etcd: EtcdCluster;
  readonly storage: EtcdStorage;
  readonly #folder: string;
  readonly #scheme = builtInScheme({ profile: namingProfile('kubernetes') });
  readonly #keyspace = createKeyspace('/registry');
  readonly #started = new Set<MeasuredProcess>();
  readonly #never = new AbortController().signal;

  private constructor(etcd: EtcdCluster) {
    this.etcd = etcd;
    this.storage = new EtcdStorage(etcd.connection);
    this.#folder = mkdtempSync(join(tmpdir(), 'apiserver-bench-'));
    writeFileSync(join(this.#folder, 'tokens.csv'), `${token},bench,1,"system:masters"\n`);
  }

  static async start(): Promise<Bench> {
    return new Bench(await EtcdCluster.start({ flags: ['--quota-backend-bytes=4294967296'] }));
  }

  get serverArgs(): string[] {
    return [
      '--naming=kubernetes',
      `--etcd-servers=${this.etcd.endpoints.join(',')}`,
      `--data-dir=${join(this.#folder, 'data')}`,
      '--secure-port=0',
      `--token-auth-file=${join(this.#folder, 'tokens.csv')}`,
    ];
  }

  /** Starts the API server; resolves when it is ready. */
  async server(
    options: {
      readonly nodeFlags?: readonly string[];
      readonly watchStalls?: boolean;
      /** Of this server alone, in place of those of the same name. */
      readonly flags?: readonly string[];
      /** Another tree whose server it is. Ends in a slash. */
      readonly folder?: string;
    } = {},
  ): Promise<Target> {
    const own = options.flags ?? [];
    const { process: started, match } = await MeasuredProcess.start('cmd/apiserver/main.ts', {
      args: [
        ...this.serverArgs.filter((arg) => !own.some((flag) => nameOf(flag) === nameOf(arg))),
        ...own,
      ],
      ready: /https:\/\/127\.0\.0\.1:(\d+)/,
      ...options,
    });
    return this.#own({ port: Number(match[1]), process: started });
  }

  /** Starts a bare server of bench/support; it speaks TLS as the API server does. */
  async bare(script: string, args: readonly string[] = []): Promise<Target> {
    const { process: started, match } = await MeasuredProcess.start(`bench/support/${script}`, {
      args: [join(this.#folder, 'data'), ...args],
      ready: /listening (\d+)/,
    });
    return this.#own({ port: Number(match[1]), process: started });
  }

  resource(name: string, group = ''): ResourceInfo {
    const found = this.#scheme.resource({ group, version: 'v1', resource: name });
    if (found === undefined) throw new Error(`${name} is not served`);
    return found;
  }

  key(resource: ResourceInfo, namespace: string, name: string): string {
    return this.#keyspace.key(resource.storagePrefix, namespace, name);
  }

  /** Writes objects into etcd as the server would have; returns the bytes of their JSON. */
  async fill(
    resource: ResourceInfo,
    count: number,
    make: (index: number) => JsonObject,
  ): Promise<number> {
    let jsonBytes = 0;
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) {
        const object = make(next++);
        jsonBytes += JSON.stringify(object).length;
        const { namespace = '', name = '' } = object['metadata'] as {
          namespace?: string;
          name?: string;
        };
        const key = this.key(resource, namespace, name);
        const result = await this.storage.put(
          key,
          encodeStored(object, resource).value,
          { expected: 0 },
          this.#never,
        );
        if (!result.ok) throw new Error(`${key} is there already`);
      }
    };
    await Promise.all(Array.from({ length: loadConcurrency }, worker));
    return jsonBytes;
  }

  /** A file for a profile or the like, below the folder of this run. */
  file(name: string): string {
    return join(this.#folder, name);
  }

  caFile(): Buffer {
    return readFileSync(join(this.#folder, 'data', 'ca.crt'));
  }

  async stopServer({ process: started }: Target): Promise<void> {
    this.#started.delete(started);
    await started.stop();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#started].map((started) => started.stop()));
    this.storage.close();
    await this.etcd.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #own(target: Target): Target {
    this.#started.add(target.process);
    return target;
  }
}

/** Runs `use` and stops everything, however it ends. */
export async function withBench(use: (bench: Bench) => Promise<void>): Promise<void> {
  const bench = await Bench.start();
  try {
    await use(bench);
  } finally {
    await bench.stop();
  }
}

const nameOf = (flag: string): string => flag.split('=', 1)[0] ?? '';

// A real Prometheus on loopback that scrapes a test cluster each second, with the rules of deploy/.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dump } from 'js-yaml';
import { adminToken } from '../harness.ts';
import type { TestCluster } from '../harness.ts';

const rulesFolder = join(import.meta.dirname, '../../deploy/prometheus');
const readyTimeoutMs = 60_000;

export interface RunningPrometheus {
  readonly url: string;
  stop(): Promise<void>;
}

/** `path`: of the program. */
export async function startPrometheus(
  path: string,
  cluster: TestCluster,
): Promise<RunningPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const port = await freePort();
  writeFileSync(join(folder, 'prometheus.yml'), dump(configuration(cluster)));
  for (const name of readdirSync(rulesFolder).filter((file) => file.endsWith('.rules.yaml'))) {
    // Each group as often as a scrape: nobody waits minutes for what is recorded slowly.
    const text = readFileSync(join(rulesFolder, name), 'utf8').replaceAll(
      /^ +interval: .*\n/gm,
      '',
    );
    writeFileSync(join(folder, name), text);
  }
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${String(port)}`,
    '--log.level=warn',
  ];
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const url = `http://127.0.0.1:${String(port)}`;
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  const giveUpAt = performance.now() + readyTimeoutMs;
  for (;;) {
    const reply = await fetch(`${url}/-/ready`).catch(() => undefined);
    if (reply?.ok === true) return { url, stop };
    if (child.exitCode !== null || performance.now() > giveUpAt) {
      await stop();
      throw new Error(`Prometheus is not ready: ${output}`);
    }
    await sleep(100);
  }
}

const hostOf = (url: string): string => new URL(url).host;

function configuration({ replicas, etcd }: TestCluster): object {
  return {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['*.rules.yaml'],
    scrape_configs: [
      {
        job_name: 'apiserver',
        scheme: 'https',
        authorization: { credentials: adminToken },
        tls_config: { ca_file: replicas[0]?.caFile },
        static_configs: [
          { targets: replicas.map(({ url }) => hostOf(url)), labels: { cluster: 'test' } },
        ],
      },
      {
        job_name: 'etcd',
        static_configs: [{ targets: etcd.endpoints.map(hostOf), labels: { cluster: 'test' } }],
      },
    ],
  };
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  await once(listener, 'close');
  return port;
}

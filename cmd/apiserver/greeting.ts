// What a start says when it is ready: the URL, one line to try, where the data is and how to back
// it up. The admin's client configuration is written here.
import type { Flags } from '../../lib/config/flags.ts';
import type { DataDirectory } from './data-directory.ts';
import { kubeconfig } from './kubeconfig.ts';
import type { LocalEtcd } from './local-etcd.ts';
import type { KeyPair } from './pki.ts';

const configName = 'admin.kubeconfig';

export function writeAdminConfig(
  directory: DataDirectory,
  server: string,
  caCert: string,
  client: KeyPair,
): void {
  directory.writePrivate(configName, kubeconfig({ server, caCert, client }));
}

export interface GreetingOptions {
  readonly url: string;
  readonly directory: Pick<DataDirectory, 'file'>;
  readonly flags: Pick<Flags, 'naming'>;
  readonly readyMs: number;
  /** undefined: etcd is somebody else's. */
  readonly etcd: Pick<LocalEtcd, 'url' | 'etcdctlPath'> | undefined;
}

/** Every path in it is absolute and every command can be pasted into a shell. */
export function greeting({ url, directory, flags, readyMs, etcd }: GreetingOptions): string {
  const file = (name: string): string => quoted(directory.file(name));
  const seconds = (readyMs / 1000).toFixed(1);
  const lines = [`svc apiserver is ready at ${url} (${flags.naming} names, ${seconds} s)`];
  if (flags.naming === 'kubernetes') {
    lines.push(`  kubectl --kubeconfig ${file(configName)} get namespaces`);
  } else {
    const pair = `--cert ${file('admin.crt')} --key ${file('admin.key')}`;
    const credentials = `--cacert ${file('ca.crt')} ${pair}`;
    lines.push(
      `  curl ${credentials} ${url}/api/v1/namespaces`,
      `  kubeconfig of an administrator: ${file(configName)}`,
      '  Stock kubectl wants the other names: npm start -- --naming=kubernetes',
    );
  }
  if (etcd !== undefined) {
    const etcdctl = quoted(etcd.etcdctlPath ?? 'etcdctl');
    lines.push(
      `  etcd of this server, at ${etcd.url} until it stops; a backup of all it holds:`,
      `  ETCDCTL_API=3 ${etcdctl} --endpoints=${etcd.url} snapshot save ${file('backup.db')}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** One word of a shell. */
const quoted = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

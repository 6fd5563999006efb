// What a start says when it is ready: the URL and one line to try. The admin's client configuration
// is written here.
import { relative } from 'node:path';
import type { Flags } from '../../lib/config/flags.ts';
import type { DataDirectory } from './data-directory.ts';
import { kubeconfig } from './kubeconfig.ts';
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

export function greeting(options: {
  readonly url: string;
  readonly directory: DataDirectory;
  readonly flags: Flags;
  readonly readyMs: number;
}): string {
  const { url, directory, flags } = options;
  const file = (name: string): string => relative(process.cwd(), directory.file(name));
  const seconds = (options.readyMs / 1000).toFixed(1);
  const ready = `svc apiserver is ready at ${url} (${flags.naming} names, ${seconds} s)`;
  if (flags.naming === 'kubernetes') {
    return `${ready}\n  kubectl --kubeconfig ${file(configName)} get namespaces\n`;
  }
  const pair = `--cert ${file('admin.crt')} --key ${file('admin.key')}`;
  const credentials = `--cacert ${file('ca.crt')} ${pair}`;
  return (
    `${ready}\n  curl ${credentials} ${url}/api/v1/namespaces\n` +
    '  Stock kubectl wants the other names: npm start -- --naming=kubernetes\n'
  );
}

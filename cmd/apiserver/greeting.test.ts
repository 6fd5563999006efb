import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { greeting } from './greeting.ts';
import type { GreetingOptions } from './greeting.ts';

const greet = (options: Partial<GreetingOptions>, folder = '/srv/data'): string =>
  greeting({
    url: 'https://127.0.0.1:6443',
    directory: { file: (name) => join(folder, name) },
    flags: { naming: 'kubernetes' },
    readyMs: 1_234,
    etcd: undefined,
    ...options,
  });

test('the greeting has URL, names, time, and the absolute path of the kubeconfig', () => {
  expect(greet({})).toBe(
    'svc apiserver is ready at https://127.0.0.1:6443 (kubernetes names, 1.2 s)\n' +
      '  kubectl --kubeconfig /srv/data/admin.kubeconfig get namespaces\n',
  );
  const svc = greet({ flags: { naming: 'svc' } });
  expect(svc).toContain('  kubeconfig of an administrator: /srv/data/admin.kubeconfig\n');
  expect(svc).toContain(
    'curl --cacert /srv/data/ca.crt --cert /srv/data/admin.crt --key /srv/data/admin.key ' +
      'https://127.0.0.1:6443/api/v1/namespaces\n',
  );
});

test('an etcd of its own is shown with a backup command', () => {
  const etcd = { url: 'http://127.0.0.1:2379', etcdctlPath: '/opt/etcdctl' };
  expect(greet({ etcd })).toContain(
    '  ETCDCTL_API=3 /opt/etcdctl --endpoints=http://127.0.0.1:2379 snapshot save ' +
      '/srv/data/backup.db\n',
  );
  expect(greet({ etcd: { ...etcd, etcdctlPath: undefined } })).toContain('=3 etcdctl --endpoints');
});

test('paths with spaces and quotes are one word of the shell', () => {
  const command = /kubectl (.*) get/.exec(greet({}, "/my 'own' $HOME"))?.[1] ?? '';
  const { stdout } = spawnSync('sh', ['-c', `printf '%s|' ${command}`], { encoding: 'utf8' });
  expect(stdout).toBe("--kubeconfig|/my 'own' $HOME/admin.kubeconfig|");
});

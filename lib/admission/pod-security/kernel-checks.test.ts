import { always, findsIn } from './testing/found-in-pods.ts';
import type { Given } from './testing/found-in-pods.ts';

const unmasks =
  'procMount (containers "a", "c" must not set securityContext.procMount to "Unmasked")';
const contexts = [{ procMount: 'Unmasked' }, { procMount: 'Default' }, { procMount: 'Unmasked' }];
const sysctls = (...names: string[]): Given => ({
  spec: { securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } },
});
const forbidden = (names: string): string => `forbidden sysctls (${names})`;
const newIn29 = ['tcp_keepalive_time', 'tcp_fin_timeout', 'tcp_keepalive_intvl'].map(
  (name) => `net.ipv4.${name}`,
);

findsIn([
  ['/proc without masks', { contexts }, always(unmasks)],
  [
    '/proc without masks in a user namespace',
    { contexts, spec: { hostUsers: false } },
    {
      'baseline:v1.34': unmasks,
      'baseline:v1.35': '',
      'restricted:v1.34': unmasks,
      'restricted:v1.35': unmasks,
    },
  ],
  [
    'parameters that were always safe',
    sysctls(
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ),
    always(''),
  ],
  [
    'parameters that are never safe',
    sysctls('kernel.msgmax', 'net.ipv4.tcp_slow_start_after_idle'),
    always(forbidden('kernel.msgmax, net.ipv4.tcp_slow_start_after_idle')),
  ],
  [
    'reserved ports',
    sysctls('net.ipv4.ip_local_reserved_ports'),
    {
      'baseline:v1.26': forbidden('net.ipv4.ip_local_reserved_ports'),
      'baseline:v1.27': '',
      'baseline:latest': '',
    },
  ],
  [
    'keepalive',
    sysctls(...newIn29, 'net.ipv4.tcp_keepalive_probes'),
    {
      'baseline:v1.28': forbidden([...newIn29, 'net.ipv4.tcp_keepalive_probes'].join(', ')),
      'baseline:v1.29': '',
      'restricted:latest': '',
    },
  ],
  [
    'buffers',
    sysctls('net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'),
    {
      'baseline:v1.31': forbidden('net.ipv4.tcp_rmem, net.ipv4.tcp_wmem'),
      'baseline:v1.32': '',
      'restricted:latest': '',
    },
  ],
]);

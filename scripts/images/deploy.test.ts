// The set-up of docker-compose.yml, without Docker: what is mounted exists, what is given to a
// replica are flags of the product, secrets and networks stay apart.
import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { readTarget } from '../../cmd/health-check/target.ts';
import { readPlan } from '../../cmd/cluster-secrets/plan.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { productStart } from '../product-start.ts';
import { bases } from './bases.mjs';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Service {
  readonly image: string;
  readonly user?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[] | Readonly<Record<string, { aliases?: string[] } | null>>;
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly restart?: string;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
  readonly deploy?: { resources: { limits: { cpus: string; memory: string } } };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
  readonly volumes: Readonly<Record<string, null>>;
}

// Compose knows merge keys, as YAML 1.1 does.
const compose = load(read('docker-compose.yml'), { schema: YAML11_SCHEMA }) as Compose;
const services = Object.entries(compose.services);
const replicas = services.filter(([name]) => name.startsWith('apiserver-'));
const plan = readPlan(read('deploy/compose/secrets.yaml'));

/** `${NAME:-default}` as compose reads it where nothing is set. */
const withDefaults = (text: string): string =>
  text.replaceAll(/\$\{[A-Z_]+:-([^}]*)\}/g, (_, fallback: string) => fallback);
const mountsOf = ({ volumes = [] }: Service): string[][] => volumes.map((line) => line.split(':'));
const networksOf = ({ networks = [] }: Service): string[] =>
  Array.isArray(networks) ? [...(networks as string[])] : Object.keys(networks);

test('the image starts Node, and compiles the modules, with the flags of `npm start`', () => {
  const { flags, environment } = productStart();
  const dockerfile = read('deploy/Dockerfile');
  const commands = dockerfile.matchAll(/^(?:RUN|ENTRYPOINT) (\["node",[^\]]*\])/gm);
  const given = [...commands].flatMap(([, command = '']) => {
    const words = JSON.parse(command.replaceAll('\\\n', '')) as string[];
    const end = words.indexOf('cmd/apiserver/main.ts');
    return end < 0 ? [] : [words.slice(1, end)];
  });
  expect(given).toEqual([flags, flags]);
  const settings = Object.entries(environment).filter(([name]) => name.startsWith('MALLOC_'));
  expect(settings.length).toBeGreaterThan(0);
  for (const [name, value] of settings) expect(dockerfile).toContain(`${name}=${value}`);
});

test.each(services)(
  '%s is confined, bounded, restarted and its log is rotated',
  (name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(service.deploy?.resources.limits).toMatchObject({
      cpus: expect.any(String),
      memory: expect.any(String),
    });
    expect(service.restart).toBe(name === 'secrets' ? 'no' : 'unless-stopped');
    expect(service.logging?.options).toHaveProperty('max-size');
    expect(service.user).toMatch(name === 'secrets' ? /^0:0$/ : /^[1-9]\d+:\d+$/);
  },
);

test.each(services)('what %s mounts exists, and is not writable', (_name, service) => {
  for (const [source = '', , mode] of mountsOf(service)) {
    if (!source.startsWith('./')) expect(compose.volumes).toHaveProperty([source]);
    else {
      expect(existsSync(join(root, source))).toBe(true);
      expect(mode).toBe('ro');
    }
  }
});

test.each(services)('%s sees its own secrets and belongs to their owner', (name, service) => {
  if (name === 'secrets') return;
  const secrets = mountsOf(service).filter(([source]) => source?.startsWith('secrets-'));
  for (const [source, , mode] of secrets) {
    expect([source, mode]).toEqual([`secrets-${name}`, 'ro']);
    expect(service.user?.split(':')[0]).toBe(String(plan.folders[name]?.owner));
  }
});

test('every folder of the plan is a volume of its own', () => {
  const mounts = mountsOf(compose.services['secrets'] as Service);
  const targets = mounts.flatMap(([source = '', target]) =>
    source.startsWith('./') ? [] : [String(target)],
  );
  const folders = [plan.authorityFolder, ...Object.keys(plan.folders)];
  expect(targets.sort()).toEqual(folders.map((name) => `/secrets/${name}`).sort());
  const used = services.flatMap(([, service]) => mountsOf(service).map(([source]) => source));
  expect(new Set(used.filter((source) => !source?.startsWith('./')))).toEqual(
    new Set(Object.keys(compose.volumes)),
  );
});

describe.each(replicas)('%s', (name, service) => {
  const flags = (service.command ?? []).map(withDefaults);

  test('is given flags of the product alone, without a warning', () => {
    const parsed = parseFlags(flags);
    expect(parsed.warnings).toEqual([]);
    expect(parsed.flags['goaway-chance']).toBeGreaterThan(0);
    expect(parsed.flags['shutdown-delay-duration']).toBeGreaterThan(0);
  });

  test('finds every file that a flag names among its secrets', () => {
    const folder = plan.folders[name];
    const files = new Set([
      ...(folder?.trusts ?? []).map((authority) => `${authority}-ca.crt`),
      ...(folder?.signingKeys ?? []).flatMap((key) => [`${key}.key`, `${key}.pub`]),
      ...Object.keys(folder?.certificates ?? {}).flatMap((leaf) => [`${leaf}.crt`, `${leaf}.key`]),
    ]);
    const named = flags.flatMap((flag) => /=\/secrets\/(.+)$/.exec(flag)?.[1] ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((file) => !files.has(file))).toEqual([]);
  });

  test('is asked for its health where it listens', () => {
    const argv = ['node', '--max-semi-space-size=8', '/app/cmd/apiserver/main.ts', ...flags];
    expect(readTarget(argv, parseFlags)).toEqual({
      host: '127.0.0.1',
      port: 6443,
      dataDir: '/var/lib/svc-apiserver',
      certFile: '/secrets/server.crt',
    });
  });

  test('shares no network with another replica', () => {
    const others = replicas.filter(([other]) => other !== name);
    const theirs = new Set(others.flatMap(([, other]) => networksOf(other)));
    expect(networksOf(service).filter((network) => theirs.has(network))).toEqual([]);
  });
});

test('only members of etcd are on the network of peers, and clients of none reach it', () => {
  const on = (network: string): string[] =>
    services.filter(([, service]) => networksOf(service).includes(network)).map(([name]) => name);
  expect(on('peers')).toEqual(['etcd-1', 'etcd-2', 'etcd-3']);
  for (const network of ['peers', 'store-1', 'store-2', 'store-3', 'metrics', 'watch']) {
    expect(compose.networks[network]).toEqual({ internal: true });
  }
  const prometheus = new Set(networksOf(compose.services['prometheus'] as Service));
  const store = networksOf(compose.services['etcd-1'] as Service);
  expect(store.filter((network) => prometheus.has(network))).toEqual([]);
});

test('what is published is published on the loopback of the machine', () => {
  const ports = services.flatMap(([, service]) => service.ports ?? []);
  expect(ports.length).toBeGreaterThan(0);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});

test('whoever is waited for has a health check', () => {
  for (const [, { depends_on = {} }] of services) {
    for (const [name, { condition }] of Object.entries(depends_on)) {
      expect(compose.services).toHaveProperty([name]);
      if (condition === 'service_healthy')
        expect(compose.services[name]).toHaveProperty('healthcheck');
    }
  }
});

test('images that are built here are those that compose takes', () => {
  const images = new Set(services.map(([, { image }]) => withDefaults(image)));
  const local = bases.filter(({ variable }) => !['NODE_IMAGE', 'BASE_IMAGE'].includes(variable));
  expect([...images].filter((image) => image.startsWith('svc-apiserver/')).sort()).toEqual(
    local.map((base) => base.local).sort(),
  );
});

test('replicas and members are servers of the balancer, or targets of Prometheus', () => {
  const servers = [...read('deploy/compose/haproxy.cfg').matchAll(/^ +server (\S+) \1:6443 /gm)];
  const names = replicas.map(([name]) => name);
  expect(servers.map(([, name]) => name)).toEqual(names);
  const { scrape_configs: jobs } = load(read('deploy/prometheus/prometheus.yml')) as {
    scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
  };
  const targets = new Map(jobs.map((job) => [job.job_name, job.static_configs[0]?.targets]));
  expect(targets.get('apiserver')).toEqual(names.map((name) => `${name}:6443`));
  expect(targets.get('etcd')).toEqual([1, 2, 3].map((member) => `etcd-${String(member)}:2381`));
});

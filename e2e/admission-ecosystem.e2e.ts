// A sidecar injector, a policy engine and a keeper of certificates as processes of their own, which
// know each other by nothing but the API: from nothing, while certificates change, and while one
// after the other is dead. Three replicas; each add-on talks to another one.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../lib/api/type-info.ts';
import { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';
import { AddOn } from './ecosystem/add-on.ts';
import { TestCluster } from './harness.ts';
import type { Reply } from './harness.ts';
import { rewriteStored } from './rewrite-stored.ts';

const registration = '/apis/admissionregistration.k8s.io/v1';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const asks = 'certs.example.com/inject-ca-from';
let cluster: TestCluster;
let etcd: EtcdStorage;

const injector = new AddOn('injector', () => cluster.replica(0));
const engine = new AddOn('policy-engine', () => cluster.replica(1));
const issuer = new AddOn('certificate-issuer', () => cluster.replica(2));

let turn = 0;
/** To one replica after the other. */
const send = (line: string, body?: object): Promise<Reply> => {
  const [method = '', path = ''] = line.split(' ');
  const headers =
    method === 'PATCH' ? { headers: { 'content-type': 'application/merge-patch+json' } } : {};
  return cluster.replica(turn++ % 3).request(method, path, {
    ...(body === undefined ? {} : { body }),
    ...headers,
  });
};
async function done<T = JsonObject>(line: string, body?: object): Promise<T> {
  const reply = await send(line, body);
  if (reply.status >= 300) throw new Error(`${line}: ${String(reply.status)} ${reply.text}`);
  return reply.json<T>();
}
/** Tries again what fails. */
async function until<T>(claim: string, step: () => Promise<T | undefined>): Promise<T> {
  const giveUpAt = performance.now() + 60_000;
  let why = '';
  for (;;) {
    try {
      const made = await step();
      if (made !== undefined) return made;
    } catch (error) {
      why = String(error);
    }
    if (performance.now() > giveUpAt) throw new Error(`never ${claim}: ${why} ${errors()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const errors = (): string => [injector, engine, issuer].map((one) => one.errors).join('\n');
const messageOf = (reply: Reply): string =>
  `${String(reply.status)} ${reply.json<{ message?: string }>().message ?? ''}`;

/** A service whose one endpoint is on 127.0.0.1, which no client may write. */
async function publish(namespace: string, name: string, port: number): Promise<void> {
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  await send(`DELETE ${slices}/${name}-1`);
  await done(`POST ${slices}`, {
    metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
    ports: [{ name: '', port, protocol: 'TCP' }],
  });
  const key = `endpointslices/${namespace}/${name}-1`;
  await rewriteStored(etcd, key, { from: '192.0.2.1', to: '127.0.0.1' });
}
const service = (namespace: string, name: string): Promise<unknown> =>
  done(`POST /api/v1/namespaces/${namespace}/services`, {
    metadata: { name },
    spec: { ports: [{ port: 443 }] },
  });

const injection = (): object => ({
  metadata: { name: 'injector', annotations: { [asks]: 'mesh/injector-tls' } },
  webhooks: [
    {
      name: 'inject.mesh.example.com',
      admissionReviewVersions: ['v1', 'v1beta1'],
      sideEffects: 'None',
      reinvocationPolicy: 'IfNeeded',
      failurePolicy: 'Fail',
      clientConfig: { service: { namespace: 'mesh', name: 'injector', path: '/inject' } },
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
      ],
      namespaceSelector: { matchLabels: { injection: 'enabled' } },
    },
  ],
});
const certificateRules = (): object => ({
  metadata: { name: 'issuer', annotations: { [asks]: 'certs/issuer-tls' } },
  webhooks: [
    {
      name: 'validate.certs.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: `https://127.0.0.1:${String(issuer.port)}/validate` },
      rules: [
        {
          apiGroups: ['certs.example.com'],
          apiVersions: ['v1'],
          operations: ['CREATE', 'UPDATE'],
          resources: ['certificates'],
        },
      ],
    },
  ],
});
const certificateDefinition = (): object => {
  const version = (name: string, storage: boolean): object => ({
    name,
    storage,
    served: true,
    schema: {
      openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  });
  return {
    metadata: {
      name: 'certificates.certs.example.com',
      annotations: { [asks]: 'certs/issuer-tls' },
    },
    spec: {
      group: 'certs.example.com',
      scope: 'Namespaced',
      names: { plural: 'certificates', singular: 'certificate', kind: 'Certificate' },
      versions: [version('v1alpha1', false), version('v1', true)],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { url: `https://127.0.0.1:${String(issuer.port)}/convert` },
        },
      },
    },
  };
};
const certificates = (namespace: string, version = 'v1'): string =>
  `/apis/certs.example.com/${version}/namespaces/${namespace}/certificates`;
const pods = '/api/v1/namespaces/app/pods';
const maps = '/api/v1/namespaces/app/configmaps';
let count = 0;
const pod = (labels: object = {}): object => ({
  metadata: { name: `p-${String(count++)}`, labels },
  spec: { containers: [{ name: 'main', image: 'i' }] },
});
const map = (): object => ({ metadata: { name: `m-${String(count++)}` } });
interface Made {
  readonly spec: { readonly containers: readonly { name: string; env?: unknown }[] };
}
const containersOf = ({ spec }: Made): string[] =>
  spec.containers.map(({ name, env }) => (env === undefined ? name : `${name} by proxy`));
/** Refused by every replica with these words. */
async function refused(line: string, body: () => object, words: RegExp): Promise<void> {
  for (let replica = 0; replica < 3; replica++) {
    expect(messageOf(await send(line, body()))).toMatch(words);
  }
}
const injected = ['main by proxy', 'sidecar'];
async function injects(): Promise<void> {
  for (let replica = 0; replica < 3; replica++) {
    expect(containersOf(await done<Made>(`POST ${pods}`, pod()))).toEqual(injected);
  }
}
const judges = (): Promise<void> =>
  refused(`POST ${pods}`, () => pod({ forbidden: 'yes' }), /^403 .*the engine forbids it$/);

beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    serverFlags: ['--enable-aggregator-routing=true'],
  });
  etcd = new EtcdStorage(cluster.etcd.connection);
  for (const [name, labels] of [
    ['mesh', {}],
    ['engine', {}],
    ['certs', {}],
    ['app', { injection: 'enabled' }],
  ] as const) {
    await done('POST /api/v1/namespaces', { metadata: { name, labels } });
  }
  await until('an account', () => done('GET /api/v1/namespaces/app/serviceaccounts/default'));
}, 120_000);
afterAll(async () => {
  await Promise.all([injector, engine, issuer].map((one) => one.end('SIGKILL')));
  etcd?.close();
  await cluster?.stop();
});

describe('from nothing', () => {
  test('the add-ons find each other, and each configuration gets its CA', async () => {
    await service('mesh', 'injector');
    await service('engine', 'engine');
    await done(`POST ${registration}/mutatingwebhookconfigurations`, injection());
    await refused(
      `POST ${pods}`,
      pod,
      /^500 .*webhook "inject\.mesh\.example\.com": .*no endpoints available for service/,
    );
    // Both wait for their certificates.
    const started = { injector: injector.start(), engine: engine.start() };
    await issuer.start();
    await done(`POST ${definitions}`, certificateDefinition());
    await done(`POST ${registration}/validatingwebhookconfigurations`, certificateRules());
    for (const [namespace, name] of [
      ['mesh', 'injector'],
      ['engine', 'engine'],
    ] as const) {
      const spec = { secret: `${name}-tls`, dnsName: `${name}.${namespace}.svc` };
      const body = { apiVersion: 'certs.example.com/v1alpha1', kind: 'Certificate' };
      await until('a certificate', () =>
        done(`POST ${certificates(namespace, 'v1alpha1')}`, { ...body, metadata: { name }, spec }),
      );
      // The engine, which fails closed, comes last: nobody reaches it before its endpoint is there.
      await started[name];
    }
    // What is refused until the engine is reached may be what it is reached by: not here.
    await publish('engine', 'engine', engine.port);
    await until('published', () => publish('mesh', 'injector', injector.port).then(() => true));
    await until('injected', () => injects().then(() => true));
    await until('judged', () => judges().then(() => true));
  });

  test('an injector is asked again of what another add-on added', async () => {
    for (let replica = 0; replica < 3; replica++) {
      const made = await done<Made>(`POST ${pods}`, pod({ late: 'yes' }));
      expect(containersOf(made)).toEqual([...injected, 'late-one by proxy']);
    }
  });

  test('a rule for one version of a custom kind judges writes of the other', async () => {
    for (const version of ['v1', 'v1alpha1']) {
      await refused(
        `POST ${certificates('app', version)}`,
        () => ({
          apiVersion: `certs.example.com/${version}`,
          kind: 'Certificate',
          metadata: { name: 'evil' },
          spec: { [version === 'v1' ? 'secretName' : 'secret']: 'x', dnsName: 'evil' },
        }),
        new RegExp(`denied the request: evil v1, sent as ${version}$`),
      );
    }
  });
});

test('certificates are rotated, and no write meanwhile is refused or left unjudged', async () => {
  const body = { apiVersion: 'certs.example.com/v1', kind: 'Certificate' };
  const spec = { secretName: 'issuer-tls', dnsName: 'issuer.certs.svc' };
  await done(`POST ${certificates('certs')}`, { ...body, metadata: { name: 'issuer' }, spec });
  const before = await done<{ webhooks: { clientConfig: { caBundle: string } }[] }>(
    `GET ${registration}/mutatingwebhookconfigurations/injector`,
  );
  const all = [
    ['mesh', 'injector'],
    ['engine', 'engine'],
    ['certs', 'issuer'],
  ] as const;
  for (const rotation of [1, 2]) {
    for (const [namespace, name] of all) {
      await done(`PATCH ${certificates(namespace)}/${name}`, { spec: { rotation } });
    }
    const isRotated = async (): Promise<boolean> => {
      for (const [namespace, name] of all) {
        const { metadata } = await done<{ metadata: { annotations: JsonObject } }>(
          `GET /api/v1/namespaces/${namespace}/secrets/${name}-tls`,
        );
        if (metadata.annotations['certs.example.com/rotation'] !== String(rotation)) return false;
      }
      return true;
    };
    let writeCount = 0;
    const giveUpAt = performance.now() + 60_000;
    while (!(await isRotated()) || writeCount < 6) {
      if (performance.now() > giveUpAt) throw new Error(`never rotated: ${errors()}`);
      await injects();
      await judges();
      // Converted by the third add-on.
      const seen = await done<{ spec: JsonObject }>(
        `GET ${certificates('mesh', 'v1alpha1')}/injector`,
      );
      expect(seen.spec['secret']).toBe('injector-tls');
      writeCount++;
    }
  }
  const { webhooks } = await done<typeof before>(
    `GET ${registration}/mutatingwebhookconfigurations/injector`,
  );
  expect(webhooks[0]?.clientConfig.caBundle).not.toBe(before.webhooks[0]?.clientConfig.caBundle);
});

describe('while an add-on is dead', () => {
  test('the injector: its namespaces get no pods until it comes back', async () => {
    await injector.end('SIGKILL');
    await refused(
      `POST ${pods}`,
      pod,
      /^500 .*failed calling webhook "inject\.mesh\.example\.com": .*connection refused/,
    );
    for (let replica = 0; replica < 3; replica++) {
      await done(`POST ${maps}`, map());
      await done('POST /api/v1/namespaces/default/pods', pod());
    }
    await injector.start();
    await until('injected', () => injects().then(() => true));
  });

  test('the injector, whose configuration is removed: pods are made without it', async () => {
    await injector.end('SIGKILL');
    const path = `${registration}/mutatingwebhookconfigurations`;
    await done(`DELETE ${path}/injector`);
    for (let replica = 0; replica < 3; replica++) {
      expect(containersOf(await done<Made>(`POST ${pods}`, pod()))).toEqual(['main']);
    }
    await done(`POST ${path}`, injection());
    await refused(`POST ${pods}`, pod, /^500 .*inject\.mesh\.example\.com/);
    await injector.start();
    await until('injected', () => injects().then(() => true));
  });

  test('the engine: nothing is written outside its namespace until it moves or goes', async () => {
    await engine.end('SIGKILL');
    const failing = /^500 .*failed calling webhook "all\.engine\.example\.com": /;
    await refused(`POST ${maps}`, map, failing);
    await refused(`DELETE ${maps}/none-of-these`, () => ({}), /^404 /);
    await done('POST /api/v1/namespaces/engine/configmaps', map());
    await done(`GET ${maps}`);

    // It comes back elsewhere.
    engine.port = 0;
    await engine.start();
    await publish('engine', 'engine', engine.port);
    await until('judged', () => judges().then(() => true));
    await done(`POST ${maps}`, map());

    // It never comes back: who administers the cluster removes its rules.
    await engine.end('SIGKILL');
    await refused(`POST ${maps}`, map, failing);
    for (const kind of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']) {
      await done(`DELETE ${registration}/${kind}/zz-engine`);
    }
    for (let replica = 0; replica < 3; replica++) {
      await done(`POST ${maps}`, map());
      await done(`POST ${pods}`, pod({ forbidden: 'yes' }));
    }

    // It does come back, and registers itself again.
    await engine.start();
    await until('judged', () => judges().then(() => true));
    await done(`DELETE ${registration}/validatingwebhookconfigurations/zz-engine`);
    await until('registered again', () => judges().then(() => true));
    await engine.end('SIGTERM'); // it leaves in good order
    await done(`POST ${pods}`, pod({ forbidden: 'yes' }));
    await engine.start();
    await until('judged', () => judges().then(() => true));
  });

  test('the issuer: what must be converted waits for it, and certificates serve on', async () => {
    await issuer.end('SIGKILL');
    // One that no replica has converted so far.
    expect(messageOf(await send(`GET ${certificates('certs', 'v1alpha1')}/issuer`))).toMatch(
      /^500 conversion webhook for certs\.example\.com\/v1, Kind=Certificate failed: /,
    );
    await done(`GET ${certificates('mesh')}/injector`);
    await injects();
    await judges();
    // Others are owned by a manager of the other version: these need conversion.
    const write = (): Promise<Reply> =>
      send(`PATCH ${certificates('certs')}/issuer`, { metadata: { labels: { n: String(turn) } } });
    expect(messageOf(await write())).toMatch(/^500 .*"validate\.certs\.example\.com"/);
    await done(`DELETE ${registration}/validatingwebhookconfigurations/issuer`);
    expect((await write()).status).toBe(200);
    await done(`POST ${registration}/validatingwebhookconfigurations`, certificateRules());
    expect(messageOf(await write())).toMatch(/^500 .*"validate\.certs\.example\.com"/);
    await issuer.start();
    await until('injected into the new configuration', async () => {
      const reply = await write();
      return reply.status === 200 ? true : undefined;
    });
    await done(`GET ${certificates('mesh', 'v1alpha1')}/injector`);
  });
});

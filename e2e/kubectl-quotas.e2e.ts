// Stock kubectl under quotas and limit ranges: how it makes them and shows them, and what it prints
// of a write that they refuse. A controller of replica sets tells why it lacks pods.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hasKubectl, KubectlCluster } from './run-kubectl.ts';
import type { Reply } from './harness.ts';
import type { JsonObject } from '../lib/api/type-info.ts';

let kubectl: KubectlCluster;
beforeAll(async () => {
  if (hasKubectl) kubectl = await KubectlCluster.start();
}, 60_000);
afterAll(() => kubectl?.stop());

/** A namespace of its own, and kubectl in it. */
function inNamespace(namespace: string): {
  readonly told: (...args: string[]) => string;
  readonly refused: (...args: string[]) => string;
} {
  kubectl.told('create', 'namespace', namespace);
  kubectl.told('-n', namespace, 'wait', '--for=create', 'serviceaccount/default');
  return {
    told: (...args) => kubectl.told('-n', namespace, ...args),
    refused(...args) {
      const { code, out, err } = kubectl.run('-n', namespace, ...args);
      expect([args.join(' '), code, out]).toEqual([args.join(' '), 1, '']);
      return err.trim();
    },
  };
}
/** What kubectl prints in columns, without their width. */
const rowsOf = (out: string): string[] =>
  out
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, '  '))
    .filter((line) => line !== '');
/** For `run`: a container with these resources. */
const asking = (resources: object): string =>
  `--overrides=${JSON.stringify({ spec: { containers: [{ name: 'c', image: 'i', resources }] } })}`;
const half = asking({ requests: { cpu: '600m' }, limits: { memory: '100Mi' } });

const kubectlTests = hasKubectl ? describe : describe.skip;

kubectlTests('create quota', () => {
  test.each([
    ['without limits', [], '{}'],
    ['with some', ['--hard=cpu=2,count/jobs.batch=3'], '{"count/jobs.batch":"3","cpu":"2"}'],
    ['with a scope', ['--hard=pods=1', '--scopes=BestEffort'], '{"pods":"1"}'],
    ['with scopes', ['--hard=pods=1', '--scopes=Terminating,NotBestEffort'], '{"pods":"1"}'],
  ])('%s', (title, flags, hard) => {
    const { told } = inNamespace(title.replaceAll(' ', '-'));
    const dry = told('create', 'quota', 'q', ...flags, '--dry-run=server');
    expect(dry).toBe('resourcequota/q created (server dry run)');
    expect(told('get', 'quota', '--ignore-not-found', 'q')).toBe('');
    expect(told('create', 'quota', 'q', ...flags)).toBe('resourcequota/q created');
    if (hard === '{}') return;
    told('wait', 'quota/q', '--for=jsonpath={.status.used}');
    expect(told('get', 'quota', 'q', '-o', 'jsonpath={.spec.hard}')).toBe(hard);
    expect(told('get', 'quota', 'q', '-o', 'jsonpath={.status.hard}')).toBe(hard);
  });

  test.each([
    [
      ['--hard=secrets=1', '--scopes=BestEffort'],
      'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
    ],
    [
      ['--hard=pods=1', '--scopes=BestEffort,NotBestEffort'],
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
    ],
    [['--hard=pods=1', '--scopes=Nope'], 'spec.scopes: Invalid value: ["Nope"]: unsupported scope'],
    [
      ['--hard=pods=-1'],
      'spec.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ])('is refused with %j', (flags, cause) => {
    for (const dry of [[], ['--dry-run=server']]) {
      expect(kubectl.run('create', 'quota', 'wrong', ...flags, ...dry)).toEqual({
        code: 1,
        out: '',
        err: `error: failed to create quota: ResourceQuota "wrong" is invalid: ${cause}\n`,
      });
    }
    const { err } = kubectl.run('get', 'quota', 'wrong');
    expect(err).toBe('Error from server (NotFound): resourcequotas "wrong" not found\n');
  });
});

kubectlTests('under a quota', () => {
  test('a write that is too much is refused, also as a dry run, and is shown', () => {
    const { told, refused } = inNamespace('tight');
    const hard = '--hard=pods=2,requests.cpu=1,limits.memory=1Gi,count/deployments.apps=1';
    told('create', 'quota', 'q', hard);
    const forbidden = (name: string, why: string): string =>
      `Error from server (Forbidden): pods "${name}" is forbidden: ${why}`;

    expect(refused('run', 'a', '--image=i')).toBe(
      forbidden('a', 'failed quota: q: must specify limits.memory for: a; requests.cpu for: a'),
    );
    const dry = told('run', 'a', '--image=i', half, '--dry-run=server');
    expect(dry).toBe('pod/a created (server dry run)');
    expect(told('run', 'a', '--image=i', half)).toBe('pod/a created');
    const exceeded =
      'exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, ' +
      'limited: requests.cpu=1';
    expect(refused('run', 'b', '--image=i', half)).toBe(forbidden('b', exceeded));
    const alsoDry = refused('run', 'b', '--image=i', half, '--dry-run=server');
    expect(alsoDry).toBe(forbidden('b', exceeded));

    told('create', 'deployment', 'd', '--image=i');
    const second =
      'error: failed to create deployment: deployments.apps "e" is forbidden: exceeded quota: q, ' +
      'requested: count/deployments.apps=1, used: count/deployments.apps=1, ' +
      'limited: count/deployments.apps=1';
    expect(refused('create', 'deployment', 'e', '--image=i')).toBe(second);
    expect(refused('create', 'deployment', 'e', '--image=i', '--dry-run=server')).toBe(second);
    // A name that is taken is told so, however full the quota is.
    expect(refused('create', 'deployment', 'd', '--image=i')).toBe(
      'error: failed to create deployment: deployments.apps "d" already exists',
    );

    expect(rowsOf(told('describe', 'quota', 'q'))).toEqual([
      'Name:  q',
      'Namespace:  tight',
      'Resource  Used  Hard',
      '--------  ----  ----',
      'count/deployments.apps  1  1',
      'limits.memory  100Mi  1Gi',
      'pods  1  2',
      'requests.cpu  600m  1',
    ]);
    const [, row] = rowsOf(told('get', 'quota'));
    expect(row).toMatch(
      /^q {2}count\/deployments\.apps: 1\/1, pods: 1\/2, .*cpu: 600m\/1 {2}.*memory: 100Mi\/1Gi/,
    );

    told('delete', 'deployment', 'd');
    told('delete', 'pod', 'a', '--now');
    told('wait', 'quota/q', '--for=jsonpath={.status.used.pods}=0');
    expect(told('create', 'deployment', 'e', '--image=i')).toBe('deployment.apps/e created');
  });

  test('a changed limit acts on the next command, and describe tells of its scopes', () => {
    const { told, refused } = inNamespace('changing');
    told('create', 'quota', 'q', '--hard=pods=0', '--scopes=BestEffort');
    expect(refused('run', 'a', '--image=i')).toBe(
      'Error from server (Forbidden): pods "a" is forbidden: exceeded quota: q, ' +
        'requested: pods=1, used: pods=0, limited: pods=0',
    );
    expect(told('run', 'sized', '--image=i', half)).toBe('pod/sized created');
    const more = ['-p', '{"spec":{"hard":{"pods":"1"}}}'];
    expect(told('patch', 'quota', 'q', ...more)).toBe('resourcequota/q patched');
    expect(told('run', 'a', '--image=i')).toBe('pod/a created');
    expect(rowsOf(told('describe', 'quota'))).toEqual([
      'Name:  q',
      'Namespace:  changing',
      'Scopes:  BestEffort',
      expect.stringMatching(/^\* Matches all pods that do not have resource requirements set/),
      'Resource  Used  Hard',
      '--------  ----  ----',
      'pods  1  1',
    ]);
    told('delete', 'quota', 'q');
    expect(told('run', 'b', '--image=i')).toBe('pod/b created');
  });
});

kubectlTests('a limit range', () => {
  const limits = [
    {
      type: 'Container',
      max: { cpu: '1' },
      min: { cpu: '10m' },
      default: { cpu: '100m', memory: '1Mi' },
      defaultRequest: { cpu: '50m' },
      maxLimitRequestRatio: { memory: '2' },
    },
    { type: 'Pod', max: { cpu: '2' } },
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
  ];

  test('is described, completes a pod for its quota, and refuses with every cause', () => {
    const { told, refused } = inNamespace('ranged');
    const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' } };
    told('apply', '-f', kubectl.file('range', { ...range, spec: { limits } }));
    const described = rowsOf(told('describe', 'limitranges'));
    expect(described.slice(0, 4)).toEqual([
      'Name:  l',
      'Namespace:  ranged',
      'Type  Resource  Min  Max  Default Request  Default Limit  Max Limit/Request Ratio',
      '----  --------  ---  ---  ---------------  -------------  -----------------------',
    ]);
    // kubectl has the resources of one type in any order.
    expect(described.slice(4).sort()).toEqual([
      'Container  cpu  10m  1  50m  100m  -',
      'Container  memory  -  -  1Mi  1Mi  2',
      'PersistentVolumeClaim  storage  1Gi  -  -  -  -',
      'Pod  cpu  -  2  -  -  -',
    ]);
    told('create', 'quota', 'q', '--hard=requests.cpu=75m');
    expect(told('run', 'a', '--image=i')).toBe('pod/a created');
    expect(refused('run', 'b', '--image=i')).toBe(
      'Error from server (Forbidden): pods "b" is forbidden: exceeded quota: q, ' +
        'requested: requests.cpu=50m, used: requests.cpu=50m, limited: requests.cpu=75m',
    );
    expect(refused('run', 'big', '--image=i', asking({ limits: { cpu: '3' } }))).toBe(
      'Error from server (Forbidden): pods "big" is forbidden: ' +
        '[maximum cpu usage per Container is 1, but limit is 3, ' +
        'maximum cpu usage per Pod is 2, but limit is 3]',
    );
  });
});

kubectlTests('a controller of replica sets', () => {
  const set = '/apis/apps/v1/namespaces/replicated/replicasets/web';
  const pods = '/api/v1/namespaces/replicated/pods';
  const ask = (line: string, body?: object): Promise<Reply> => {
    const [method = '', path = ''] = line.split(' ');
    return kubectl.cluster.replica(0).request(method, path, body === undefined ? {} : { body });
  };

  /** Makes the pods that are missing until one is refused, and says in the status what it made. */
  async function reconcile(): Promise<void> {
    const { metadata, spec, status } = (await ask(`GET ${set}`)).json<Owner>();
    const found = (await ask(`GET ${pods}`)).json<{ items: { metadata: JsonObject }[] }>();
    let owned = found.items.filter(({ metadata: { ownerReferences } }) =>
      JSON.stringify(ownerReferences ?? []).includes(metadata.uid),
    ).length;
    let failure: string | undefined;
    while (owned < spec.replicas && failure === undefined) {
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: metadata.uid };
      const made = await ask(`POST ${pods}`, {
        metadata: {
          generateName: 'web-',
          labels: spec.template.metadata.labels,
          ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
        },
        spec: spec.template.spec,
      });
      if (made.status === 201) owned++;
      else failure = made.json<{ message: string }>().message;
    }
    const message = failure?.replace(/pods "web-[a-z0-9]+"/, 'pods "web-x"');
    const failed = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message };
    const written = await ask(`PUT ${set}/status`, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata,
      spec,
      status: {
        ...status,
        replicas: owned,
        observedGeneration: metadata.generation,
        conditions: failure === undefined ? [] : [failed],
      },
    });
    expect(written.status).toBe(200);
  }
  interface Owner {
    readonly metadata: { readonly uid: string; readonly generation: number };
    readonly spec: {
      readonly replicas: number;
      readonly template: { metadata: { labels: JsonObject }; spec: JsonObject };
    };
    readonly status: JsonObject;
  }

  test('shows as a condition that the quota is exceeded, and that it no longer is', async () => {
    const { told } = inNamespace('replicated');
    told('create', 'quota', 'two', '--hard=pods=2');
    const labels = { app: 'web' };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const spec = { replicas: 3, selector: { matchLabels: labels }, template };
    const manifest = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web' }, spec };
    told('create', '-f', kubectl.file('web', manifest));
    await reconcile();
    const failing = told('describe', 'replicaset', 'web');
    expect(rowsOf(failing)).toContain('ReplicaFailure  True  FailedCreate');
    const message = '{.status.conditions[?(@.type=="ReplicaFailure")].message}';
    expect(told('get', 'rs', 'web', '-o', `jsonpath=${message}`)).toBe(
      'pods "web-x" is forbidden: exceeded quota: two, requested: pods=1, used: pods=2, ' +
        'limited: pods=2',
    );
    expect(told('get', 'rs', 'web', '-o', 'jsonpath={.status.replicas}')).toBe('2');
    expect(told('get', 'pods', '-l', 'app=web', '-o', 'name').split('\n')).toHaveLength(2);

    told('patch', 'quota', 'two', '-p', '{"spec":{"hard":{"pods":"5"}}}');
    await reconcile();
    expect(told('get', 'rs', 'web', '-o', 'jsonpath={.status.conditions}')).toBe('');
    expect(told('get', 'rs', 'web', '-o', 'jsonpath={.status.replicas}')).toBe('3');
  });
});

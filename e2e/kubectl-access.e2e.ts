// Stock kubectl asks who it is and what it may do: as itself, as others, and with a credential that
// a plugin hands it. Skipped where there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasKubectl, KubectlCluster, runKubectl, toldBy } from './run-kubectl.ts';
import type { KubectlHome } from './run-kubectl.ts';

let kube: KubectlCluster;
let alice: KubectlHome;

interface Identity {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
}
const identityOf = (text: string): Identity =>
  (JSON.parse(text) as { status: { userInfo: Identity } }).status.userInfo;
const whoami = (...args: readonly string[]): Identity =>
  identityOf(kube.told('auth', 'whoami', '-o', 'json', ...args));

/** A home whose kubectl is somebody else on the same server. */
function homeOf(name: string, user: object): KubectlHome {
  const admin = readFileSync(kube.home.kubeconfig, 'utf8');
  const [, ca = ''] = /"?certificate-authority-data"?:\s*"?([^"\s,]+)/.exec(admin) ?? [];
  const server = kube.cluster.replica(0).url;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user }],
  };
  return { kubeconfig: kube.file(name, config), home: kube.folder };
}

/** Asks again until it is true: rules are gathered, and followed. */
async function until(isTrue: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!isTrue()) await sleep(100, undefined, { signal });
}

(hasKubectl ? describe : describe.skip)('stock kubectl', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start({
      tokens: ['alice-token,alice,uid-alice,"team-a,team-b"'],
    });
    alice = homeOf('alice', { token: 'alice-token' });
    const rules = ['create', 'selfsubjectreviews.authentication.k8s.io'] as const;
    const reviews = 'selfsubjectaccessreviews.authorization.k8s.io';
    kube.told('create', 'clusterrole', 'whoami', `--verb=${rules[0]}`, `--resource=${rules[1]}`);
    kube.told('create', 'clusterrole', 'can-i', '--verb=create', `--resource=${reviews}`);
    for (const role of ['whoami', 'can-i']) {
      const group = '--group=system:authenticated';
      kube.told('create', 'clusterrolebinding', role, `--clusterrole=${role}`, group);
    }
    kube.told('create', 'role', 'reader', '--verb=get,list', '--resource=configmaps');
    kube.told('create', 'rolebinding', 'reader', '--role=reader', '--user=alice');
    kube.told('create', 'rolebinding', 'viewer', '--clusterrole=view', '--user=viewer');
    kube.told('create', 'rolebinding', 'owner', '--role=reader', '--user=owner');
    const one = ['--verb=get', '--resource=secrets', '--resource-name=one'];
    kube.told('create', 'role', 'one', ...one);
    kube.told('create', 'rolebinding', 'one', '--role=one', '--user=owner');
    await until(() => kube.run('auth', 'can-i', 'get', 'pods/log', '--as=viewer').code === 0);
    await until(() => kube.run('auth', 'can-i', 'get', 'secret/one', '--as=owner').code === 0);
  });
  afterAll(() => kube.stop());

  test('auth whoami: the token’s user, with its groups', () => {
    const told = toldBy(alice, 'auth', 'whoami', '-o', 'json');
    expect(identityOf(told)).toEqual({
      username: 'alice',
      uid: 'uid-alice',
      groups: ['team-a', 'team-b', 'system:authenticated'],
    });
    expect(toldBy(alice, 'auth', 'whoami')).toMatch(/Username +alice/);
  });

  test.each([
    [['get', 'configmaps'], 'yes', 0],
    [['list', 'configmaps', '-n', 'default'], 'yes', 0],
    [['delete', 'configmaps'], 'no', 1],
    [['get', 'configmaps', '-n', 'kube-system'], 'no', 1],
    [['get', '/livez'], 'yes', 0],
  ])('auth can-i %j is %s', (question, answer, code) => {
    const result = runKubectl(alice, ['auth', 'can-i', ...question]);
    expect([result.code, result.out.trim().split(' ')[0]]).toEqual([code, answer]);
  });

  /** Lines of `auth can-i --list`, without its head: resources, paths, names, verbs. */
  const listed = (...args: readonly string[]): string[] => {
    const [head = '', ...lines] = kube.told('auth', 'can-i', '--list', ...args).split('\n');
    expect(head).toMatch(/^Resources +Non-Resource URLs +Resource Names +Verbs$/);
    return lines.map((line) => line.trim().replaceAll(/ +/g, ' '));
  };
  /** What everybody who is known may do, in every namespace. */
  const everybodys = [
    'selfsubjectreviews.authentication.k8s.io [] [] [create]',
    'selfsubjectaccessreviews.authorization.k8s.io [] [] [create]',
    'selfsubjectrulesreviews.authorization.k8s.io [] [] [create]',
    '[/api/*] [] [get]',
    '[/healthz] [] [get]',
  ];

  test('auth can-i --list: own rules, in their namespace alone', () => {
    const own = ['configmaps [] [] [get list]', 'secrets [] [one] [get]'];
    const here = listed('--as=owner');
    expect(here).toEqual(expect.arrayContaining([...own, ...everybodys]));
    const there = listed('--as=owner', '-n', 'kube-system');
    expect(there).toEqual(expect.arrayContaining(everybodys));
    expect(here.filter((line) => !there.includes(line)).sort()).toEqual(own);
  });

  test('auth can-i --list: the rules of who is bound to view, which gathers them', () => {
    const list = (): string[] => listed('--as=viewer');
    const rules = list();
    expect(rules).toEqual(
      expect.arrayContaining([
        ...everybodys,
        'pods [] [] [get list watch]',
        'pods/log [] [] [get list watch]',
        'deployments.apps [] [] [get list watch]',
        'networkpolicies.networking.k8s.io [] [] [get list watch]',
      ]),
    );
    // Nothing that changes anything, and no secrets.
    const more = rules.filter((line) => !everybodys.includes(line) && !line.startsWith('['));
    for (const line of more) expect(line).toMatch(/\[(get( list watch)?|create)\]$/);
    expect(more.filter((line) => line.includes('create'))).toEqual([]);
    expect(rules.filter((line) => line.startsWith('secrets'))).toEqual([]);
  });

  test('auth can-i --list: everything, of an administrator', () => {
    expect(listed()).toEqual(expect.arrayContaining(['*.* [] [] [*]', '[*] [] [*]']));
  });

  test('--as, --as-group and --as-uid: who is allowed is somebody else for a command', () => {
    expect(whoami('--as=jane', '--as-group=devs', '--as-group=ops', '--as-uid=u-1')).toEqual({
      username: 'jane',
      uid: 'u-1',
      groups: ['devs', 'ops', 'system:authenticated'],
    });
    expect(whoami('--as=system:serviceaccount:default:robot').groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:default',
      'system:authenticated',
    ]);
    expect(kube.run('get', 'secrets', '--as=jane').err).toContain('User "jane" cannot list');
    expect(kube.run('auth', 'can-i', 'list', 'secrets', '--as=jane').out.trim()).toBe('no');
    expect(kube.told('auth', 'can-i', 'get', 'configmaps', '--as=alice')).toBe('yes');
  });

  test('who is not allowed to is told so', () => {
    const { code, err } = runKubectl(alice, ['get', 'configmaps', '--as=jane']);
    expect(code).toBe(1);
    expect(err).toContain('User "alice" cannot impersonate-on:user-info:list');
  });

  test('an exec credential plugin hands it its token', () => {
    const plugin = join(kube.folder, 'plugin');
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'alice-token' },
    };
    writeFileSync(plugin, `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`);
    chmodSync(plugin, 0o755);
    const exec = {
      apiVersion: credential.apiVersion,
      command: plugin,
      interactiveMode: 'Never',
    };
    const told = toldBy(homeOf('exec', { exec }), 'auth', 'whoami', '-o', 'json');
    expect(identityOf(told).username).toBe('alice');
  });
});

// Tokens of service accounts with stock kubectl, against a replica in the kubernetes profile:
// `create token`, and kubectl with such a token. Skipped where there is no kubectl.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { hasKubectl, KubectlCluster, runKubectl } from './run-kubectl.ts';
import type { KubectlResult } from './run-kubectl.ts';

let kube: KubectlCluster;

/** kubectl as whoever has the token, and as nobody else. */
function as(token: string, ...args: readonly string[]): KubectlResult {
  const { url, caFile } = kube.cluster.replica(0);
  const flags = [`--server=${url}`, `--certificate-authority=${caFile}`, `--token=${token}`];
  return runKubectl(kube.home, [...flags, ...args], { KUBECONFIG: '/dev/null' });
}

const secondsOf = (token: string): number => {
  const { exp = 0, iat = 0 } = decodeJwt(token);
  return exp - iat;
};

(hasKubectl ? describe : describe.skip)('stock kubectl', () => {
  beforeAll(async () => {
    kube = await KubectlCluster.start({ serverFlags: ['--authorization-mode=RBAC'] });
    kube.told('create', 'serviceaccount', 'robot');
    kube.told('create', 'role', 'reads', '--verb=get,list', '--resource=configmaps');
    kube.told('create', 'rolebinding', 'reads', '--role=reads', '--serviceaccount=default:robot');
    kube.told('create', 'configmap', 'c', '--from-literal=k=v');
  });
  afterAll(() => kube.stop());

  test('creates a token, whose bearer reads what a RoleBinding allows', async () => {
    const token = kube.told('create', 'token', 'robot');
    expect(secondsOf(token)).toBe(3600);
    const read = (): KubectlResult =>
      as(token, 'get', 'configmap', 'c', '-o', 'jsonpath={.data.k}');
    while (read().err.includes('Forbidden')) await new Promise((go) => setTimeout(go, 50));
    expect(read()).toMatchObject({ code: 0, out: 'v' });
    const refused = as(token, 'get', 'secrets');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('User "system:serviceaccount:default:robot" cannot list');
  });

  test('says how long a token is wanted, and for whom', () => {
    const token = kube.told(
      'create',
      'token',
      'robot',
      '--duration=20m',
      '--audience=vault',
      '--audience=other',
    );
    expect(secondsOf(token)).toBe(1200);
    expect(decodeJwt(token).aud).toEqual(['vault', 'other']);
    expect(as(token, 'get', 'configmap', 'c').err).toMatch(/logged in|Unauthorized/);
    const tooShort = kube.run('create', 'token', 'robot', '--duration=1m');
    expect(tooShort.code).toBe(1);
    expect(tooShort.err).toContain('may not specify a duration less than 10 minutes');
  });

  test('binds a token to a pod, and it ends with the pod', async () => {
    const overrides = JSON.stringify({ spec: { serviceAccountName: 'robot' } });
    kube.told('run', 'p', '--image=registry.example/i:1', `--overrides=${overrides}`);
    const uid = kube.told('get', 'pod', 'p', '-o', 'jsonpath={.metadata.uid}');
    const bound = ['--bound-object-kind=Pod', '--bound-object-name=p'];
    const token = kube.told('create', 'token', 'robot', ...bound, `--bound-object-uid=${uid}`);
    expect(decodeJwt(token)['kubernetes.io']).toMatchObject({ pod: { name: 'p', uid } });
    expect(as(token, 'get', 'configmap', 'c').code).toBe(0);
    const other = kube.run('create', 'token', 'robot', ...bound, '--bound-object-uid=x');
    expect(other.err).toContain('does not match the UID in record');
    expect(kube.run('delete', 'pod', 'p', '--force', '--grace-period=0').code).toBe(0);
    while (as(token, 'get', 'configmap', 'c').code === 0) {
      await new Promise((go) => setTimeout(go, 20));
    }
    expect(as(token, 'get', 'configmap', 'c').err).toMatch(/logged in|Unauthorized/);
  });
});

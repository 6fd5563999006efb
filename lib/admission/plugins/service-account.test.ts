import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { admit } from '../testing/cluster.ts';
import type { Admitted, Known } from '../testing/cluster.ts';
import { serviceAccount } from './service-account.ts';

const account = (name: string, more: object = {}): object => ({
  metadata: { namespace: 'a', name },
  ...more,
});
const pod = (spec: object = {}, annotations?: object): object => ({
  metadata: { namespace: 'a', name: 'x', ...(annotations && { annotations }) },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const accounts = { serviceaccounts: [account('default'), account('robot')] };
const ask = (object: object, known: Known = { memory: accounts }, change = {}): Promise<Admitted> =>
  admit(serviceAccount, known, object, change);
const specOf = ({ object }: Admitted): JsonObject => object['spec'] as JsonObject;
const mountPath = '/var/run/secrets/svc.io/serviceaccount';
const mirror = { 'svc.io/config.mirror': 'x' };

describe('a pod', () => {
  test('p.ServiceAccount: without an account gets the default one', async () => {
    expect(specOf(await ask(pod()))).toMatchObject({ serviceAccountName: 'default' });
  });

  test('keeps the account that it names', async () => {
    const spec = specOf(await ask(pod({ serviceAccountName: 'robot' })));
    expect(spec).toMatchObject({ serviceAccountName: 'robot' });
  });

  test.each([
    ['missing', 'missing'],
    ['default', undefined],
  ])('of the missing account %s is refused', async (name, given) => {
    const { refused } = await ask(pod({ serviceAccountName: given }), {});
    expect(refused).toBe(
      `403 pods "x" is forbidden: error looking up service account a/${name}: ` +
        `serviceaccount "${name}" not found`,
    );
  });

  test('finds an account in the store that memory does not know yet', async () => {
    expect((await ask(pod(), { memory: {}, store: accounts })).refused).toBeUndefined();
  });

  test.each([
    ['default', limits.defaultAccountRetryCountMax],
    ['robot', 0],
  ])('waits for the account %s so often: %d', async (serviceAccountName, count) => {
    let waits = 0;
    const clock: Clock = {
      nowMs: () => 0,
      monotonicMs: () => 0,
      after: (delayMs, run) => {
        expect(delayMs).toBe(limits.defaultAccountRetryMs);
        waits++;
        setImmediate(run);
        return () => undefined;
      },
    };
    expect((await ask(pod({ serviceAccountName }), { clock })).refused).toMatch(/not found/);
    expect(waits).toBe(count);
  });

  test('waits until a controller has made the default account', async () => {
    const made: object[] = [];
    const clock: Clock = {
      nowMs: () => 0,
      monotonicMs: () => 0,
      after: (_delayMs, run) => {
        made.push(account('default'));
        setImmediate(run);
        return () => undefined;
      },
    };
    const store = { serviceaccounts: made };
    expect((await ask(pod(), { memory: {}, store, clock })).refused).toBeUndefined();
  });
});

describe('the token of the account', () => {
  test('is in a volume that every container mounts', async () => {
    const spec = specOf(await ask(pod({ initContainers: [{ name: 'i' }] })));
    const [volume] = spec['volumes'] as JsonObject[];
    expect(volume?.['name']).toMatch(/^svc-api-access-[a-z0-9]{5}$/);
    expect(volume?.['projected']).toEqual({
      defaultMode: 420,
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'svc-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [
              {
                path: 'namespace',
                fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' },
              },
            ],
          },
        },
      ],
    });
    const mount = { name: volume?.['name'], readOnly: true, mountPath };
    expect(spec['containers']).toEqual([{ name: 'c', volumeMounts: [mount] }]);
    expect(spec['initContainers']).toEqual([{ name: 'i', volumeMounts: [mount] }]);
  });

  test('is not mounted where something is, and then there is no volume', async () => {
    const containers = [{ name: 'c', volumeMounts: [{ name: 'v', mountPath }] }];
    const spec = specOf(await ask(pod({ containers, volumes: [{ name: 'v' }] })));
    expect(spec).toMatchObject({ containers, volumes: [{ name: 'v' }] });
    expect(spec['volumes']).toHaveLength(1);
  });

  test('is in the volume that the pod has for it', async () => {
    const volumes = [{ name: 'svc-api-access-own', projected: { sources: [] } }];
    const spec = specOf(await ask(pod({ volumes })));
    expect(spec['volumes']).toEqual(volumes);
    const [container] = spec['containers'] as JsonObject[];
    expect(container?.['volumeMounts']).toMatchObject([{ name: 'svc-api-access-own' }]);
  });

  test.each([
    [undefined, undefined, true],
    [undefined, false, false],
    [false, true, false],
    [true, false, true],
  ])('pod says %p, account says %p: mounted %p', async (ofPod, ofAccount, isMounted) => {
    const says = (flag: boolean | undefined): object =>
      flag === undefined ? {} : { automountServiceAccountToken: flag };
    const memory = { serviceaccounts: [account('default', says(ofAccount))] };
    const spec = specOf(await ask(pod(says(ofPod)), { memory }));
    expect(spec['volumes'] !== undefined).toBe(isMounted);
  });
});

test.each([
  [undefined, [{ name: 'pull' }]],
  [[{ name: 'own' }], [{ name: 'own' }]],
])('pull secrets %j become %j', async (given, expected) => {
  const memory = {
    serviceaccounts: [account('default', { imagePullSecrets: [{ name: 'pull' }] })],
  };
  const spec = specOf(await ask(pod({ imagePullSecrets: given }), { memory }));
  expect(spec['imagePullSecrets']).toEqual(expected);
});

describe('a pod that a node runs by itself', () => {
  test('has no account', async () => {
    const { refused, isChanged } = await ask(pod({}, mirror), {});
    expect([refused, isChanged]).toEqual([undefined, false]);
  });

  test.each([
    [{ serviceAccountName: 'robot' }, /may not reference service accounts/],
    [{ imagePullSecrets: [{ name: 's' }] }, /may not reference secrets/],
    [{ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, /may not reference secrets/],
    [{ volumes: [{ name: 'v', rbd: { secretRef: { name: 's' } } }] }, /may not reference secrets/],
    [
      { volumes: [{ name: 'v', csi: { nodePublishSecretRef: { name: 's' } } }] },
      /may not reference secrets/,
    ],
    [
      { volumes: [{ name: 'v', projected: { sources: [{ secret: {} }] } }] },
      /may not reference secrets/,
    ],
    [
      { containers: [{ name: 'c', envFrom: [{ secretRef: { name: 's' } }] }] },
      /may not reference secrets/,
    ],
    [
      {
        volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'p' } }] } }],
      },
      /may not use ServiceAccountToken volume projections/,
    ],
  ])('p.ServiceAccount: is refused with %j', async (spec, message) => {
    expect((await ask(pod(spec, mirror))).refused).toMatch(message);
  });
});

describe('an account that limits the secrets of its pods', () => {
  const limited = (value: string): Known => ({
    memory: {
      serviceaccounts: [
        {
          metadata: {
            namespace: 'a',
            name: 'default',
            annotations: { 'svc.io/enforce-mountable-secrets': value },
          },
          secrets: [{ name: 'known' }],
          imagePullSecrets: [{ name: 'pull' }],
          automountServiceAccountToken: false,
        },
      ],
    },
  });
  const env = (name: string): object => ({
    env: [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }],
  });
  const envFrom = (name: string): object => ({ envFrom: [{ secretRef: { name } }] });
  const volume = (secretName: string): object => ({
    volumes: [{ name: 'v', secret: { secretName } }],
  });
  const of = (list: string, uses: object): object => ({ [list]: [{ name: 'c', ...uses }] });
  const tail = ' is not allowed because service account default does not reference that secret$';

  test.each([
    [volume('other'), `volume with secret\\.secretName="other"${tail}`],
    [
      of('containers', env('other')),
      `: container c with envVar E referencing secret\\.secretName="other"${tail}`,
    ],
    [of('initContainers', env('other')), `init container c with envVar E referencing .*${tail}`],
    [of('containers', envFrom('other')), `: container c with envFrom referencing .*${tail}`],
    [of('initContainers', envFrom('other')), `init container c with envFrom referencing .*${tail}`],
    [
      { imagePullSecrets: [{ name: 'other' }] },
      'imagePullSecrets\\[0\\]\\.name="other" is not allowed',
    ],
  ])('refuses %j (CVE-2024-3177)', async (spec, message) => {
    expect((await ask(pod(spec), limited('true'))).refused).toMatch(new RegExp(message));
    expect((await ask(pod(spec), limited('false'))).refused).toBeUndefined();
  });

  test.each([
    [volume('known')],
    [of('containers', env('known'))],
    [of('containers', envFrom('known'))],
    [{ imagePullSecrets: [{ name: 'pull' }] }],
  ])('allows %j', async (spec) => {
    expect((await ask(pod(spec), limited('True'))).refused).toBeUndefined();
  });

  test.each([
    [env('other'), /ephemeral container c with envVar E referencing secret.secretName="other"/],
    [envFrom('other'), /ephemeral container c with envFrom referencing secret.secretName="other"/],
    [env('known'), undefined],
  ])(
    'p.ServiceAccount: judges containers that come later, too: %j (CVE-2023-2728)',
    async (uses, message) => {
      const spec = { serviceAccountName: 'default', ephemeralContainers: [{ name: 'c', ...uses }] };
      const change = { operation: 'UPDATE', subresource: 'ephemeralcontainers' } as const;
      const { refused, isChanged } = await ask(pod(spec), limited('true'), change);
      if (message === undefined) expect(refused).toBeUndefined();
      else expect(refused).toMatch(message);
      expect(isChanged).toBe(false);
    },
  );
});

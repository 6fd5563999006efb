import { describe, expect, test } from '@jest/globals';
import { ask, podSecurityPrefix, podWith, workloadWith } from '../testing/pod-security-world.ts';

const hostText = 'host namespaces (hostPID=true)';
const onHost = podWith({ hostPID: true });

describe('a pod', () => {
  test('in a namespace without labels is admitted at once, unseen', async () => {
    const unseen = {
      metadata: {},
      get spec(): never {
        throw new Error('it was looked at');
      },
    };
    expect(await ask({ labels: {} }, { object: unseen })).toEqual({
      outcome: 'admitted',
      warnings: [],
      annotations: { 'enforce-policy': 'privileged:latest' },
      counted: ['enforce privileged:latest allow pods'],
      atOnce: true,
    });
  });

  test('that meets what is enforced is admitted', async () => {
    expect(await ask({ labels: { enforce: 'baseline' } })).toMatchObject({
      outcome: 'admitted',
      annotations: { 'enforce-policy': 'baseline:latest' },
      counted: ['enforce baseline:latest allow pods'],
      atOnce: true,
    });
  });

  test('p.PodSecurity: that does not is refused, audited and not warned of', async () => {
    const labels = {
      enforce: 'baseline',
      'enforce-version': 'v1.5',
      audit: 'baseline',
      warn: 'baseline',
    };
    expect(await ask({ labels }, { object: onHost })).toMatchObject({
      outcome: `403 pods "p" is forbidden: violates PodSecurity "baseline:v1.5": ${hostText}`,
      warnings: [],
      annotations: {
        'enforce-policy': 'baseline:v1.5',
        'audit-violations': `would violate PodSecurity "baseline:latest": ${hostText}`,
      },
      counted: ['enforce baseline:v1.5 deny pods', 'audit baseline:latest deny pods'],
    });
  });

  test('p.PodSecurity: is warned of and audited by what is not enforced', async () => {
    const labels = { audit: 'baseline', warn: 'baseline', 'warn-version': 'v1.1' };
    expect(await ask({ labels }, { object: onHost })).toMatchObject({
      outcome: 'admitted',
      warnings: [`would violate PodSecurity "baseline:v1.1": ${hostText}`],
      annotations: {
        'enforce-policy': 'privileged:latest',
        'audit-violations': `would violate PodSecurity "baseline:latest": ${hostText}`,
      },
      counted: [
        'enforce privileged:latest allow pods',
        'audit baseline:latest deny pods',
        'warn baseline:v1.1 deny pods',
      ],
    });
  });

  test('meets the strictest standard where the label says nothing', async () => {
    const told = await ask({ labels: { enforce: 'strict', 'warn-version': 'v2' } });
    expect(told.outcome).toMatch(/^403 .*violates PodSecurity "restricted:latest"/);
    expect(told.annotations['error']).toBe(
      `Failed to parse policy: [metadata.labels[${podSecurityPrefix}enforce]: ` +
        'Invalid value: "strict": must be one of privileged, baseline, restricted, ' +
        `metadata.labels[${podSecurityPrefix}warn-version]: ` +
        'Invalid value: "v2": must be "latest" or "v1.x"]',
    );
    expect(told.counted[0]).toBe('error pods');
  });

  test('meets it where the namespace cannot be read', async () => {
    const told = await ask({ labels: {}, isUnreadable: true });
    expect(told.outcome).toMatch(/^403 .*violates PodSecurity "restricted:latest"/);
    expect(told.annotations['error']).toMatch(/the namespace cannot be read/);
  });

  test('is held against labels that the store alone has', async () => {
    const told = await ask({ storedLabels: { enforce: 'baseline' } }, { object: onHost });
    expect(told.outcome).toMatch(/^403 .*violates PodSecurity "baseline:latest"/);
  });

  test('in a namespace that is gone is 404, and a fatal error', async () => {
    expect(await ask({})).toMatchObject({
      outcome: '404 namespaces "a" not found',
      annotations: { error: 'failed to lookup namespace a' },
      counted: ['fatal pods'],
    });
  });

  test.each(['status', 'binding', 'eviction', 'exec', 'attach', 'log', 'portforward', 'proxy'])(
    'is not looked at through %s',
    async (subresource) => {
      const asked = { subresource, operation: 'UPDATE', old: podWith(), object: onHost } as const;
      expect(await ask({ labels: { enforce: 'restricted' } }, asked)).toMatchObject({
        outcome: 'admitted',
        counted: [],
      });
    },
  );

  test.each(['', 'ephemeralcontainers', 'resize'])(
    'is looked at through %j',
    async (subresource) => {
      const changed = podWith({ hostPID: true, containers: [{ name: 'c', image: 'j' }] });
      const asked = { subresource, operation: 'UPDATE', old: onHost } as const;
      const world = { labels: { enforce: 'baseline' } };
      expect((await ask(world, { ...asked, object: changed })).outcome).toMatch(/^403/);
      expect((await ask(world, { ...asked, object: onHost })).outcome).toBe('admitted');
    },
  );

  test('is not looked at when it is deleted', async () => {
    const asked = { operation: 'DELETE', object: undefined, old: onHost } as const;
    expect((await ask({ labels: { enforce: 'baseline' } }, asked)).counted).toEqual([]);
  });
});

describe('what makes pods', () => {
  test.each([
    'deployments',
    'daemonsets',
    'replicasets',
    'statefulsets',
    'jobs',
    'replicationcontrollers',
  ])('is warned of, never refused: %s', async (resource) => {
    const labels = { enforce: 'baseline', audit: 'baseline', warn: 'baseline' };
    const object = workloadWith({ hostPID: true });
    expect(await ask({ labels }, { resource, object })).toMatchObject({
      outcome: 'admitted',
      warnings: [`would violate PodSecurity "baseline:latest": ${hostText}`],
      annotations: {
        'audit-violations': `would violate PodSecurity "baseline:latest": ${hostText}`,
      },
      counted: [`audit baseline:latest deny ${resource}`, `warn baseline:latest deny ${resource}`],
    });
  });

  test('is not looked at where nobody is told', async () => {
    const asked = { resource: 'deployments', object: workloadWith({ hostPID: true }) };
    expect(
      await ask({ labels: { enforce: 'restricted', warn: 'privileged' } }, asked),
    ).toMatchObject({
      warnings: [],
      annotations: {},
      counted: [],
      atOnce: true,
    });
  });

  test('is looked at again at each update, and not through a subresource', async () => {
    const object = workloadWith({ hostPID: true });
    const asked = { resource: 'deployments', operation: 'UPDATE', object, old: object } as const;
    const world = { labels: { warn: 'baseline' } };
    expect((await ask(world, asked)).warnings).toHaveLength(1);
    expect((await ask(world, { ...asked, subresource: 'status' })).warnings).toEqual([]);
  });

  test('may be written into a namespace that cannot be found', async () => {
    expect(await ask({}, { resource: 'jobs', object: workloadWith() })).toMatchObject({
      outcome: 'admitted',
      annotations: { error: 'failed to lookup namespace a' },
      counted: ['fatal jobs'],
    });
  });

  test('and whatever else there is, is no concern', async () => {
    const asked = { resource: 'configmaps', object: {} };
    expect((await ask({ labels: { enforce: 'restricted' } }, asked)).counted).toEqual([]);
  });
});

describe('the configuration', () => {
  const configured = (members: object): object => ({
    apiVersion: 'pod-security.admission.config.svc.io/v1',
    kind: 'PodSecurityConfiguration',
    ...members,
  });
  const strict = { enforce: 'restricted', warn: 'restricted', audit: 'restricted' };

  test('says what namespaces without labels enforce', async () => {
    const configuration = configured({
      defaults: { enforce: 'baseline', 'enforce-version': 'v1.9' },
    });
    const told = await ask({ labels: {}, configuration }, { object: onHost });
    expect(told.outcome).toMatch(/violates PodSecurity "baseline:v1\.9"/);
    const lax = await ask({ labels: { enforce: 'privileged' }, configuration }, { object: onHost });
    expect(lax.outcome).toBe('admitted');
  });

  test.each([
    ['namespace', { namespaces: ['a'] }],
    ['user', { usernames: ['tester'] }],
    ['runtimeClass', { runtimeClasses: ['r'] }],
  ])('exempts by %s', async (reason, exemptions) => {
    const configuration = configured({ exemptions });
    for (const [resource, object] of [
      ['pods', podWith({ runtimeClassName: 'r' })],
      ['deployments', workloadWith({ runtimeClassName: 'r' })],
    ] as const) {
      expect(await ask({ labels: strict, configuration }, { resource, object })).toMatchObject({
        outcome: 'admitted',
        warnings: [],
        annotations: { exempt: reason },
        counted: [`exempt ${resource}`],
      });
    }
  });
});

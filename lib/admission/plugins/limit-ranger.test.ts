import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import type { Admitted } from '../testing/cluster.ts';
import { limitRanger } from './limit-ranger.ts';

const range = (...limits: readonly object[]): object => ({
  metadata: { namespace: 'a', name: 'l' },
  spec: { limits },
});
const pod = (resources: object | undefined, spec: object = {}): object => ({
  metadata: { namespace: 'a', name: 'x' },
  spec: { containers: [{ name: 'c', ...(resources && { resources }) }], ...spec },
});
const ask = (object: object, ranges: readonly object[], change = {}): Promise<Admitted> =>
  admit(limitRanger, { memory: { limitranges: ranges } }, object, change);
const refusedOf = async (
  object: object,
  limit: object,
  change: object = {},
): Promise<string | undefined> =>
  (await ask(object, [range(limit)], change)).refused?.replace(/^403 .* is forbidden: /, '');

describe('what a container does not state', () => {
  const defaults = {
    type: 'Container',
    default: { cpu: '500m', memory: '512Mi' },
    defaultRequest: { cpu: '100m' },
  };
  const stated = ({ object }: Admitted, list = 'containers'): object => {
    const [container] = (object['spec'] as JsonObject)[list] as JsonObject[];
    return container?.['resources'] as object;
  };
  const note = ({ object }: Admitted): string =>
    object.metadata?.annotations?.['svc.io/limit-ranger'] ?? '';
  const set = 'LimitRanger plugin set: ';

  test.each([
    [
      undefined,
      { requests: { cpu: '100m' }, limits: { cpu: '500m', memory: '512Mi' } },
      `${set}cpu request for container c; cpu, memory limit for container c`,
    ],
    [
      { limits: { cpu: '1' }, requests: { cpu: '1' } },
      { requests: { cpu: '1' }, limits: { cpu: '1', memory: '512Mi' } },
      `${set}memory limit for container c`,
    ],
  ])('l.defaults: %j becomes %j', async (given, expected, text) => {
    const admitted = await ask(pod(given), [range(defaults)]);
    expect(stated(admitted)).toEqual(expected);
    expect(note(admitted)).toBe(text);
    expect(admitted.isChanged).toBe(true);
  });

  test('l.defaults: nor an init container', async () => {
    const spec = { initContainers: [{ name: 'i' }] };
    const admitted = await ask(
      pod({ limits: { cpu: '1', memory: '1' }, requests: { cpu: '1' } }, spec),
      [range(defaults)],
    );
    expect(stated(admitted, 'initContainers')).toMatchObject({ requests: { cpu: '100m' } });
    expect(note(admitted)).toBe(
      `${set}cpu request for init container i; cpu, memory limit for init container i`,
    );
  });

  test('nothing else is changed', async () => {
    const full = { limits: { cpu: '1', memory: '1' }, requests: { cpu: '1' } };
    expect((await ask(pod(full), [range(defaults)])).isChanged).toBe(false);
    expect((await ask(pod(undefined), [])).isChanged).toBe(false);
  });
});

const requests = (cpu: string): object => ({ requests: { cpu } });
const limits = (cpu: string): object => ({ limits: { cpu }, requests: { cpu: '1' } });

describe('a container or pod is refused', () => {
  test.each([
    ['min', '2', {}, 'minimum cpu usage per T is 2.  No request is specified'],
    ['min', '2', requests('1500m'), 'minimum cpu usage per T is 2, but request is 1500m'],
    ['min', '2', requests('2000m'), undefined],
    ['max', '2', {}, 'maximum cpu usage per T is 2.  No limit is specified'],
    ['max', '2', limits('3'), 'maximum cpu usage per T is 2, but limit is 3'],
    ['max', '2', limits('2'), undefined],
    [
      'max',
      '2',
      { limits: { cpu: '1' }, requests: { cpu: '3' } },
      'maximum cpu usage per T is 2, but request is 3',
    ],
    [
      'maxLimitRequestRatio',
      '2',
      {},
      'cpu max limit to request ratio per T is 2, but no request is specified or request is 0',
    ],
    [
      'maxLimitRequestRatio',
      '2',
      requests('1'),
      'cpu max limit to request ratio per T is 2, but no limit is specified or limit is 0',
    ],
    [
      'maxLimitRequestRatio',
      '2',
      limits('3'),
      'cpu max limit to request ratio per T is 2, but provided ratio is 3.000000',
    ],
    ['maxLimitRequestRatio', '2500m', limits('2500m'), undefined],
  ])('l.say: by %s %s: %j', async (part, amount, resources, text) => {
    for (const type of ['Container', 'Pod']) {
      const limit = { type, [part]: { cpu: amount } };
      expect(await refusedOf(pod(resources), limit)).toBe(text?.replace('T', type));
    }
  });

  test('l.checks: for all that one range finds, each text once and in one order', async () => {
    const bounds = { type: 'Container', min: { memory: '1', cpu: '1' }, max: { cpu: '1' } };
    const spec = { initContainers: [{ name: 'i' }] };
    expect(await refusedOf(pod({ requests: { memory: '1' } }, spec), bounds)).toBe(
      '[minimum cpu usage per Container is 1.  No request is specified, ' +
        'maximum cpu usage per Container is 1.  No limit is specified, ' +
        'minimum memory usage per Container is 1.  No request is specified]',
    );
  });

  test('l.checks: by the sum of containers, and the largest init container', async () => {
    const limit = { type: 'Pod', max: { cpu: '3' } };
    const two = {
      containers: [
        { name: 'c', resources: limitsOf('2') },
        { name: 'd', resources: limitsOf('2') },
      ],
    };
    expect(await refusedOf(pod(undefined, two), limit)).toMatch(/but limit is 4$/);
    const init = { initContainers: [{ name: 'i', resources: limitsOf('5') }] };
    expect(await refusedOf(pod(limitsOf('1'), init), limit)).toMatch(/but limit is 5$/);
    const stated = { resources: limitsOf('3') };
    expect(await refusedOf(pod(limitsOf('1'), stated), limit)).toBeUndefined();
  });
});

const limitsOf = (cpu: string): object => ({ limits: { cpu }, requests: { cpu } });

describe('a claim', () => {
  const claim = (storage: string | undefined): object => ({
    metadata: { namespace: 'a', name: 'x' },
    spec: { resources: storage === undefined ? {} : { requests: { storage } } },
  });
  const limit = { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } };
  const resource = resourceOf('persistentvolumeclaims');

  test.each([
    ['512Mi', 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi'],
    ['3Gi', 'maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi'],
    ['1536Mi', undefined],
  ])('l.checks: of %s is judged, also when it grows', async (storage, text) => {
    for (const operation of ['CREATE', 'UPDATE']) {
      expect(await refusedOf(claim(storage), limit, { resource, operation })).toBe(text);
    }
  });

  test('without a size is refused', async () => {
    const refused = await refusedOf(claim(undefined), limit, { resource });
    expect(refused).toMatch(/minimum storage .*No request.*, maximum storage .*No request/);
  });

  test('is not judged by its status', async () => {
    const change = { resource, operation: 'UPDATE', subresource: 'status' };
    expect(await refusedOf(claim('3Gi'), limit, change)).toBeUndefined();
  });
});

describe('an update of a pod', () => {
  const limit = { type: 'Container', max: { cpu: '1' } };
  const judged = /but limit is 2/;

  test.each([
    ['resize', undefined, judged],
    ['', undefined, undefined],
    ['status', undefined, undefined],
    ['resize', { deletionTimestamp: '2026-01-01T00:00:00Z' }, undefined],
  ])(
    'p.LimitRanger: by "%s" of %j (CVE-2023-2727 class)',
    async (subresource, metadata, message) => {
      const change = { operation: 'UPDATE', subresource, old: { metadata } };
      const refused = await refusedOf(pod(limitsOf('2')), limit, change);
      if (message === undefined) expect(refused).toBeUndefined();
      else expect(refused).toMatch(message);
    },
  );
});

test('a range that memory does not know yet acts', async () => {
  const limit = range({ type: 'Container', max: { cpu: '1' } });
  const store = { limitranges: [limit] };
  const { refused } = await admit(limitRanger, { memory: {}, store }, pod(limitsOf('2')));
  expect(refused).toMatch(/but limit is 2/);
});

test('ranges of other namespaces do not act', async () => {
  const other = {
    ...range({ type: 'Container', max: { cpu: '1' } }),
    metadata: { namespace: 'b', name: 'l' },
  };
  expect((await ask(pod(limitsOf('2')), [other])).refused).toBeUndefined();
});

import { describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import { naming, resourceOf } from '../testing/asked.ts';
import { amountText, chargesOf, isCounted } from './charges.ts';
import type { QuotaWrite } from './charges.ts';
import type { LimitedResource } from './limited-resources.ts';

const parts = {
  naming,
  gates: { isEnabled: () => true },
  nowMs: () => 0,
  find: () => undefined,
};

type Texts = Readonly<Record<string, string>>;

/** Its status holds for `hard`. */
const quota = (name: string, hard: Texts, used: Texts, spec: object = {}): ApiObject => ({
  metadata: { name, namespace: 'a' },
  spec: { hard, ...spec },
  status: { hard, used },
});

interface Asked {
  readonly resource?: string;
  readonly subresource?: string;
  readonly old?: object;
  readonly limited?: readonly LimitedResource[];
}

const writeOf = (
  object: object,
  { resource = 'pods', subresource = '', old }: Asked,
): QuotaWrite => ({
  operation: old === undefined ? 'CREATE' : 'UPDATE',
  resource: resourceOf(resource),
  subresource,
  name: 'x',
  object: object as ApiObject,
  old: old as ApiObject | undefined,
});

/** `status.used` of each quota that changes, by name; or the text of the refusal. */
function judged(
  object: object,
  quotas: readonly ApiObject[],
  asked: Asked = {},
): Readonly<Record<string, unknown>> | string {
  try {
    const judging = { ...parts, limited: asked.limited ?? [] };
    const charges = chargesOf(writeOf(object, asked), quotas, judging);
    return Object.fromEntries(
      charges.map(({ charged }) => [
        charged.metadata?.name ?? '',
        (charged['status'] as { readonly used: Texts }).used,
      ]),
    );
  } catch (error) {
    return (error as Error).message.replace(/^.* is forbidden: /, '');
  }
}

const container = (requests: Texts, name = 'c', more: object = {}): object => ({
  name,
  resources: { requests, ...more },
});
const pod = (requests: Texts, spec: object = {}, status: object = {}): object => ({
  metadata: { name: 'x' },
  spec: { containers: [container(requests)], ...spec },
  status,
});
const count = (used: string, hard = '2'): ApiObject => quota('q', { pods: hard }, { pods: used });

describe('a quota that is exceeded', () => {
  test('q.say-exceeded: names what is, sorted, with what was asked, used and allowed', () => {
    const hard = { 'requests.memory': '1Gi', 'requests.cpu': '1', pods: '5' };
    const used = { 'requests.memory': '1Gi', 'requests.cpu': '500m', pods: '1' };
    expect(judged(pod({ cpu: '600m', memory: '1Mi' }), [quota('q', hard, used)])).toBe(
      'exceeded quota: q, requested: requests.cpu=600m,requests.memory=1Mi, ' +
        'used: requests.cpu=500m,requests.memory=1Gi, limited: requests.cpu=1,requests.memory=1Gi',
    );
  });

  test('q.say-exceeded: is the first in their order', () => {
    const quotas = [count('0'), quota('r', { pods: '0' }, { pods: '0' }), count('9')];
    expect(judged(pod({}), quotas)).toMatch(/^exceeded quota: r,/);
  });

  test('q.say-exceeded: the refusal is Forbidden, of the object', () => {
    const write = writeOf(pod({}), {});
    expect(() => chargesOf(write, [count('2')], { ...parts, limited: [] })).toThrow(
      expect.objectContaining({ code: 403, reason: 'Forbidden' }),
    );
    expect(() => chargesOf(write, [count('2')], { ...parts, limited: [] })).toThrow(
      'pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
    );
  });

  test('every matching quota is charged, others are not', () => {
    const secrets = quota('s', { secrets: '1' }, { secrets: '1' });
    expect(
      judged(pod({}), [count('1'), quota('r', { pods: '9' }, { pods: '3' }), secrets]),
    ).toEqual({ q: { pods: '2' }, r: { pods: '4' } });
  });
});

describe('what containers have to state', () => {
  const hard = { 'requests.cpu': '1', 'limits.memory': '1Gi', 'requests.storage': '1' };
  const computing = quota('q', hard, hard);

  test('q.pods-must-specify: each container and init container, sorted', () => {
    const spec = {
      containers: [container({}, 'b'), container({}, 'a')],
      initContainers: [container({ cpu: '1' }, 'i')],
    };
    expect(judged(pod({}, spec), [computing])).toBe(
      'failed quota: q: must specify limits.memory for: a,b,i; requests.cpu for: a,b',
    );
  });

  test('q.pods-must-specify: not where the pod states resources for all of them', () => {
    const resources = { requests: { cpu: '1m' } };
    expect(judged(pod({}, { resources }), [quota('q', hard, {})])).toBe(
      'status unknown for quota: q, resources: limits.memory,requests.cpu',
    );
  });

  test('q.pods-must-specify: nothing but processor and memory', () => {
    const other = { 'requests.ephemeral-storage': '1', 'requests.example.com/gpu': '1' };
    expect(judged(pod({}), [quota('q', other, other)])).toEqual({});
  });

  test('q.pods-must-specify: a quota that the pod is not of has no say', () => {
    const scoped = quota('q', hard, hard, { scopes: ['Terminating'] });
    expect(judged(pod({}), [scoped])).toEqual({});
  });
});

describe('status', () => {
  test('q.hard: what the status holds for counts, not what the spec says', () => {
    const changed = { ...count('1'), spec: { hard: { pods: '0' } } } as ApiObject;
    expect(judged(pod({}), [changed])).toEqual({ q: { pods: '2' } });
    const fresh = { ...changed, status: {} } as ApiObject;
    expect(judged(pod({}), [fresh])).toEqual({});
  });

  test('q.hard: a name without its usage refuses, with all names of the resource', () => {
    const unknown = quota('q', { pods: '5', 'count/pods': '5', secrets: '1' }, { pods: '1' });
    expect(judged(pod({}), [unknown])).toBe(
      'status unknown for quota: q, resources: count/pods,pods',
    );
    expect(judged({}, [unknown], { resource: 'configmaps' })).toEqual({});
  });
});

describe('q.delta', () => {
  const ports = (number: number): object[] =>
    Array.from({ length: number }, (_, at) => ({ port: at + 1 }));
  const service = (type: string, number = 1): object => ({
    spec: { type, ports: ports(number) },
  });
  const nodePorts = (used: string): ApiObject =>
    quota(
      'q',
      { 'services.nodeports': '3', services: '1' },
      { 'services.nodeports': used, services: '1' },
    );
  const ofService = (old: object): Asked => ({ resource: 'services', old });

  test('q.delta: an update charges what is more', () => {
    expect(
      judged(service('NodePort', 3), [nodePorts('1')], ofService(service('NodePort'))),
    ).toEqual({ q: { 'services.nodeports': '3', services: '1' } });
  });

  test('q.delta: one that takes less, or as much, charges nothing and is not refused', () => {
    const over = nodePorts('9');
    expect(judged(service('ClusterIP'), [over], ofService(service('NodePort')))).toEqual({});
    expect(judged(service('NodePort'), [over], ofService(service('NodePort')))).toEqual({});
  });

  test('q.delta: names that do not change may be above what is allowed', () => {
    expect(
      judged(service('NodePort', 2), [nodePorts('1')], ofService(service('NodePort'))),
    ).toEqual({ q: { 'services.nodeports': '2', services: '1' } });
  });

  test('q.delta: all of it, where the old object was not counted by the quota', () => {
    const scoped = quota('q', { pods: '1' }, { pods: '0' }, { scopes: ['Terminating'] });
    const ends = pod({}, { activeDeadlineSeconds: 5 });
    expect(judged(ends, [scoped], { old: pod({}) })).toEqual({ q: { pods: '1' } });
    expect(judged(ends, [quota('r', { pods: '1' }, { pods: '1' })], { old: pod({}) })).toEqual({});
  });

  const claim = (allocated: string): object => ({
    spec: { resources: { requests: { storage: '1Gi' } } },
    status: { allocatedResources: { storage: allocated } },
  });
  const storage = quota('q', { 'requests.storage': '2Gi' }, { 'requests.storage': '2Gi' });

  test('q.delta: an update of the status is charged and never refused', () => {
    const asked = { resource: 'persistentvolumeclaims', old: claim('1Gi') };
    expect(judged(claim('3Gi'), [storage], { ...asked, subresource: 'status' })).toEqual({
      q: { 'requests.storage': '4Gi' },
    });
    expect(judged(claim('3Gi'), [storage], asked)).toMatch(/^exceeded quota/);
  });

  test('q.delta: negative usage refuses', () => {
    expect(judged(pod({ cpu: '-1', memory: '-1' }), [count('0')])).toBe(
      'quota usage is negative for resource(s): ' + 'cpu,memory,requests.cpu,requests.memory',
    );
  });

  test('q.delta: what is used is written as far as it changes', () => {
    const used = { pods: '1', 'requests.cpu': '1000m' };
    const hard = { pods: '2', 'requests.cpu': '5' };
    expect(judged(pod({ cpu: '0' }), [quota('q', hard, used)])).toEqual({
      q: { pods: '2', 'requests.cpu': '1000m' },
    });
  });
});

describe('which writes are counted', () => {
  const resize: Asked = { subresource: 'resize', old: pod({ cpu: '1' }) };
  const deadline = { activeDeadlineSeconds: 5 };
  const asking = (asked: Asked, object: object = pod({})): boolean =>
    isCounted(writeOf(object, asked), parts);

  test.each<[string, Asked, object, boolean]>([
    ['q.pods: a resize', resize, pod({}), true],
    ['q.pods: no other update', { old: pod({}) }, pod({}), false],
    ['q.pods: an update that gives a deadline', { old: pod({}) }, pod({}, deadline), true],
    ['q.pods: no update of the status', { subresource: 'status', old: pod({}) }, pod({}), false],
    ['q.pods: no binding', { subresource: 'binding' }, pod({}), false],
    ['q.services: an update', { resource: 'services', old: {} }, {}, true],
    ['q.claims: an update', { resource: 'persistentvolumeclaims', old: {} }, {}, true],
    [
      'q.claims: an update of the status that changes its classes',
      { resource: 'persistentvolumeclaims', subresource: 'status', old: {} },
      { status: { currentVolumeAttributesClassName: 'a' } },
      true,
    ],
    [
      'q.claims: no other update of the status',
      { resource: 'persistentvolumeclaims', subresource: 'status', old: {} },
      { status: { phase: 'Bound' } },
      false,
    ],
    ['q.counts: a create', { resource: 'configmaps' }, {}, true],
    ['q.counts: no update', { resource: 'configmaps', old: {} }, {}, false],
    ['q.counts: no event', { resource: 'events' }, {}, false],
  ])('%s', (_claim, asked, object, expected) => {
    expect(asking(asked, object)).toBe(expected);
  });
});

describe('limited resources', () => {
  const limited = (more: Partial<LimitedResource>): readonly LimitedResource[] => [
    { apiGroup: '', resource: 'pods', matchContains: [], matchScopes: [], ...more },
  ];
  const high = { scopeName: 'PriorityClass', operator: 'In', values: ['high', 'top'] };
  const urgent = pod({}, { priorityClassName: 'high' });

  test('q.limited: what is consumed needs a quota that counts it', () => {
    const asked = { limited: limited({ matchContains: ['.cpu', 'gpu'] }) };
    const object = pod({ cpu: '1', 'example.com/gpu': '1' });
    expect(judged(object, [], asked)).toBe(
      'insufficient quota to consume: requests.cpu,requests.example.com/gpu',
    );
    const hard = { 'requests.cpu': '9', 'requests.example.com/gpu': '9' };
    const used = { 'requests.cpu': '0', 'requests.example.com/gpu': '0' };
    expect(judged(object, [quota('q', hard, used)], asked)).toMatchObject({ q: {} });
    expect(judged(pod({ cpu: '0' }), [], asked)).toEqual({});
    expect(judged({}, [], { ...asked, resource: 'secrets' })).toEqual({});
  });

  test('q.limited: a scope needs a quota with that scope', () => {
    const asked = { limited: limited({ matchScopes: [high] }) };
    expect(judged(urgent, [], asked)).toBe(
      'insufficient quota to match these scopes: [{PriorityClass In [high top]}]',
    );
    const scopeSelector = { matchExpressions: [high] };
    const covering = quota('q', { pods: '5' }, { pods: '0' }, { scopeSelector });
    expect(judged(urgent, [covering], asked)).toEqual({ q: { pods: '1' } });
    expect(judged(pod({}), [], asked)).toEqual({});
  });
});

describe('amounts at their ends', () => {
  const memory = (hard: string, used: string): ApiObject =>
    quota('q', { 'requests.memory': hard }, { 'requests.memory': used });

  test.each([
    ['9223372036854775807', '9223372036854775806', '1', '9223372036854775807'],
    ['8Ei', '7Ei', '512Pi', '7680Pi'],
    ['1e999', '1', '1e30', '1000000000000000000000000000001'],
    ['1', '0', '1n', '1n'],
    ['10', '0', '0.1', '100m'],
  ])('up to %s, %s and %s more make %s', (hard, used, more, expected) => {
    const found = judged(pod({ memory: more }), [memory(hard, used)]);
    expect(found).toEqual({ q: { 'requests.memory': expected } });
  });

  test('beyond what a text may say they are rounded up, and can be read again', () => {
    const text = amountText({ nano: 10n ** 900n + 1n, format: 'decimal' });
    expect(text.length).toBeLessThan(128);
    expect(text).toBe('1000000000000000000000000000010e861');
  });

  test('1,000 quotas of a namespace are all judged', () => {
    const quotas = Array.from({ length: 1_000 }, (_, at) =>
      quota(
        `q${String(at)}`,
        { pods: '9', 'requests.cpu': '9' },
        { pods: '1', 'requests.cpu': '1' },
      ),
    );
    const charged = judged(pod({ cpu: '1' }), quotas);
    expect(Object.keys(charged)).toHaveLength(1_000);
  });
});

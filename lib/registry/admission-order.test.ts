// What admission plugins see of a write, and what lasts of what they do to it.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../admission/plugin.ts';
import { cloneJson } from '../api/json-value.ts';
import type { JsonObject } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { alreadyExists, badRequest } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { bytesOf, codeOf, fresh, params, scope, sent, VerbDriver } from './testing/verb-driver.ts';
import type { ResourceStore } from './resource-store.ts';
import { jsonCodec } from '../codec/json.ts';
import { parseWriteOptions } from './options.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let pods: ResourceStore;
let configMaps: ResourceStore;

/** Set by each test. */
let mutate: NonNullable<AdmissionPlugin['mutate']>;
let validate: NonNullable<AdmissionPlugin['validate']>;
const plugin: AdmissionPlugin = {
  name: 'Test',
  sideEffects: false,
  handles: () => true,
  mutate: (...args) => mutate(...args),
  validate: (...args) => validate(...args),
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ admission: admissionChain([plugin]) });
  verbs = new VerbDriver(replica);
  pods = replica.store('pods');
  configMaps = replica.store('configmaps');
});
afterAll(() => registry.stop());
beforeEach(() => {
  mutate = () => false;
  validate = () => undefined;
});

const pod = (metadata: object = { name: fresh() }): object => ({
  metadata,
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

describe('w.order: mutating admission of a create', () => {
  test('a.objects: sees the defaults, no uid and no generated name', async () => {
    let seen: ApiObject | undefined;
    let name: string | undefined;
    mutate = (request, object) => {
      seen = cloneJson<ApiObject>(object);
      ({ name } = request);
      return false;
    };
    await verbs.create(pods, pod({ generateName: 'g-' }));
    expect(seen?.['spec']).toMatchObject({ restartPolicy: 'Always' });
    expect(seen?.metadata?.uid).toBeUndefined();
    expect([seen?.metadata?.name ?? '', name]).toEqual(['', '']);
  });

  test('chooses labels, and a name; neither uid, times nor status', async () => {
    mutate = (_request, object) => {
      Object.assign(object.metadata ?? {}, {
        labels: { added: 'yes' },
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        generation: 7,
      });
      object['status'] = { phase: 'Succeeded' };
      return true;
    };
    const object = await verbs.create(pods, pod());
    expect(object.metadata['labels']).toEqual({ added: 'yes' });
    expect(object.metadata.uid).toMatch(/^[\da-f-]{36}$/);
    expect(object.metadata['creationTimestamp']).not.toMatch(/^2001/);
    expect(object.metadata['deletionTimestamp']).toBeUndefined();
    expect(object['status']).toMatchObject({ phase: 'Pending' });
  });

  test('stores nothing that the schema does not know, and fields get their defaults', async () => {
    mutate = (_request, object) => {
      const { containers } = object['spec'] as { containers: JsonObject[] };
      containers.push({ name: 'added', image: 'i', nosuch: 1, ports: [{ containerPort: 80 }] });
      return true;
    };
    const object = await verbs.create(pods, pod());
    const [, added] = (object['spec'] as { containers: JsonObject[] }).containers;
    expect(added).toMatchObject({ name: 'added', ports: [{ containerPort: 80, protocol: 'TCP' }] });
    expect(added).not.toHaveProperty('nosuch');
  });
});

describe('a generated name that is taken', () => {
  test('is tried again by itself: one mutation, a fresh object, each warning once', async () => {
    let mutations = 0;
    const names: string[] = [];
    mutate = (_request, object) => {
      mutations++;
      Object.assign(object.metadata ?? {}, { annotations: { count: String(mutations) } });
      return true;
    };
    validate = (request, object) => {
      names.push(request.name);
      expect(object?.metadata?.name).toBe(request.name);
      expect(object?.metadata?.annotations).toEqual({ count: '1' });
    };
    await verbs.create(configMaps, { metadata: { generateName: 'again-' } });
    mutations = 0;
    names.length = 0;
    // The first names of the next object are taken: storage says so.
    const { storage } = replica;
    const put = storage.put.bind(storage);
    let lost = 0;
    storage.put = async (...args) => {
      if (lost === 3) return put(...args);
      lost++;
      return { ok: false, current: undefined };
    };
    const request = scope();
    try {
      const { item } = await configMaps.create({
        ...request,
        path: { namespace: 'ns', name: '', subresource: '' },
        body: jsonCodec.decode(
          bytesOf({ metadata: { generateName: 'again-' }, nosuch: 1 }),
          configMaps.resource.type,
        ),
        options: parseWriteOptions(params(''), 'create', replica.naming),
      });
      expect(item.name).toBe(names.at(-1));
    } finally {
      storage.put = put;
    }
    expect(mutations).toBe(1);
    expect(new Set(names).size).toBe(4);
    expect(request.warnings).toEqual(['unknown field "nosuch"']);
  });

  test('is given up after some tries', async () => {
    const { storage } = replica;
    const put = storage.put.bind(storage);
    let tries = 0;
    storage.put = () => {
      tries++;
      return Promise.resolve({ ok: false, current: undefined });
    };
    try {
      const creating = verbs.create(configMaps, { metadata: { generateName: 'never-' } });
      await expect(creating).rejects.toMatchObject({
        reason: alreadyExists(configMaps.resource, '').reason,
      });
    } finally {
      storage.put = put;
    }
    expect(tries).toBe(limits.generateNameRetryCountMax);
  });
});

describe('mutating admission of an update', () => {
  test('changes the spec; neither version, times nor what the request may not write', async () => {
    const name = fresh();
    const made = await verbs.create(pods, pod({ name }));
    mutate = (_request, object) => {
      Object.assign(object.metadata ?? {}, {
        labels: { added: 'yes' },
        resourceVersion: '1',
        creationTimestamp: '2001-01-01T00:00:00Z',
      });
      object['status'] = { phase: 'Succeeded' };
      return true;
    };
    const object = sent((await verbs.update(pods, name, made)).item);
    expect(object.metadata).toMatchObject({
      labels: { added: 'yes' },
      uid: made.metadata.uid,
      creationTimestamp: made.metadata['creationTimestamp'],
    });
    expect(object['status']).toMatchObject({ phase: 'Pending' });
  });
});

describe('admission of a write that lost a race', () => {
  const labelsOf = (object: Readonly<ApiObject> | undefined): string[] =>
    Object.keys(object?.metadata?.labels ?? {});

  test.each(['update', 'merge', 'apply'] as const)(
    'compares the %s with what won, which it did not see at first (CVE-2021-25735)',
    async (form) => {
      const name = fresh();
      const texts = { query: 'fieldManager=m' };
      const body = { metadata: { name, labels: { mine: '1' } } };
      await verbs.create(configMaps, { metadata: { name } });
      const other = await registry.replica();
      const lock = { metadata: { labels: { locked: '1' } } };
      const seen: string[][] = [];
      validate = async (request) => {
        seen.push(labelsOf(request.old));
        if (labelsOf(request.old).includes('locked')) throw badRequest('it is locked');
        await new VerbDriver(other).patch(other.store('configmaps'), name, lock);
      };
      const write = {
        update: () => verbs.update(configMaps, name, body),
        merge: () => verbs.patch(configMaps, name, body, texts),
        apply: () => verbs.apply(configMaps, name, body, texts),
      }[form];
      expect(await codeOf(write())).toBe(400);
      expect(seen[0]).toEqual([]);
      expect(seen.at(-1)).toEqual(['locked']);
      const { metadata } = await verbs.get(configMaps, name);
      expect(metadata['labels']).toEqual({ locked: '1' });
    },
  );
});

test('what a plugin says is said once in all tries; of an audit key the last', async () => {
  const name = fresh();
  const made = await verbs.create(configMaps, { metadata: { name } });
  const other = await registry.replica();
  let tries = 0;
  mutate = (request) => {
    request.warn('careful');
    request.annotate('example.com/tries', String(++tries));
    return false;
  };
  validate = async () => {
    if (tries > 1) return;
    await new VerbDriver(other).patch(other.store('configmaps'), name, { data: { other: '1' } });
  };
  const request = { ...scope(), annotations: new Map<string, string>() };
  const { resourceVersion: _, ...metadata } = made.metadata;
  await configMaps.update({
    ...request,
    path: { namespace: 'ns', name, subresource: '' },
    body: jsonCodec.decode(bytesOf({ metadata, data: { mine: '1' } }), configMaps.resource.type),
    options: parseWriteOptions(params(''), 'update', replica.naming),
  });
  expect(tries).toBe(2);
  expect(request.warnings).toEqual(['careful']);
  expect([...request.annotations]).toEqual([['example.com/tries', '2']]);
});

describe('every way to write an object is asked about (CVE-2023-2727 class)', () => {
  const asked: string[] = [];
  const deployment = {
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    },
  };
  const told = (request: AdmissionRequest): string =>
    `${request.operation} ${request.subresource}`.trim();

  beforeEach(() => {
    asked.length = 0;
    validate = (request) => {
      asked.push(told(request));
    };
  });

  test('a.operation: by the verbs, at every try', async () => {
    const [name, other] = [fresh(), fresh()];
    const query = 'fieldManager=m';
    const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['CREATE', () => verbs.create(configMaps, { metadata: { name } })],
      ['UPDATE', () => verbs.update(configMaps, name, { metadata: { name }, data: { a: '1' } })],
      ['UPDATE', () => verbs.patch(configMaps, name, { data: { a: '2' } })],
      ['UPDATE', () => verbs.apply(configMaps, name, { metadata: { name } }, { query })],
      ['CREATE', () => verbs.apply(configMaps, other, { metadata: { name: other } }, { query })],
      ['DELETE', () => verbs.remove(configMaps, name)],
    ];
    for (const [operation, write] of steps) {
      asked.length = 0;
      await write();
      expect([...new Set(asked)]).toEqual([operation]);
    }
  });

  test.each([
    ['pods', pod],
    ['deployments', (metadata: object) => ({ metadata, ...deployment })],
  ])('by each subresource of %s that can be patched', async (plural, bodyOf) => {
    const store = plural === 'pods' ? pods : replica.store('apps/deployments');
    const name = fresh();
    await verbs.create(store, bodyOf({ name }));
    asked.length = 0;
    const writable = [...store.subresources].filter(([, one]) => one.patch !== undefined);
    for (const [subresource] of writable) {
      await verbs.patch(store, name, {}, { subresource });
    }
    const expected = writable.map(([subresource]) => `UPDATE ${subresource}`);
    expect([...new Set(asked)]).toEqual(expected);
    expect(asked).toContain('UPDATE status');
  });
});

test('what mutating admission adds to an object is owned by nobody', async () => {
  mutate = (_request, object) => {
    const meta = (object.metadata ??= {});
    meta.labels = { ...meta.labels, added: 'yes' };
    return true;
  };
  const name = fresh();
  const body = { metadata: { name, labels: { mine: '1' } } };
  const made = await verbs.create(configMaps, body, 'fieldManager=m');
  expect(made.metadata['labels']).toEqual({ mine: '1', added: 'yes' });
  const [owner, ...more] = made.metadata['managedFields'] as JsonObject[];
  expect(owner?.['fieldsV1']).toEqual({ 'f:metadata': { 'f:labels': { '.': {}, 'f:mine': {} } } });
  expect(more).toEqual([]);
});

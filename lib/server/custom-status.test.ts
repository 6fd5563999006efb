// The status and the generation of custom resources: what each write changes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ownersOf } from '../registry/testing/owners.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { customPath, startCustomApi } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';

let served: CustomApi;
let count = 0;
const fresh = (): string => `o${String(++count)}`;

const open = { type: 'object', 'x-svc-preserve-unknown-fields': true };
const schema = {
  type: 'object',
  properties: { spec: open, status: open, data: { type: 'string' } },
};

beforeAll(async () => {
  served = await startCustomApi();
  const { custom } = served;
  const versions = [{ name: 'v1', schema, subresources: { status: {} } }];
  await custom.define({ plural: 'widgets', versions });
  await custom.define({ plural: 'plains', versions: [{ name: 'v1', schema }] });
});
afterAll(() => served.stop());

const widget = (name: string, more: object = {}): object => ({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  metadata: { name },
  ...more,
});

async function make(more: object = {}, metadata: object = {}): Promise<string> {
  const name = fresh();
  const body = { ...widget(name, more), metadata: { name, ...metadata } };
  await served.answered(`POST ${customPath('widgets')}`, { body });
  return name;
}

const get = (name: string): Promise<Sent> => served.answered(`GET ${customPath('widgets', name)}`);
const generationOf = ({ metadata }: Sent): unknown => metadata['generation'];

describe('a status that is declared', () => {
  test('is dropped by POST, and kept by PUT and PATCH of the object', async () => {
    const name = await make({ spec: { a: 1 }, status: { p: 'A' } });
    expect((await get(name))['status']).toBeUndefined();
    const path = customPath('widgets', name);
    await served.answered(`PATCH ${path}/status`, { body: { status: { p: 'B' } } });
    const live = await get(name);
    expect(live['status']).toEqual({ p: 'B' });
    const put = await served.answered(`PUT ${path}`, { body: { ...live, status: { p: 'C' } } });
    expect(put['status']).toEqual({ p: 'B' });
    expect(put.metadata.resourceVersion).toBe(live.metadata.resourceVersion);
    const patched = await served.answered(`PATCH ${path}`, {
      body: { status: null, spec: { a: 2 } },
    });
    expect(patched).toMatchObject({ spec: { a: 2 }, status: { p: 'B' } });
  });

  test('is all that writes of it take, whatever else the request holds', async () => {
    const name = await make({ spec: { a: 1 }, data: 'd' }, { labels: { a: 'b' } });
    const live = await get(name);
    const body = {
      ...live,
      metadata: { name, resourceVersion: live.metadata.resourceVersion, labels: { x: 'y' } },
      spec: { a: 9 },
      data: 'other',
      status: { p: 'B' },
    };
    const put = await served.answered(`PUT ${customPath('widgets', name)}/status`, { body });
    expect(put).toEqual({
      ...live,
      metadata: {
        ...live.metadata,
        resourceVersion: put.metadata.resourceVersion,
        managedFields: put.metadata['managedFields'],
      },
      status: { p: 'B' },
    });
    const gone = await served.answered(`PUT ${customPath('widgets', name)}/status`, {
      body: { ...put, status: undefined, data: undefined },
    });
    expect([gone['status'], gone['data']]).toEqual([undefined, 'd']);
  });

  test('its writes change no generation, and a write that changes nothing no version', async () => {
    const name = await make({ spec: { a: 1 } });
    const path = `${customPath('widgets', name)}/status`;
    const written = await served.answered(`PATCH ${path}`, { body: { status: { p: 'B' } } });
    expect(generationOf(written)).toBe(1);
    const again = await served.answered(`PATCH ${path}`, { body: { status: { p: 'B' } } });
    expect(again).toEqual(written);
    expect(await served.answered(`PUT ${path}`, { body: written })).toEqual(written);
  });

  test('its owners are those of the subresource', async () => {
    const name = await make({ spec: { a: 1 } });
    const path = `${customPath('widgets', name)}/status`;
    const body = widget(name, { spec: { a: 7 }, status: { p: 'B' } });
    const contentType = 'application/apply-patch+yaml';
    const done = await served.answered(`PATCH ${path}?fieldManager=m`, { body, contentType });
    expect(ownersOf(done)).toContain('m/status: .status.p');
    expect(done).toMatchObject({ spec: { a: 1 }, status: { p: 'B' } });
  });

  test.each([
    ['POST', 'create'],
    ['DELETE', 'delete'],
  ])('%s of it is 405, which says what has no such verb', async (method, verb) => {
    const name = await make();
    const sent = method === 'POST' ? { body: widget(name) } : {};
    const refused = await served.send(`${method} ${customPath('widgets', name)}/status`, sent);
    expect([refused.status, refused.json]).toMatchObject([
      405,
      {
        message: `${verb} is not supported on resources of kind "widgets.example.com"`,
        reason: 'MethodNotAllowed',
        details: { group: 'example.com', kind: 'widgets' },
      },
    ]);
  });
});

describe('what is not declared', () => {
  test.each(['GET', 'PUT', 'PATCH', 'POST', 'DELETE'])('%s of it is 404', async (method) => {
    const name = fresh();
    const body = { kind: 'Plain', apiVersion: 'example.com/v1', metadata: { name } };
    await served.answered(`POST ${customPath('plains')}`, { body });
    const sent = method === 'GET' || method === 'DELETE' ? {} : { body };
    for (const subresource of ['status', 'scale', 'other']) {
      const line = `${method} ${customPath('plains', name)}/${subresource}`;
      expect((await served.send(line, sent)).status).toBe(404);
    }
  });

  test('a status is written like all else, and counts as a change', async () => {
    const name = fresh();
    const kinds = { kind: 'Plain', apiVersion: 'example.com/v1' };
    const body = { ...kinds, metadata: { name }, status: { p: 'A' } };
    const made = await served.answered(`POST ${customPath('plains')}`, { body });
    expect([made['status'], generationOf(made)]).toEqual([{ p: 'A' }, 1]);
    const path = customPath('plains', name);
    const next = await served.answered(`PATCH ${path}`, { body: { status: { p: 'B' } } });
    expect([next['status'], generationOf(next)]).toEqual([{ p: 'B' }, 2]);
  });
});

describe('the generation', () => {
  test('is 1 at first, and one more for each change outside metadata', async () => {
    const name = await make({ spec: { a: 1 } });
    const path = customPath('widgets', name);
    const changes: [object, number][] = [
      [{ metadata: { labels: { a: 'b' } } }, 1],
      [{ spec: { a: 2 } }, 2],
      [{ spec: { a: 2 } }, 2],
      [{ data: 'x' }, 3],
      [{ status: { p: 'x' } }, 3],
    ];
    for (const [body, generation] of changes) {
      expect(generationOf(await served.answered(`PATCH ${path}`, { body }))).toBe(generation);
    }
  });

  test('grows by a delete that finalizers hold, once', async () => {
    const name = await make({}, { finalizers: ['example.com/f'] });
    const path = customPath('widgets', name);
    expect(generationOf(await served.answered(`DELETE ${path}`))).toBe(2);
    await served.answered(`DELETE ${path}`);
    expect(generationOf(await get(name))).toBe(2);
    await served.answered(`PATCH ${path}`, { body: { metadata: { finalizers: null } } });
  });
});

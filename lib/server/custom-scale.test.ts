// The scale of custom resources: a kind of its own over places that definitions declare.
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
const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};
const sized = { ...scale, specReplicasPath: '.spec.size' };

beforeAll(async () => {
  served = await startCustomApi();
  await served.custom.define({
    plural: 'widgets',
    versions: [
      { name: 'v1', schema, subresources: { status: {}, scale } },
      { name: 'v2', schema, subresources: { status: {}, scale: sized } },
    ],
  });
});
afterAll(() => served.stop());

const widget = (name: string, more: object = {}, version = 'v1'): object => ({
  kind: 'Widget',
  apiVersion: `example.com/${version}`,
  metadata: { name },
  ...more,
});

async function make(more: object = {}, metadata: object = {}): Promise<string> {
  const name = fresh();
  const body = { ...widget(name, more), metadata: { name, ...metadata } };
  await served.answered(`POST ${customPath('widgets')}`, { body });
  return name;
}

const get = (name: string, version = 'v1'): Promise<Sent> =>
  served.answered(`GET ${customPath('widgets', name, version)}`);

describe('the scale of a custom resource', () => {
  const scalePath = (name: string, version = 'v1'): string =>
    `${customPath('widgets', name, version)}/scale`;
  const scaleBody = (name: string, replicas: unknown, metadata: object = {}): object => ({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...metadata },
    spec: { replicas },
  });

  test('shows what stands at the declared paths, and nothing else of the object', async () => {
    const name = await make({ spec: { replicas: 2 } }, { labels: { a: 'b' } });
    const path = customPath('widgets', name);
    expect(await served.answered(`GET ${path}/scale`)).toMatchObject({ status: { replicas: 0 } });
    const status = { replicas: 1, selector: 'x=y' };
    const live = await served.answered(`PATCH ${path}/status`, { body: { status } });
    const { uid, resourceVersion, creationTimestamp } = live.metadata;
    expect(await served.answered(`GET ${path}/scale`)).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace: 'ns', uid, resourceVersion, creationTimestamp },
      spec: { replicas: 2 },
      status,
    });
  });

  test('each version has places of its own', async () => {
    const name = await make({ spec: { replicas: 2, size: 5 } });
    const replicas = async (version: string): Promise<unknown> =>
      (await served.answered(`GET ${scalePath(name, version)}`))['spec'];
    expect([await replicas('v1'), await replicas('v2')]).toEqual([
      { replicas: 2 },
      { replicas: 5 },
    ]);
    await served.answered(`PUT ${scalePath(name, 'v2')}`, { body: scaleBody(name, 6) });
    expect([await replicas('v1'), await replicas('v2')]).toEqual([
      { replicas: 2 },
      { replicas: 6 },
    ]);
  });

  test('without replicas is 500, until somebody sets them', async () => {
    const name = await make();
    expect(await served.refused(`GET ${scalePath(name)}`)).toMatchObject({
      code: 500,
      message: 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist',
    });
    const empty = { metadata: { annotations: { a: 'b' } } };
    expect(await served.refused(`PATCH ${scalePath(name)}`, { body: empty })).toMatchObject({
      code: 400,
      message: 'the spec replicas field ".spec.replicas" cannot be empty',
    });
    const body = { spec: { replicas: 3 } };
    expect(await served.answered(`PATCH ${scalePath(name)}`, { body })).toMatchObject(body);
    expect(await get(name)).toMatchObject(body);
  });

  test('a write changes the replicas, counts a generation and nothing else', async () => {
    const name = await make({ spec: { replicas: 2, a: 1 }, data: 'd' });
    const live = await get(name);
    const body = { ...scaleBody(name, 4), status: { replicas: 9, selector: 'no' } };
    const written = await served.answered(`PUT ${scalePath(name)}`, { body });
    expect(written).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 4 },
      status: { replicas: 0 },
    });
    const now = await get(name);
    expect(now).toEqual({
      ...live,
      metadata: {
        ...live.metadata,
        generation: 2,
        resourceVersion: written.metadata.resourceVersion,
        managedFields: now.metadata['managedFields'],
      },
      spec: { replicas: 4, a: 1 },
    });
    expect(await served.answered(`PUT ${scalePath(name)}`, { body })).toEqual(written);
  });

  test.each([
    ['merge', 'application/merge-patch+json', { spec: { replicas: 7 } }, 7],
    [
      'JSON',
      'application/json-patch+json',
      [{ op: 'replace', path: '/spec/replicas', value: 8 }],
      8,
    ],
  ])('a %s patch is one of the Scale', async (_, contentType, body, replicas) => {
    const name = await make({ spec: { replicas: 2 } });
    const patched = await served.answered(`PATCH ${scalePath(name)}`, { body, contentType });
    expect(patched).toMatchObject({ kind: 'Scale', spec: { replicas } });
    expect(await get(name)).toMatchObject({ spec: { replicas } });
  });

  test('a stated version is a precondition, and a dry run writes nothing', async () => {
    const name = await make({ spec: { replicas: 2 } });
    const live = await get(name);
    const old = scaleBody(name, 5, { resourceVersion: '1' });
    expect(await served.refused(`PUT ${scalePath(name)}`, { body: old })).toMatchObject({
      code: 409,
    });
    const { resourceVersion } = live.metadata;
    const body = scaleBody(name, 5, { resourceVersion });
    const tried = await served.answered(`PUT ${scalePath(name)}?dryRun=All`, { body });
    expect(tried).toMatchObject({ spec: { replicas: 5 } });
    expect(await get(name)).toEqual(live);
    expect(await served.answered(`PUT ${scalePath(name)}`, { body })).toMatchObject({
      spec: { replicas: 5 },
    });
  });

  test.each([
    [-1, '.spec.replicas', '-1', 'should be a non-negative integer'],
    [2147483648, '.spec.replicas', '2147483648', 'should be less than or equal to 2147483647'],
    [
      'x',
      '.spec.replicas',
      '0',
      '.spec.replicas accessor error: x is of the type string, expected int64',
    ],
    [
      1.5,
      '.spec.replicas',
      '0',
      '.spec.replicas accessor error: 1.5 is of the type float64, expected int64',
    ],
    [
      true,
      '.spec.replicas',
      '0',
      '.spec.replicas accessor error: true is of the type bool, expected int64',
    ],
  ])('replicas of %p are refused in writes of the object', async (replicas, field, value, text) => {
    const body = widget(fresh(), { spec: { replicas } });
    const line = `POST ${customPath('widgets')}`;
    const { message, causes, code } = await served.refused(line, { body });
    expect(code).toBe(422);
    const reason = `Invalid value: ${value}: ${text}`;
    expect(causes).toEqual([{ reason: 'FieldValueInvalid', field, message: reason }]);
    expect(message).toContain(`is invalid: ${field}: ${reason}`);
  });

  test('replicas out of range are an invalid object in writes of the scale', async () => {
    const name = await make({ spec: { replicas: 2 } });
    const body = { spec: { replicas: -1 } };
    expect(await served.refused(`PATCH ${scalePath(name)}`, { body })).toMatchObject({
      code: 422,
      message:
        `Widget.example.com "${name}" is invalid: ` +
        '.spec.replicas: Invalid value: -1: should be a non-negative integer',
    });
    const large = scaleBody(name, 2147483648);
    expect(await served.refused(`PUT ${scalePath(name)}`, { body: large })).toMatchObject({
      code: 400,
    });
  });

  test('what the status has for it is judged in writes of the status', async () => {
    const name = await make({ spec: { replicas: 2 } });
    const path = `${customPath('widgets', name)}/status`;
    const status = { replicas: -1, selector: 5 };
    expect(await served.refused(`PATCH ${path}`, { body: { status } })).toMatchObject({
      code: 422,
      causes: [
        {
          field: '.status.replicas',
          message: 'Invalid value: -1: should be a non-negative integer',
        },
        {
          field: '.status.selector',
          message:
            'Invalid value: "": .status.selector accessor error: 5 is of the type int64, ' +
            'expected string',
        },
      ],
    });
    const text = '.status.replicas accessor error: x is of the type string, expected map';
    expect(await served.refused(`PATCH ${path}`, { body: { status: 'x' } })).toMatchObject({
      message: expect.stringContaining(text) as unknown,
    });
  });

  test.each(['POST', 'DELETE'])('%s of it is 405', async (method) => {
    const name = await make();
    const sent = method === 'POST' ? { body: scaleBody(name, 1) } : {};
    expect((await served.send(`${method} ${scalePath(name)}`, sent)).status).toBe(405);
  });

  test('of what is not there is 404, and its path takes no other name', async () => {
    expect(await served.refused(`GET ${scalePath('none')}`)).toMatchObject({
      code: 404,
      message: 'widgets.example.com "none" not found',
    });
    const name = await make({ spec: { replicas: 2 } });
    const body = scaleBody('other', 1);
    expect(await served.refused(`PUT ${scalePath(name)}`, { body })).toMatchObject({ code: 400 });
  });

  test('a value that came before its place is an error, not a number', async () => {
    const { custom } = served;
    const free = { name: 'v1', schema, subresources: {} };
    await custom.define({ plural: 'gadgets', versions: [free] });
    const name = fresh();
    const kinds = { kind: 'Gadget', apiVersion: 'example.com/v1' };
    const body = { ...kinds, metadata: { name }, spec: { replicas: { a: [1, null] } } };
    await served.answered(`POST ${customPath('gadgets')}`, { body });
    await custom.redefine('gadgets.example.com', (spec) => {
      const [version] = spec['versions'] as { subresources: object }[];
      if (version !== undefined) version.subresources = { scale };
    });
    expect(await served.refused(`GET ${customPath('gadgets', name)}/scale`)).toMatchObject({
      code: 500,
      message:
        'Internal error occurred: .spec.replicas accessor error: map[a:[1 <nil>]] ' +
        'is of the type map[string]interface {}, expected int64',
    });
  });

  describe('its owners', () => {
    const contentType = 'application/apply-patch+yaml';
    const apply = (name: string, manager: string, spec: object, version = 'v1'): Promise<Sent> =>
      served.answered(`PATCH ${customPath('widgets', name, version)}?fieldManager=${manager}`, {
        body: widget(name, { spec }, version),
        contentType,
      });

    test('a write takes the replicas from the place that each owner wrote in', async () => {
      const name = fresh();
      await apply(name, 'one', { replicas: 2, a: 1 });
      await apply(name, 'two', { size: 2 }, 'v2');
      const body = scaleBody(name, 5);
      await served.answered(`PUT ${scalePath(name)}?fieldManager=hpa`, { body });
      expect(ownersOf(await get(name))).toEqual(['one: .spec.a', '(hpa/scale): .spec.replicas']);
    });

    test('an entry has the version of the request and its place', async () => {
      const name = await make({ spec: { replicas: 2, size: 2 } });
      const body = scaleBody(name, 5);
      await served.answered(`PUT ${scalePath(name, 'v2')}?fieldManager=hpa`, { body });
      const { managedFields } = (await get(name)).metadata;
      expect(managedFields).toContainEqual({
        manager: 'hpa',
        operation: 'Update',
        apiVersion: 'example.com/v2',
        time: expect.any(String) as unknown,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:size': {} } },
        subresource: 'scale',
      });
    });

    test('who scales twice has one entry', async () => {
      const name = await make({ spec: { replicas: 2 } });
      for (const replicas of [5, 6]) {
        const body = scaleBody(name, replicas);
        await served.answered(`PUT ${scalePath(name)}?fieldManager=hpa`, { body });
      }
      const owners = ownersOf(await get(name));
      expect(owners.filter((owner) => owner.includes('hpa'))).toEqual([
        '(hpa/scale): .spec.replicas',
      ]);
    });

    test('an apply conflicts with who applied another number, and takes it by force', async () => {
      const name = fresh();
      await apply(name, 'one', { replicas: 2 });
      const body = scaleBody(name, 5);
      const line = `PATCH ${scalePath(name)}?fieldManager=hpa`;
      expect(await served.refused(line, { body, contentType })).toEqual({
        code: 409,
        message: 'Apply failed with 1 conflict: conflict with "one": .spec.replicas',
        causes: [
          {
            reason: 'FieldManagerConflict',
            field: '.spec.replicas',
            message: 'conflict with "one"',
          },
        ],
      });
      await served.answered(`${line}&force=true`, { body, contentType });
      expect(ownersOf(await get(name))).toEqual(['hpa/scale: .spec.replicas']);
      await served.answered(line, { body: scaleBody(name, 6), contentType });
      expect(await get(name)).toMatchObject({ spec: { replicas: 6 } });
    });
  });
});

// Tables and selectable fields of custom resources, in each of their versions.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { startCustomApi, customPath } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';

let served: CustomApi;

const open = { type: 'object', 'x-svc-preserve-unknown-fields': true };
const text = { type: 'string' };
const spec = {
  type: 'object',
  properties: { color: text, n: { type: 'integer' }, on: { type: 'boolean' } },
};
const schema = { type: 'object', properties: { spec, status: open } };
const fields = (...paths: string[]): object => ({
  selectableFields: paths.map((jsonPath) => ({ jsonPath })),
});
const column = (name: string, type: string, jsonPath: string, more: object = {}): object => ({
  ...{ name, type, jsonPath },
  ...more,
});

beforeAll(async () => {
  served = await startCustomApi();
  const { custom } = served;
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  const columns = [column('Color', 'string', '.spec.color'), column('N', 'integer', '.spec.n')];
  const others = [column('On', 'boolean', '.spec.on', { priority: 1, description: 'whether' })];
  await custom.define({
    plural: 'widgets',
    versions: [
      {
        name: 'v1',
        schema,
        subresources: { scale },
        more: { additionalPrinterColumns: columns, ...fields('.spec.color', '.spec.n') },
      },
      { name: 'v2', schema, more: { additionalPrinterColumns: others, ...fields('.spec.on') } },
      { name: 'v3', schema },
    ],
  });
  for (const [name, given] of [
    ['a', { color: 'red', n: 1, on: true }],
    ['b', { color: 'blue', n: 2, on: false }],
    ['c', {}],
  ] as const) {
    await make(name, given);
  }
});
afterAll(() => served.stop());

function make(name: string, given: object, namespace = 'ns'): Promise<Sent> {
  const body = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name }, spec: given };
  const path = customPath('widgets').replace('/ns/', `/${namespace}/`);
  return served.answered(`POST ${path}`, { body });
}

const table = (version = 'v1'): string => `application/json;as=Table;v=${version};g=meta.svc.io`;

interface Table {
  readonly apiVersion: string;
  readonly columnDefinitions: readonly JsonObject[] | null;
  readonly rows: readonly { readonly cells: unknown[]; readonly object: JsonObject }[];
}

async function shown(path: string, accept = table()): Promise<Table> {
  return (await served.send(`GET ${path}`, { accept })).json as Table;
}

const names = ({ columnDefinitions }: Table): unknown[] =>
  (columnDefinitions ?? []).map(({ name, type, priority }) => [name, type, priority]);
const cells = ({ rows }: Table): unknown[][] => rows.map((row) => row.cells);

describe('a Table of custom resources', () => {
  test('shows the columns of the version that is asked for', async () => {
    const first = await shown(customPath('widgets'));
    expect(names(first)).toEqual([
      ['Name', 'string', 0],
      ['Color', 'string', 0],
      ['N', 'integer', 0],
    ]);
    expect(cells(first)).toEqual([
      ['a', 'red', 1],
      ['b', 'blue', 2],
      ['c', null, null],
    ]);
    const second = await shown(customPath('widgets', '', 'v2'));
    expect(second.columnDefinitions?.[1]).toEqual({
      ...{ name: 'On', type: 'boolean', format: '', description: 'whether', priority: 1 },
    });
    expect(cells(second)).toEqual([
      ['a', true],
      ['b', false],
      ['c', null],
    ]);
  });

  test('without columns shows the age', async () => {
    const third = await shown(customPath('widgets', 'a', 'v3'));
    expect(names(third)).toEqual([
      ['Name', 'string', 0],
      ['Age', 'date', 0],
    ]);
    expect(cells(third)).toEqual([['a', expect.stringMatching(/^\d+[smh]/)]]);
  });

  test('comes in v1 and v1beta1, rows and all', async () => {
    for (const version of ['v1', 'v1beta1']) {
      const { apiVersion, rows } = await shown(customPath('widgets', 'a'), table(version));
      expect([apiVersion, rows[0]?.object['apiVersion']]).toEqual([
        `meta.svc.io/${version}`,
        `meta.svc.io/${version}`,
      ]);
    }
  });

  test('of a scale has the columns of all scales', async () => {
    const scale = await shown(`${customPath('widgets', 'a')}/scale`);
    expect(names(scale).map((one) => (one as unknown[])[0])).toEqual([
      'Name',
      'Desired',
      'Available',
      'Age',
    ]);
    expect(cells(scale)).toEqual([['a', 1, 0, expect.any(String)]]);
  });

  test('shows a changed column at the next read', async () => {
    const { custom } = served;
    await custom.define({ plural: 'gadgets', versions: [{ name: 'v1', schema }] });
    const body = {
      ...{ kind: 'Gadget', apiVersion: 'example.com/v1', metadata: { name: 'g' } },
      spec: { color: 'red', n: 7 },
    };
    await served.answered(`POST ${customPath('gadgets')}`, { body });
    for (const [path, value] of [
      ['.spec.color', 'red'],
      ['.spec.n', '7'],
      ['.spec.on', null],
    ]) {
      await custom.redefine('gadgets.example.com', (definition) => {
        const [version] = definition['versions'] as JsonObject[];
        if (version === undefined) throw new Error('it has a version');
        version['additionalPrinterColumns'] = [{ name: 'C', type: 'string', jsonPath: path ?? '' }];
      });
      expect(cells(await shown(customPath('gadgets')))).toEqual([['g', value]]);
      expect(cells(await shown(customPath('gadgets', 'g')))).toEqual([['g', value]]);
    }
  });

  test('may have more ages than a byte counts', async () => {
    const { custom } = served;
    const ages = Array.from({ length: 300 }, (_, index) =>
      column(`A${String(index)}`, 'date', '.metadata.creationTimestamp'),
    );
    const more = { additionalPrinterColumns: ages };
    await custom.define({ plural: 'ages', versions: [{ name: 'v1', schema, more }] });
    const body = { kind: 'Age', apiVersion: 'example.com/v1', metadata: { name: 'g' } };
    await served.answered(`POST ${customPath('ages')}`, { body });
    const [row] = cells(await shown(customPath('ages')));
    expect(row).toHaveLength(301);
    expect(new Set(row?.slice(1)).size).toBe(1);
  });
});

describe('selectable fields', () => {
  const selected = async (selector: string, version = 'v1', path?: string): Promise<unknown> => {
    const at = path ?? customPath('widgets', '', version);
    const { json } = await served.send(`GET ${at}?fieldSelector=${encodeURIComponent(selector)}`);
    const { items, message } = json as { items?: Sent[]; message?: string };
    return items?.map(({ metadata }) => metadata.name) ?? message;
  };

  test.each<[string, string, unknown]>([
    ['v1', 'spec.color=red', ['a']],
    ['v1', 'spec.color!=red', ['b', 'c']],
    ['v1', 'spec.n=2', ['b']],
    ['v1', 'spec.color=', ['c']],
    ['v1', 'spec.color=red,metadata.name=a', ['a']],
    ['v1', 'spec.color=red,metadata.namespace=other', []],
    ['v2', 'spec.on=true', ['a']],
    ['v2', 'spec.on=false', ['b']],
    ['v2', 'spec.on=', ['c']],
    ['v2', 'spec.color=red', 'field label not supported: spec.color'],
    ['v1', 'spec.on=true', 'field label not supported: spec.on'],
    ['v3', 'spec.on=true', 'field label not supported: spec.on'],
    ['v3', 'metadata.name=b', ['b']],
  ])('in %s: %s', async (version, selector, expected) => {
    expect(await selected(selector, version)).toEqual(expected);
  });

  test('a field that cannot be selected by is 400, in watches and deletes too', async () => {
    const path = customPath('widgets');
    for (const line of [`GET ${path}?watch=1&`, `DELETE ${path}?`, `GET ${path}?`]) {
      const { status, json } = await served.send(`${line}fieldSelector=spec.other%3Dx`);
      expect([status, json]).toEqual([
        400,
        expect.objectContaining({ message: 'field label not supported: spec.other' }),
      ]);
    }
  });

  test('cross namespaces', async () => {
    await make('d', { color: 'red' }, 'other');
    const all = '/apis/example.com/v1/widgets';
    expect(await selected('spec.color=red', 'v1', all)).toEqual(['a', 'd']);
    await served.answered(`DELETE ${customPath('widgets', 'd').replace('/ns/', '/other/')}`);
  });

  test.each([
    ['v1', 'spec.color=gold', { color: 'gold' }, { color: 'grey' }],
    ['v2', 'spec.on=true', { on: true }, { on: null }],
  ])(
    'a watch in %s by %s sees objects begin and cease to match',
    async (version, selector, match, miss) => {
      const name = `w${version}`;
      const made = await make(name, {});
      const path = customPath('widgets', name);
      for (const change of [match, { n: 9 }, miss, { n: 10 }, match]) {
        await served.answered(`PATCH ${path}`, { body: { spec: change } });
      }
      await served.answered(`DELETE ${path}`);
      const query = new URLSearchParams({
        ...{ watch: '1', fieldSelector: `${selector},metadata.name=${name}`, timeoutSeconds: '1' },
        resourceVersion: made.metadata.resourceVersion,
      });
      const list = customPath('widgets', '', version);
      const { body } = await served.send(`GET ${list}?${query.toString()}`);
      const events = body
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; object: Sent });
      expect(events.map(({ type }) => type)).toEqual([
        ...['ADDED', 'MODIFIED', 'DELETED', 'ADDED', 'DELETED'],
      ]);
      expect(new Set(events.map(({ object }) => object['apiVersion']))).toEqual(
        new Set([`example.com/${version}`]),
      );
    },
  );

  test('deletecollection takes those that match, in the version of the request', async () => {
    for (const name of ['x1', 'x2']) await make(name, { color: 'green', on: name === 'x1' });
    const line = `DELETE ${customPath('widgets', '', 'v2')}`;
    const { json } = await served.send(
      `${line}?fieldSelector=${encodeURIComponent('spec.on=true,metadata.name!=a')}`,
    );
    const { items } = json as { items: Sent[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['x1']);
    expect(await selected('spec.color=green')).toEqual(['x2']);
    await served.answered(`DELETE ${customPath('widgets', 'x2')}`);
  });

  test('a field that becomes selectable is found in what was stored before', async () => {
    const { custom } = served;
    await custom.define({ plural: 'things', versions: [{ name: 'v1', schema }] });
    const body = {
      ...{ kind: 'Thing', apiVersion: 'example.com/v1', metadata: { name: 't' } },
      spec: { color: 'red' },
    };
    await served.answered(`POST ${customPath('things')}`, { body });
    await custom.redefine('things.example.com', (definition) => {
      const [version] = definition['versions'] as JsonObject[];
      Object.assign(version ?? {}, fields('.spec.color'));
    });
    expect(await selected('spec.color=red', 'v1', customPath('things'))).toEqual(['t']);
  });
});

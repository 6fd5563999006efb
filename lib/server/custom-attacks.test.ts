// Hostile and odd input at custom resources, over HTTP: it is kept as data or refused by name, and
// what one of them holds is no other's.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fresh } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { customPath, startCustomApi } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';
import type { SentRequest } from './testing/api-on-etcd.ts';

let served: CustomApi;

const text = { type: 'string' };
const open = { type: 'object', 'x-svc-preserve-unknown-fields': true };
/** As JSON has it: a literal would set the prototype. */
const parsed = (json: string): object => JSON.parse(json) as object;
const schema = {
  type: 'object',
  properties: {
    open,
    map: { type: 'object', additionalProperties: text },
    whole: { type: 'integer', format: 'int64' },
    word: { type: 'string', pattern: '^(a+)+$' },
    ruled: {
      type: 'string',
      maxLength: 200_000,
      'x-svc-validations': [{ rule: "self.matches('^(a+)+$')", message: 'only a' }],
    },
    named: parsed(
      '{"type":"object","properties":{' +
        '"__proto__":{"type":"string","default":"p"},"constructor":{"type":"string"}}}',
    ),
  },
};

beforeAll(async () => {
  served = await startCustomApi();
  await served.custom.define({ plural: 'gates', versions: [{ name: 'v1', schema }] });
  await served.custom.define({
    plural: 'roots',
    scope: 'Cluster',
    versions: [{ name: 'v1', schema }],
  });
});
afterAll(() => served.stop());

const path = (name = ''): string => customPath('gates', name);
/** The text of a whole object whose other members are this text. */
const gate = (name: string, members: string): string =>
  `{"apiVersion":"example.com/v1","kind":"Gate","metadata":{"name":"${name}"},${members}}`;
const json = (body: string): SentRequest => ({ body, contentType: 'application/json' });
const textOf = async (line: string, sent?: SentRequest): Promise<string> => {
  const { status, body } = await served.send(line, sent);
  if (status >= 300) throw new Error(`${String(status)} ${body.toString()}`);
  return body.toString();
};

describe('names of the language are data', () => {
  const hostile =
    '{"__proto__":{"polluted":"1"},"constructor":{"prototype":{"polluted":"1"}},' +
    '"hasOwnProperty":"h"}';
  const flat = '{"__proto__":"p","constructor":"c","toString":"t"}';

  test.each<[string, (name: string) => Promise<unknown>]>([
    [
      'a create',
      (name) => textOf(`POST ${path()}`, json(gate(name, `"open":${hostile},"map":${flat}`))),
    ],
    [
      'a merge patch',
      async (name) => {
        await textOf(`POST ${path()}`, json(gate(name, '"open":{"__proto__":{"old":"1"}}')));
        const body = `{"open":{"__proto__":{"old":null}},"map":${flat}}`;
        await textOf(`PATCH ${path(name)}`, { body });
        await textOf(`PATCH ${path(name)}`, { body: `{"open":${hostile}}` });
      },
    ],
    [
      'a JSON patch',
      async (name) => {
        await textOf(`POST ${path()}`, json(gate(name, '"open":{},"map":{}')));
        const members = [hostile, flat].flatMap((of, index) =>
          Object.keys(parsed(of)).map((key) => {
            const at = `/${index === 0 ? 'open' : 'map'}/${key}`;
            const value = new Map(Object.entries(parsed(of))).get(key) as unknown;
            return { op: 'add', path: at, value };
          }),
        );
        const contentType = 'application/json-patch+json';
        await textOf(`PATCH ${path(name)}`, { body: members, contentType });
      },
    ],
    [
      'an apply',
      (name) =>
        textOf(`PATCH ${path(name)}?fieldManager=m`, {
          body: gate(name, `"open":${hostile},"map":${flat}`),
          contentType: 'application/apply-patch+yaml',
        }),
    ],
  ])('in %s', async (_, write) => {
    const name = fresh();
    await write(name);
    const read = parsed(await textOf(`GET ${path(name)}`)) as Record<string, unknown>;
    expect(JSON.stringify(read['open'])).toBe(JSON.stringify(parsed(hostile)));
    expect(JSON.stringify(read['map'])).toBe(JSON.stringify(parsed(flat)));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('in a schema, with a default, and in labels', async () => {
    const name = fresh();
    const body = gate(name, '"named":{"constructor":"c"}').replace(
      '"metadata":{',
      '"metadata":{"labels":{"constructor":"x"},',
    );
    const made = await textOf(`POST ${path()}`, json(body));
    expect(made).toContain('"named":{"__proto__":"p","constructor":"c"}');
    const list = await textOf(`GET ${path()}?labelSelector=constructor%3Dx`);
    expect((parsed(list) as { items: Sent[] }).items).toHaveLength(1);
    const none = await textOf(`GET ${path()}?labelSelector=toString`);
    expect((parsed(none) as { items: Sent[] }).items).toEqual([]);
  });
});

describe('integers of 64 bits stay exact', () => {
  const members = '"whole":9007199254740993,"open":{"n":[9223372036854775807,-9007199254740993]}';

  test.each<[string, (name: string) => Promise<unknown>]>([
    ['in a create', (name) => textOf(`POST ${path()}`, json(gate(name, members)))],
    [
      'in a merge patch of something else',
      async (name) => {
        await textOf(`POST ${path()}`, json(gate(name, members)));
        await textOf(`PATCH ${path(name)}`, { body: '{"map":{"a":"b"}}' });
      },
    ],
    [
      'in an apply',
      (name) =>
        textOf(`PATCH ${path(name)}?fieldManager=m`, {
          body: gate(name, members),
          contentType: 'application/apply-patch+yaml',
        }),
    ],
  ])('%s', async (_, write) => {
    const name = fresh();
    await write(name);
    const read = await textOf(`GET ${path(name)}`);
    expect(read).toContain('"whole":9007199254740993');
    expect(read).toMatch(/"n":\[9223372036854775807,-9007199254740993\]/);
  });
});

describe('a body is refused', () => {
  const bomb = (): string => {
    const lists = ['a: &a0 ["x","x","x","x","x","x","x","x","x"]'];
    for (let level = 1; level < 9; level++) {
      const before = `*a${String(level - 1)}`;
      lists.push(`a${String(level)}: &a${String(level)} [${Array(9).fill(before).join(',')}]`);
    }
    return lists.map((line) => `  ${line}`).join('\n');
  };

  test.each<[string, () => [body: string | Uint8Array, contentType: string], number[]]>([
    [
      'whose YAML grows without end',
      () => [
        `apiVersion: example.com/v1\nkind: Gate\nmetadata: {name: bomb}\nopen:\n${bomb()}\n`,
        'application/yaml',
      ],
      [400, 413],
    ],
    [
      'that nests too deep',
      () => [
        gate('deep', `"open":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
        'application/json',
      ],
      [400],
    ],
    [
      'that is no UTF-8',
      () => [
        Buffer.concat([
          Buffer.from(gate('utf', '"map":{"a":"').replace(/\}$/, '')),
          Buffer.from([0xff, 0xfe]),
          Buffer.from('"}}'),
        ]),
        'application/json',
      ],
      [400],
    ],
    ['that has no number', () => [gate('nan', '"whole":NaN'), 'application/json'], [400]],
  ])('%s', async (_, write, statuses) => {
    const [body, contentType] = write();
    const { status } = await served.send(`POST ${path()}`, { body, contentType });
    expect(statuses).toContain(status);
    expect((await served.send(`GET ${path()}`)).status).toBe(200);
  });

  test('for keys that it has twice, when it is to be read strictly', async () => {
    const body = gate('twice', '"map":{"a":"1","a":"2"}');
    const strict = await served.send(`POST ${path()}?fieldValidation=Strict`, json(body));
    expect([strict.status, strict.body.toString()]).toEqual([
      400,
      expect.stringContaining('strict decoding error: duplicate field \\"map.a\\"'),
    ]);
    const warned = await served.send(`POST ${path()}?fieldValidation=Warn`, json(body));
    expect([warned.status, warned.headers['warning']]).toEqual([
      201,
      expect.stringContaining('duplicate field \\"map.a\\"'),
    ]);
  });
});

test('patterns take time in proportion to their text', async () => {
  const long = `${'a'.repeat(100_000)}b`;
  const body = gate('long', `"word":"${long}","ruled":"${long}"`);
  const { code, message } = await served.refused(`POST ${path()}`, json(body));
  expect(code).toBe(422);
  expect(message).toContain('word in body should match');
});

describe('no path reaches what lies beside it', () => {
  test.each([
    ['GET', '/apis/example.com/v1/namespaces/ns/roots/r'],
    ['DELETE', '/apis/example.com/v1/namespaces/ns/roots/r'],
    ['GET', '/apis/example.com/v1/gates/g'],
    ['GET', '/apis/example.com/v1/namespaces/ns/gates/..%2f..%2froots%2fr'],
    ['GET', '/apis/example.com/v1/namespaces/..%2froots/gates/r'],
    ['GET', '/apis/example.com/v1/namespaces/%2e%2e/gates/r'],
    ['DELETE', '/apis/example.com/v1/roots/%2e%2e%2fgates%2fns%2fg'],
  ])('%s %s', async (method, line) => {
    const roots = '/apis/example.com/v1/roots';
    const root = { kind: 'Root', apiVersion: 'example.com/v1', metadata: { name: 'r' } };
    await served.send(`POST ${roots}`, { body: root });
    await served.send(`POST ${path()}`, json(gate('g', '"map":{}')));
    const { status, json: answer } = await served.send(`${method} ${line}`);
    expect([400, 403, 404]).toContain(status);
    expect(answer).toMatchObject({ kind: 'Status' });
    expect((await served.send(`GET ${roots}/r`)).status).toBe(200);
    expect((await served.send(`GET ${path('g')}`)).status).toBe(200);
  });

  test('a kind whose name another one begins with has its own objects', async () => {
    await served.custom.define({ plural: 'gate', versions: [{ name: 'v1' }] });
    expect((await served.answered(`GET ${customPath('gate')}`))['items']).toEqual([]);
  });
});

test('an object and a definition that cannot be read keep nothing else from work', async () => {
  const { replica } = served.custom;
  const { keyspace } = replica.deps;
  const signal = AbortSignal.timeout(30_000);
  const name = fresh();
  await served.answered(`POST ${path()}`, json(gate(name, '"map":{}')));
  const broken = Buffer.from('no object');
  const put = (key: string): Promise<unknown> =>
    replica.storage.put(key, broken, { expected: 0 }, signal);
  await put(keyspace.key('example.com/roots', '', 'broken'));
  await put(keyspace.key('apiextensions.svc.io/customresourcedefinitions', '', 'x.example.com'));
  expect((await served.send(`GET ${path(name)}`)).status).toBe(200);
  expect((await served.send(`GET /apis/no.example.com/v1/x`)).status).toBe(404);
  await served.custom.define({ plural: 'afterwards', versions: [{ name: 'v1' }] });
  expect((await served.send(`GET ${customPath('afterwards')}`)).status).toBe(200);
});

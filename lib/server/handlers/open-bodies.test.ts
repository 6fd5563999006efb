// Bodies of a kind whose type comes from a schema, over HTTP: what they have to say of themselves,
// metadata, finalizers, unknown and duplicate fields.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { fresh } from '../../registry/testing/verb-driver.ts';
import type { ApiAnswer, SentRequest } from '../testing/api-on-etcd.ts';
import { ApiOfThings, failureOf, messageOf, thing, things } from '../testing/open-things.ts';
import { typeMeta } from '../testing/open-things.ts';

let api: ApiOfThings;
const send = (line: string, sent?: SentRequest): Promise<ApiAnswer> => api.send(line, sent);
const statusOf = (line: string, sent?: SentRequest): Promise<number> => api.statusOf(line, sent);

beforeAll(async () => {
  api = await ApiOfThings.start();
});
afterAll(async () => {
  await api.stop();
});

describe('a body says what it holds', () => {
  test.each([
    [
      'of another version',
      { apiVersion: 'example.com/v2', kind: 'Thing' },
      'the API version in the data (example.com/v2) does not match ' +
        'the expected API version (example.com/v1)',
    ],
    [
      'of another group, whatever its kind',
      { apiVersion: 'v1', kind: 'ConfigMap' },
      'the API version in the data (v1) does not match the expected API version (example.com/v1)',
    ],
    [
      'without a kind',
      {},
      'the object provided is unrecognized (must be of type Thing): ' +
        `Object 'Kind' is missing in '{"metadata":{"name":"a"}}' ({"metadata":{"name":"a"}})`,
    ],
    [
      'without an apiVersion',
      { kind: 'Thing' },
      'the API version in the data () does not match the expected API version (example.com/v1)',
    ],
  ])('%s: 400', async (_claim, typeMembers, message) => {
    const body = { ...typeMembers, metadata: { name: 'a' } };
    for (const line of [`POST ${things}`, `PUT ${things}/a`]) {
      expect(messageOf(await send(line, { body }))).toEqual([400, expect.stringContaining('a')]);
    }
    expect(messageOf(await send(`POST ${things}`, { body }))).toEqual([400, message]);
  });

  test('a long one without a kind is quoted in part', async () => {
    const body = { metadata: { name: 'x'.repeat(10_000) } };
    const { message } = failureOf(await send(`POST ${things}`, { body }));
    expect(message).toContain(`({"metadata":{"name":"xxxxxxxxx ...)`);
    expect(message.length).toBeLessThan(limits.quotedBodyBytesMax + 200);
  });

  test('of another kind: 422 under the name that it gives itself', async () => {
    const body = { ...typeMeta, kind: 'Gadget', metadata: { name: 'a' } };
    const cause = { reason: 'FieldValueInvalid', field: 'kind' };
    expect(failureOf(await send(`POST ${things}`, { body }))).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'Gadget.example.com "a" is invalid: kind: Invalid value: "Gadget": must be Thing',
      details: { group: 'example.com', kind: 'Gadget', name: 'a', causes: [cause] },
    });
  });

  test('a patch makes no other version of it; its fields are unknown there', async () => {
    const { path } = await api.made({ a: 'x' });
    const answer = await send(`PATCH ${path}`, { body: { apiVersion: 'example.com/v9' } });
    expect(failureOf(answer)).toMatchObject({
      code: 422,
    });
    expect(failureOf(answer).message).toContain('"example.com/v9": must be example.com/v1');
    expect(answer.headers.warning).toBe('299 - "unknown field \\"spec\\""');
    const other = await send(`PATCH ${path}`, { body: { kind: 'Other' } });
    expect(messageOf(other)).toEqual([
      422,
      expect.stringContaining('kind: Invalid value: "Other": must be Thing'),
    ]);
  });
});

describe('metadata', () => {
  test('without a name: 422', async () => {
    const answer = await send(`POST ${things}`, { body: { ...typeMeta, metadata: {} } });
    expect(messageOf(answer)).toEqual([
      422,
      'Thing.example.com "" is invalid: ' +
        'metadata.name: Required value: name or generateName is required',
    ]);
  });

  test('without a resourceVersion in a PUT: 422; of an absent object: 404', async () => {
    const { name, path } = await api.made();
    expect(messageOf(await send(`PUT ${path}`, { body: thing(name) }))).toEqual([
      422,
      `things.example.com "${name}" is invalid: metadata.resourceVersion: Invalid value: 0: ` +
        'must be specified for an update',
    ]);
    expect(await statusOf(`PUT ${things}/nope`, { body: thing('nope') })).toBe(404);
    const versioned = thing('nope', {}, { resourceVersion: '1' });
    expect(await statusOf(`PUT ${things}/nope`, { body: versioned })).toBe(404);
  });

  test.each([
    ['that is no object', { metadata: 'x' }],
    ['with a name of a wrong type', { metadata: { name: 5 } }],
    ['with labels of a wrong type', { metadata: { name: 'a', labels: { a: 1 } } }],
    ['with finalizers of a wrong type', { metadata: { name: 'a', finalizers: 'x' } }],
    ['of an embedded object that is none', { spec: { e: { metadata: 5 } } }],
    ['of an embedded object, malformed', { spec: { e: { metadata: { labels: [] } } } }],
  ])('%s: 400', async (_claim, members) => {
    const body = { ...typeMeta, metadata: { name: 'a' }, ...members };
    const [code, message] = messageOf(await send(`POST ${things}`, { body }));
    expect(code).toBe(400);
    expect(message).toContain('Thing in version "v1" cannot be handled as a Thing: ');
  });

  test.each([
    ['apiVersion', 'spec.e.apiVersion: Invalid value: 5: must be a string'],
    ['kind', 'spec.e.kind: Invalid value: 5: must be a string'],
    ['metadata', 'spec.e.metadata: Invalid value: 5: '],
  ])('of an embedded object whose %s is no text: 400', async (member, message) => {
    const body = thing('a', { e: { apiVersion: 'v1', kind: 'X', [member]: 5 } });
    const answer = await send(`POST ${things}`, { body });
    expect(messageOf(answer)).toEqual([400, expect.stringContaining(message)]);
  });

  test.each([
    ['UPPER', 422],
    ['a..b', 422],
    ['a.b-c', 201],
    ['a'.repeat(254), 422],
    ['b'.repeat(253), 201],
  ])('a name is a subdomain: %s', async (name, status) => {
    expect(await statusOf(`POST ${things}`, { body: thing(name) })).toBe(status);
  });
});

describe('finalizers', () => {
  const prefer = 'prefer a domain-qualified finalizer name';
  const why = 'to avoid accidental conflicts with other finalizer writers';
  const warned = (finalizer: string, path = ''): string =>
    `299 - "metadata.finalizers: \\"${finalizer}\\": ${prefer}${path} ${why}"`;
  const post = async (finalizers: string[]): Promise<{ name: string; warning: unknown }> => {
    const name = fresh();
    const answer = await send(`POST ${things}`, { body: thing(name, {}, { finalizers }) });
    expect(answer.status).toBe(201);
    return { name, warning: answer.headers.warning };
  };

  test.each([
    ['without a domain are warned of', 'plain', warned('plain')],
    ['with a dot need a path', 'a.b', warned('a.b', ' including a path (/)')],
    ['qualified ones are not warned of', 'a.b/c', undefined],
    ['standard ones are not warned of', 'foregroundDeletion', undefined],
  ])('%s', async (_claim, finalizer, warning) => {
    expect((await post([finalizer])).warning).toBe(warning);
  });

  test('only new ones are warned of, and none by a write of the status', async () => {
    const { name } = await post(['one']);
    const patch = { body: { metadata: { finalizers: ['one', 'two'] } } };
    const inStatus = await send(`PATCH ${things}/${name}/status`, patch);
    expect([inStatus.status, inStatus.headers.warning]).toEqual([200, undefined]);
    const { name: other } = await post(['one']);
    const answer = await send(`PATCH ${things}/${other}`, patch);
    expect([answer.status, answer.headers.warning]).toEqual([200, warned('two')]);
    const again = await send(`PATCH ${things}/${other}`, { body: { spec: { a: 'x' } } });
    expect(again.headers.warning).toBeUndefined();
  });
});

describe('field validation', () => {
  const spec = { a: 'x', y: 1, list: [{ k: 'a', z: 1 }], e: { metadata: { foo: 1 }, kind: 'X' } };
  const body = (name: string): object => ({
    ...thing(name, { ...spec, e: { ...spec.e, apiVersion: 'v1' } }, { bar: 1 }),
    top: 1,
  });
  const unknown = ['metadata.bar', 'spec.e.metadata.foo', 'spec.list[0].z', 'spec.y', 'top'];
  const texts = unknown.map((path) => `unknown field "${path}"`);

  test('Ignore says nothing, Warn all, Strict refuses; in the order of their paths', async () => {
    const ignored = await send(`POST ${things}?fieldValidation=Ignore`, { body: body(fresh()) });
    expect([ignored.status, ignored.headers.warning]).toEqual([201, undefined]);
    const warnedOf = await send(`POST ${things}?fieldValidation=Warn`, { body: body(fresh()) });
    expect(warnedOf.headers.warning).toBe(
      texts.map((one) => `299 - ${JSON.stringify(one)}`).join(', '),
    );
    const strict = await send(`POST ${things}?fieldValidation=Strict`, { body: body(fresh()) });
    expect(messageOf(strict)).toEqual([
      400,
      'Thing in version "v1" cannot be handled as a Thing: ' +
        `strict decoding error: ${texts.join(', ')}`,
    ]);
  });

  test.each([
    [
      'application/json',
      `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"d"},
      "spec":{"a":"1","a":"2","loose":{"q":1,"q":2}}}`,
    ],
    [
      'application/yaml',
      'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: d}\n' +
        'spec:\n  a: "1"\n  a: "2"\n  loose: {q: 1, q: 2}\n',
    ],
  ])('duplicates in %s', async (contentType, duplicated) => {
    const sent = { body: duplicated, contentType };
    const strict = await send(`POST ${things}?fieldValidation=Strict`, sent);
    expect(messageOf(strict)).toEqual([
      400,
      expect.stringContaining('duplicate field "spec.a", duplicate field "spec.loose.q"'),
    ]);
    const answer = await send(`POST ${things}?fieldValidation=Warn&dryRun=All`, sent);
    expect(answer.json).toMatchObject({ spec: { a: '2', loose: { q: 2 } } });
    expect(answer.headers.warning).toContain('duplicate field \\"spec.a\\"');
  });
});

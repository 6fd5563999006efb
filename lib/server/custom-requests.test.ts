// What requests of custom resources are answered: bodies of another kind or version, metadata of
// wrong types, media types, and sizes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { customPath, startCustomApi } from './testing/custom-api.ts';
import type { CustomApi, Refusal } from './testing/custom-api.ts';

let served: CustomApi;
const text = { type: 'string' };
const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        t: text,
        bytes: { ...text, format: 'date' },
        half: { type: 'integer', minimum: 0.5 },
        nil: { ...text, nullable: true, enum: ['a', null] },
        list: { type: 'array', items: { type: 'object', properties: { a: text } } },
        e: {
          type: 'object',
          'x-svc-embedded-resource': true,
          'x-svc-preserve-unknown-fields': true,
        },
      },
    },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
};

beforeAll(async () => {
  served = await startCustomApi();
  const subresources = { status: {}, scale };
  await served.custom.define({
    plural: 'gears',
    versions: [
      { name: 'v1', schema, subresources },
      { name: 'v2', schema },
    ],
  });
  await served.answered(`POST ${path()}`, { body: gear('there') });
});
afterAll(() => served.stop());

const path = (name = ''): string => customPath('gears', name);
const gear = (name: string, more: object = {}): object => ({
  kind: 'Gear',
  apiVersion: 'example.com/v1',
  metadata: { name },
  ...more,
});
const post = (body: object | string): Promise<Refusal> =>
  served.refused(`POST ${path()}`, { body });

describe('a body', () => {
  test.each<[string, object, number, string]>([
    [
      'of another version is 400',
      gear('x', { apiVersion: 'example.com/v2' }),
      400,
      'the API version in the data (example.com/v2) does not match the expected API version ' +
        '(example.com/v1)',
    ],
    [
      'of another group is 400',
      gear('x', { apiVersion: 'e.com/v1' }),
      400,
      'the API version in the data (e.com/v1) does not match the expected API version ' +
        '(example.com/v1)',
    ],
    [
      'without apiVersion is 400',
      { kind: 'Gear', metadata: { name: 'x' } },
      400,
      'the API version in the data () does not match the expected API version (example.com/v1)',
    ],
    [
      'of another kind is 422',
      gear('x', { kind: 'X' }),
      422,
      'kind: Invalid value: "X": must be Gear',
    ],
    [
      'without kind is 400',
      { apiVersion: 'example.com/v1', metadata: { name: 'x' } },
      400,
      "the object provided is unrecognized (must be of type Gear): Object 'Kind' is missing in '",
    ],
    [
      'of a POST without a name is 422',
      gear('x', { metadata: {} }),
      422,
      'metadata.name: Required value: name or generateName is required',
    ],
    [
      'whose metadata is no object is 400',
      gear('x', { metadata: 5 }),
      400,
      'Gear in version "v1" cannot be handled as a Gear: ',
    ],
    [
      'with a metadata field of a wrong type is 400',
      gear('x', { metadata: { name: 'x', labels: { a: 1 } } }),
      400,
      'Gear in version "v1" cannot be handled as a Gear: ',
    ],
    [
      'that embeds metadata of a wrong type is 400, with the path',
      gear('x', { spec: { e: { apiVersion: 'v1', kind: 'A', metadata: { labels: 5 } } } }),
      400,
      'cannot be handled as a Gear: spec.e.metadata: Invalid value: ',
    ],
    [
      'that embeds an apiVersion that is no text is 400, with the path',
      gear('x', { spec: { e: { apiVersion: 5, kind: 'A', metadata: {} } } }),
      400,
      'spec.e.apiVersion: Invalid value: 5: must be a string',
    ],
    [
      'whose name is no DNS-1123 subdomain is 422',
      gear('A'),
      422,
      'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of',
    ],
    [
      'with a list as a text with a format is a type error',
      gear('x', { spec: { bytes: ['a'] } }),
      422,
      'spec.bytes in body must be of type string: "array"',
    ],
    [
      'with an integer below a fractional bound is 422',
      gear('x', { spec: { half: 0 } }),
      422,
      'spec.half in body should be greater than or equal to 0.5',
    ],
  ])('%s', async (_claim, body, code, message) => {
    const refusal = await post(body);
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(message) as unknown });
  });

  test('of a PUT without resourceVersion is 422, of an absent object 404', async () => {
    expect(await served.refused(`PUT ${path('there')}`, { body: gear('there') })).toMatchObject({
      code: 422,
      message: expect.stringContaining(
        'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ) as unknown,
    });
    const absent = gear('absent', { metadata: { name: 'absent', resourceVersion: '1' } });
    expect((await served.refused(`PUT ${path('absent')}`, { body: absent })).code).toBe(404);
  });

  test('null that is listed in the enum of a nullable field is taken', async () => {
    const made = await served.answered(`POST ${path()}`, {
      body: gear('nil', { spec: { nil: null, half: 1 } }),
    });
    expect(made['spec']).toEqual({ nil: null, half: 1 });
  });

  test('nested too deep is 400', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const head = '"kind":"Gear","apiVersion":"example.com/v1","metadata":{"name":"x"}';
    const body = `{${head},"s":${deep}}`;
    expect((await post(body)).code).toBe(400);
  });

  test('of more than 3 MiB is 413', async () => {
    expect((await post(gear('x', { spec: { t: 'x'.repeat(3 * 1024 * 1024) } }))).code).toBe(413);
  });

  test('above what etcd takes is 413', async () => {
    expect((await post(gear('x', { spec: { t: 'x'.repeat(2 * 1024 * 1024) } }))).code).toBe(413);
  });
});

describe('field validation', () => {
  const unknown = gear('x', {
    metadata: { name: 'x', foo: 1 },
    spec: { list: [{ b: 1 }], z: 1 },
    more: 1,
  });
  test('Strict tells unknown fields by their paths, of lists and the root too', async () => {
    const line = `POST ${path()}?fieldValidation=Strict`;
    const { code, message } = await served.refused(line, { body: unknown });
    expect(code).toBe(400);
    for (const field of ['metadata.foo', 'spec.list[0].b', 'spec.z', 'more']) {
      expect(message).toContain(`unknown field "${field}"`);
    }
  });
  test('Warn says so', async () => {
    const line = `POST ${path()}?fieldValidation=Warn&dryRun=All`;
    const { headers } = await served.send(line, { body: unknown });
    expect(headers['warning']).toContain('unknown field \\"spec.list[0].b\\"');
  });
});

test.each([
  ['example.com/finalizer', undefined],
  ['orphan', undefined],
  [
    'mine',
    'metadata.finalizers: \\"mine\\": prefer a domain-qualified finalizer name to avoid ' +
      'accidental conflicts with other finalizer writers',
  ],
  [
    'my.own',
    'metadata.finalizers: \\"my.own\\": prefer a domain-qualified finalizer name including a ' +
      'path (/) to avoid accidental conflicts with other finalizer writers',
  ],
])('the finalizer %s warns, if it is not qualified', async (finalizer, warning) => {
  const body = gear('f', { metadata: { name: 'f', finalizers: [finalizer] } });
  const { headers } = await served.send(`POST ${path()}?dryRun=All`, { body });
  expect(headers['warning']).toBe(warning === undefined ? undefined : `299 - "${warning}"`);
});

describe('media types', () => {
  const strategic = 'application/strategic-merge-patch+json';
  test.each(['', '/status', '/scale'])('a strategic merge patch of %p is 415', async (part) => {
    const sent = { body: {}, contentType: strategic };
    expect((await served.refused(`PATCH ${path('there')}${part}`, sent)).code).toBe(415);
  });
  test.each<[string, string, string, number]>([
    ['a JSON patch', 'application/json-patch+json', '[]', 200],
    ['a merge patch', 'application/merge-patch+json', '{}', 200],
    ['a merge patch in YAML', 'application/merge-patch+yaml', '{}', 415],
  ])('%s: %s', async (_claim, contentType, body, status) => {
    expect((await served.send(`PATCH ${path('there')}`, { body, contentType })).status).toBe(
      status,
    );
  });
  test('an apply in YAML is taken', async () => {
    const body = 'kind: Gear\napiVersion: example.com/v1\nmetadata: {name: applied}\n';
    const contentType = 'application/apply-patch+yaml';
    const line = `PATCH ${path('applied')}?fieldManager=m`;
    expect((await served.send(line, { body, contentType })).status).toBe(201);
  });
  test('a body in YAML is taken, and answered in YAML if asked', async () => {
    const body = 'kind: Gear\napiVersion: example.com/v1\nmetadata: {name: yaml}\n';
    const sent = { body, contentType: 'application/yaml', accept: 'application/yaml' };
    const { status, headers, body: answer } = await served.send(`POST ${path()}`, sent);
    expect([status, headers['content-type']]).toEqual([201, 'application/yaml']);
    expect(answer.toString()).toContain('name: yaml');
  });
  const protobuf = 'application/vnd.svc.protobuf';
  test.each(['', '/status'])('a Protobuf body to an object%s is 415', async (part) => {
    const sent = { body: 'x', contentType: protobuf };
    const method = part === '' ? `POST ${path()}` : `PUT ${path('there')}${part}`;
    expect((await served.refused(method, sent)).code).toBe(415);
  });
  const table = 'as=Table;v=v1;g=meta.svc.io';
  test.each<[string, string, number]>([
    ['Protobuf alone', protobuf, 406],
    ['Protobuf or JSON', `${protobuf},application/json`, 200],
    ['a Table in Protobuf, which no kind has', `${protobuf};${table}`, 406],
    ['metadata in Protobuf', `${protobuf};as=PartialObjectMetadata;v=v1;g=meta.svc.io`, 200],
  ])('Accept: %s', async (_claim, accept, status) => {
    expect((await served.send(`GET ${path('there')}`, { accept })).status).toBe(status);
  });
  test('a list of metadata in Protobuf is there', async () => {
    const accept = `${protobuf};as=PartialObjectMetadataList;v=v1;g=meta.svc.io`;
    expect((await served.send(`GET ${path()}`, { accept })).status).toBe(200);
  });
  test('a watch in YAML is 406', async () => {
    const line = `GET ${path()}?watch=true&timeoutSeconds=1`;
    expect((await served.send(line, { accept: 'application/yaml' })).status).toBe(406);
  });
});

// Definitions and custom objects of hostile shapes: taken or refused by an answer that says why,
// never a failure of the server; what nests too deeply is 400 in every form of body.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { customPath, startCustomApi } from './testing/custom-api.ts';
import type { CustomApi } from './testing/custom-api.ts';

const definitions = '/apis/apiextensions.svc.io/v1/customresourcedefinitions';
const word = (name: string): string => `x-svc-${name}`;
const text = { type: 'string' };
const list = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_item, at) => make(at));
const entries = (count: number, make: (at: number) => unknown): object =>
  Object.fromEntries(list(count, (at) => [`k${String(at)}`, make(at)]));
const object = (properties: object): object => ({ type: 'object', properties });
const named = (key: string): object =>
  JSON.parse(`{"type":"object","properties":{"${key}":{"type":"string"}}}`) as object;
const deepText = (levels: number): string =>
  `${'{"type":"object","properties":{"a":'.repeat(levels)}{}${'}}'.repeat(levels)}`;

let served: CustomApi;
let count = 0;

beforeAll(async () => {
  served = await startCustomApi();
  const spec = { [word('preserve-unknown-fields')]: true };
  const versions = [{ name: 'v1', schema: object({ spec }) }];
  await served.custom.define({ plural: 'widgets', versions });
});
afterAll(() => served.stop());

/** With `@` in the place of the schema of `spec`. */
function definitionText(more: object = {}, version = 'v1'): { name: string; body: string } {
  const plural = `h${String(++count)}s`;
  const names = { plural, singular: `h${String(count)}`, kind: `H${String(count)}` };
  const schema = { openAPIV3Schema: object({ spec: '@' }) };
  const spec = {
    ...{ group: 'example.com', scope: 'Namespaced', names },
    versions: [{ name: version, served: true, storage: true, schema }],
    ...more,
  };
  const body = {
    ...{ apiVersion: 'apiextensions.svc.io/v1', kind: 'CustomResourceDefinition' },
    ...{ metadata: { name: `${plural}.example.com` }, spec },
  };
  return { name: `${plural}.example.com`, body: JSON.stringify(body) };
}
const withSpec = (body: string, spec: string): string => body.replace('"@"', () => spec);

describe('definitions', () => {
  const rules = (count: number, rule: (at: number) => string): object => ({
    ...{ type: 'string', maxLength: 10 },
    [word('validations')]: list(count, (at) => ({ rule: rule(at) })),
  });
  test.each<[string, object, number]>([
    ['5,000 properties', object(entries(5_000, () => text)), 201],
    ['properties without types', object(entries(5_000, () => ({}))), 422],
    ['5,000 values of an enum', { ...text, enum: list(5_000, String) }, 201],
    ['1,000 conditions', { ...text, anyOf: list(1_000, (at) => ({ minLength: at })) }, 201],
    ['1,000 rules', rules(1_000, (at) => `self != "${String(at)}"`), 201],
    ['rules that do not compile', rules(1_000, (at) => `self.a${String(at)} +`), 422],
    [
      'a long rule',
      rules(1, () => list(60_000, (at) => `self != "${String(at)}"`).join('&&')),
      422,
    ],
    ['repetitions of repetitions', { ...text, pattern: '((a{1000}){1000}){1000}' }, 422],
    ['a long pattern', { ...text, pattern: '(a|b)*c?'.repeat(10_000) }, 422],
    ['long names', object({ ['n'.repeat(10_000)]: text }), 201],
    ['__proto__ as a property', named('__proto__'), 201],
    ['constructor as a property', named('constructor'), 201],
    ...['__proto__', 'constructor'].map((key): [string, object, number] => [
      `${key} as a key of lists`,
      {
        ...{ type: 'array', [word('list-type')]: 'map', [word('list-map-keys')]: [key] },
        items: { ...named(key), required: [key] },
      },
      201,
    ]),
  ])('%s', async (_claim, spec, expected) => {
    const { body } = definitionText();
    const sent = { body: withSpec(body, JSON.stringify(spec)) };
    const { status, json } = await served.send(`POST ${definitions}`, sent);
    expect([status, typeof (json as { message?: string }).message]).toEqual([
      expected,
      expected === 201 ? 'undefined' : 'string',
    ]);
  });

  test.each([
    ['__proto__', 422],
    ['constructor', 201],
  ])('%s as a version', async (version, expected) => {
    const { body } = definitionText({}, version);
    const sent = { body: withSpec(body, JSON.stringify(text)) };
    expect((await served.send(`POST ${definitions}`, sent)).status).toBe(expected);
  });
});

const tooDeep = `the body nests deeper than ${String(limits.bodyDepthMax)} levels`;
const bodies: readonly [string, string, (body: string) => string][] = [
  ['POST', 'application/json', (body) => body],
  ['POST', 'application/yaml', (body) => `# YAML\n${body}`],
  ['PUT', 'application/json', (body) => body],
  ['PATCH', 'application/merge-patch+json', (body) => body],
  [
    'PATCH',
    'application/json-patch+json',
    (body) => `[{"op":"replace","path":"/spec","value":${body}}]`,
  ],
  ['PATCH', 'application/apply-patch+yaml', (body) => body],
  ['PATCH', 'application/apply-patch+yaml', (body) => `# YAML\n${body}`],
];

describe('5,000 levels', () => {
  test.each(bodies)('of a definition by %s of %s are 400', async (method, contentType, form) => {
    const { name, body } = definitionText();
    await served.answered(`POST ${definitions}`, { body: withSpec(body, JSON.stringify(text)) });
    const path = method === 'POST' ? definitions : `${definitions}/${name}?fieldManager=m`;
    const sent = { body: form(withSpec(body, deepText(5_000))), contentType };
    const refusal = await served.refused(`${method} ${path}`, sent);
    expect(refusal.code).toBe(400);
    expect(refusal.message).toContain(tooDeep);
  });

  test.each(bodies)('of an object by %s of %s are 400', async (method, contentType, form) => {
    const name = `o${String(++count)}`;
    const head = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name } };
    const body = JSON.stringify({ ...head, spec: '@' });
    await served.answered(`POST ${customPath('widgets')}`, { body: withSpec(body, '1') });
    const own = `${customPath('widgets', name)}?fieldManager=m`;
    const path = method === 'POST' ? customPath('widgets') : own;
    const sent = { body: form(withSpec(body, deepText(5_000))), contentType };
    const refusal = await served.refused(`${method} ${path}`, sent);
    expect(refusal.code).toBe(400);
    expect(refusal.message).toContain(tooDeep);
  });
});

// Conversion of custom objects by a real webhook over TLS: the reviews that it is sent, and what is
// said of each way to answer wrongly.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import type { ConvertAll } from '../../registry/conversion.ts';
import { ConversionMetrics } from './conversion-metrics.ts';
import type { ConversionWebhook } from './conversion-webhook.ts';
import { converterOf } from './converter.ts';
import { answering, ConversionServer, converted } from './testing/conversion-server.ts';
import type { AnswerReview } from './testing/conversion-server.ts';
import { convertingBy, failureOf, metrics, wallObject, wallVersions } from './testing/walls.ts';

let server: ConversionServer;
let webhook: ConversionWebhook;
let convertAll: ConvertAll;
beforeAll(async () => {
  server = await ConversionServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.answer = converted;
  server.reviews.length = 0;
  server.requests.length = 0;
  webhook = server.webhook();
  convertAll = convertingBy(webhook);
});
afterEach(() => webhook.close());

const one = (): Promise<unknown> => convertAll([wallObject('a')], 'example.com/v2');
const list = (): Promise<unknown> =>
  convertAll([wallObject('a'), wallObject('b')], 'example.com/v2', 0);

describe('strategy None', () => {
  const converter = converterOf({
    name: 'walls.example.com',
    versions: wallVersions,
    generation: '1',
    webhook: undefined,
    metrics: new ConversionMetrics(metrics.series),
  });
  const convert = (object: ApiObject, to: string): ApiObject => {
    if (!('convert' in converter)) throw new Error('nothing waits');
    return converter.convert(object, to);
  };

  test('changes apiVersion alone, and keeps what the target knows', () => {
    const given = wallObject('a');
    given['spec'] = { color: 'red', paint: 'blue' };
    expect(convert(given, 'example.com/v2')).toEqual({
      ...given,
      apiVersion: 'example.com/v2',
      spec: { paint: 'blue' },
    });
    expect(given).toMatchObject({ apiVersion: 'example.com/v1', spec: { color: 'red' } });
    expect(convert(given, 'example.com/v1')).toEqual(given);
  });

  test.each([
    ['to', 'example.com/v1', 'example.com/v9'],
    ['from', 'example.com/v9', 'example.com/v1'],
  ])('converts nothing %s a version that the definition has not', async (way, from, to) => {
    const call = Promise.resolve().then(() => convert(wallObject('a', 'red', from), to));
    const text = `request to convert CR ${way} an invalid group/version: example.com/v9`;
    expect(await failureOf(call)).toBe(text);
  });
});

describe('a review', () => {
  test('is a POST with the whole objects that are not in the version yet, at once', async () => {
    const there = wallObject('there', 'red', 'example.com/v2');
    const given = [wallObject('a'), there, wallObject('b', 'blue', 'example.com/v3')];
    await convertAll(given, 'example.com/v2', 0);
    const [review] = server.reviews;
    expect(server.requests).toEqual([
      { url: '/convert?timeout=30s', host: `127.0.0.1:${String(server.port)}` },
    ]);
    expect(review).toEqual({
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.test/v1',
      request: {
        uid: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
        desiredAPIVersion: 'example.com/v2',
        objects: [given[0], given[2]],
      },
    });
  });

  test('gives the converted objects in their order, among those that were not sent', async () => {
    const there = { ...wallObject('there', 'red', 'example.com/v2'), spec: { paint: 'gold' } };
    const made = await convertAll(
      [wallObject('a'), there, wallObject('b', 'blue')],
      'example.com/v2',
      0,
    );
    expect(made).toMatchObject([
      { metadata: { name: 'a' }, spec: { paint: 'red' } },
      there,
      { metadata: { name: 'b' }, spec: { paint: 'blue' } },
    ]);
  });

  test('is not made for an empty list, nor for equal versions', async () => {
    expect(await convertAll([], 'example.com/v2', 0)).toEqual([]);
    const there = wallObject('there', 'red', 'example.com/v2');
    expect(await convertAll([there], 'example.com/v2')).toEqual([there]);
    expect(server.reviews).toEqual([]);
  });

  test('is not made for a version that the definition has not', async () => {
    const text = 'request to convert CR to an invalid group/version: example.com/v9';
    expect(await failureOf(convertAll([wallObject('a')], 'example.com/v9'))).toBe(text);
    expect(server.reviews).toEqual([]);
  });

  test.each([
    [['v1beta1', 'v1'], 'v1beta1'],
    [['v7', 'v1', 'v1beta1'], 'v1'],
  ])('of %p is made in the first version that is known: %s', async (names, version) => {
    const webhook = server.webhook({ conversionReviewVersions: names });
    await convertingBy(webhook)([wallObject('a')], 'example.com/v2');
    expect(server.reviews[0]?.apiVersion).toBe(`apiextensions.test/${version}`);
    webhook.close();
  });

  test('of v1beta1 is answered without version, kind and uid', async () => {
    server.answer = (review, exchange) => {
      const { response } = converted(review, exchange) as { response: { uid: string } };
      return { response: { ...response, uid: 'another' } };
    };
    const webhook = server.webhook({ conversionReviewVersions: ['v1beta1'] });
    const [made] = await convertingBy(webhook)([wallObject('a')], 'example.com/v2');
    expect(made).toMatchObject({ spec: { paint: 'red' } });
    webhook.close();
  });

  test('keeps numbers of 64 bits exactly, there and back', async () => {
    server.answer = ({ kind, apiVersion, request: { uid } }) => {
      const metadata = JSON.stringify({ name: 'a', namespace: 'ns', uid: 'uid-a' });
      const head = `{"apiVersion":"example.com/v4","kind":"Wall","metadata":${metadata}`;
      const result = { status: 'Success' };
      const text = JSON.stringify({ kind, apiVersion, response: { uid, result } }).slice(0, -2);
      return `${text},"convertedObjects":[${head},"n":9223372036854775807}]}}`;
    };
    const [made] = await convertAll([wallObject('a')], 'example.com/v4');
    expect(made?.['n']).toBe(9223372036854775807n);
  });
});

const asV9 = (object: ApiObject): ApiObject => ({ ...object, apiVersion: 'example.com/v9' });
const changed = (change: (object: ApiObject) => unknown): AnswerReview =>
  answering((response) => ({
    ...response,
    convertedObjects: (response['convertedObjects'] as ApiObject[]).map((object, index, all) =>
      index === all.length - 1 ? change(object) : object,
    ),
  }));
const withMetadata = (metadata: object): AnswerReview =>
  changed((object) => ({ ...object, metadata: { ...object.metadata, ...metadata } }));

describe('an answer', () => {
  const forOne = 'conversion webhook for example.com/v1, Kind=Wall ';
  const forList = 'conversion webhook for example.com/v1, Kind=WallList ';

  test.each<[claim: string, answer: AnswerReview, text: string]>([
    [
      'of another kind',
      (review, exchange) => ({ ...(converted(review, exchange) as object), kind: 'Review' }),
      'failed: expected webhook response of apiextensions.test/v1, Kind=ConversionReview, ' +
        'got apiextensions.test/v1, Kind=Review',
    ],
    [
      'without kind and version',
      (review, exchange) => ({
        response: (converted(review, exchange) as { response: object }).response,
      }),
      'failed: expected webhook response of apiextensions.test/v1, Kind=ConversionReview, ' +
        'got /, Kind=',
    ],
    [
      'without a response',
      ({ kind, apiVersion }) => ({ kind, apiVersion }),
      'failed: no response provided',
    ],
    [
      'that is a failure with a message',
      answering((response) => ({ ...response, result: { status: 'Failure', message: 'no way' } })),
      'failed: no way',
    ],
    [
      'that is a failure without a message',
      answering((response) => ({ ...response, result: { status: 'Failure' } })),
      "failed: response.result.status was 'Failure', not 'Success'",
    ],
    [
      'without a result',
      answering(({ uid }) => ({ uid })),
      "failed: response.result.status was '', not 'Success'",
    ],
    [
      'with fewer objects',
      answering((response) => ({ ...response, convertedObjects: [] })),
      'returned 0 objects, expected 1',
    ],
    [
      'with more objects',
      answering((response) => ({ ...response, convertedObjects: [1, 2, 3] })),
      'returned 3 objects, expected 1',
    ],
    [
      'with an object of another version',
      changed(asV9),
      'returned invalid object at index 0: ' +
        'invalid groupVersion (expected example.com/v2, received example.com/v9)',
    ],
    [
      'with an object of another kind',
      changed((object) => ({ ...object, kind: 'Door' })),
      'returned invalid object at index 0: invalid kind (expected Wall, received Door)',
    ],
    [
      'with something that is no object',
      changed(() => 5),
      'returned invalid object at index 0: it is not a JSON object',
    ],
    [
      'with the name of another object',
      withMetadata({ name: 'x' }),
      'returned invalid object: must have the same name: a != x',
    ],
    [
      'with the namespace of another object',
      withMetadata({ namespace: 'x' }),
      'returned invalid object: must have the same namespace: ns != x',
    ],
    [
      'with the uid of another object',
      withMetadata({ uid: 'x' }),
      'returned invalid object: must have the same UID: uid-a != x',
    ],
    [
      'with labels that are none',
      withMetadata({ labels: { a: 'not a label' } }),
      'returned invalid metadata: metadata.labels: Invalid value: "not a label": ',
    ],
    [
      'with annotations that are none',
      withMetadata({ annotations: { 'not a key': '' } }),
      'returned invalid metadata: metadata.annotation: Invalid value: "not a key": ',
    ],
    [
      'with labels that are no texts',
      withMetadata({ labels: { a: 5 } }),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 ' +
        'in converted object',
    ],
    [
      'with labels that are no map',
      withMetadata({ labels: ['a'] }),
      'returned invalid metadata: invalid metadata.labels of type []interface {} ' +
        'in converted object',
    ],
  ])('%s is told for one object', async (_claim, answer, text) => {
    server.answer = answer;
    expect(await failureOf(one())).toContain(`${forOne}${text}`);
  });

  test('with another uid is told', async () => {
    server.answer = answering((response) => ({ ...response, uid: 'B' }));
    const message = await failureOf(one());
    const asked = server.reviews[0]?.request.uid ?? '';
    expect(message).toBe(`${forOne}failed: expected response.uid="${asked}", got "B"`);
  });

  test('without metadata is told', async () => {
    server.answer = changed(({ metadata: _metadata, ...object }) => object);
    const nameless = { ...wallObject('a'), metadata: {} };
    const message = await failureOf(convertAll([nameless], 'example.com/v2'));
    const text = 'returned invalid metadata: missing metadata in converted object';
    expect(message).toBe(forOne + text);
  });

  test.each<[claim: string, answer: AnswerReview, text: string]>([
    [
      'another version',
      changed(asV9),
      'returned invalid converted object at index 1: ' +
        'invalid groupVersion (expected example.com/v2, received example.com/v9)',
    ],
    [
      'another name',
      withMetadata({ name: 'x' }),
      'returned invalid converted object at index 1: must have the same name: b != x',
    ],
    [
      'wrong labels',
      withMetadata({ labels: { a: true } }),
      'returned invalid metadata in object at index 1: ' +
        'metadata.labels[a] must be a string, but is bool in converted object',
    ],
  ])('with %s in a list is told with its place', async (_claim, answer, text) => {
    server.answer = answer;
    expect(await failureOf(list())).toBe(forList + text);
  });

  test('with the objects in another order is told', async () => {
    server.answer = answering((response) => ({
      ...response,
      convertedObjects: (response['convertedObjects'] as object[]).toReversed(),
    }));
    expect(await failureOf(list())).toBe(
      `${forList}returned invalid converted object at index 0: must have the same name: a != b`,
    );
  });

  test('may change labels and annotations; every other change of metadata is undone', async () => {
    server.answer = withMetadata({
      labels: { c: 'd' },
      annotations: { e: 'f' },
      finalizers: [],
      resourceVersion: '1',
      creationTimestamp: null,
      deletionTimestamp: '2026-01-02T03:04:05Z',
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: 'y' }],
    });
    const [made] = await convertAll([wallObject('a')], 'example.com/v2');
    const labels = { c: 'd' };
    expect(made?.metadata).toEqual({
      ...wallObject('a').metadata,
      labels,
      annotations: { e: 'f' },
    });
    server.answer = withMetadata({ labels: null });
    const [without] = await convertAll([wallObject('a')], 'example.com/v2');
    expect(without?.metadata).not.toHaveProperty('labels');
  });

  test('is pruned by the schema of the version that was asked for', async () => {
    server.answer = changed((object) => ({ ...object, spec: { paint: 'red', x: 1 }, more: {} }));
    const [made] = await convertAll([wallObject('a')], 'example.com/v2');
    expect(made).toEqual({
      ...wallObject('a'),
      apiVersion: 'example.com/v2',
      spec: { paint: 'red' },
    });
  });
});

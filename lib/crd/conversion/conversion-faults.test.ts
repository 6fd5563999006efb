// Webhooks that are not there, are not who they should be, or answer nonsense: each is an error
// with its text, in bounded time and memory, and harms nobody else.
import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { LeafRequest } from '../../base/testing/certificates.ts';
import { limits } from '../../base/limits.ts';
import { ConversionServer, converted } from './testing/conversion-server.ts';
import type { AnswerReview } from './testing/conversion-server.ts';
import { convertingBy, failureOf, wallObject } from './testing/walls.ts';

const failed = 'conversion webhook for example.com/v1, Kind=Wall failed: ';

async function answerOf(server: ConversionServer, timeoutMs?: number): Promise<string> {
  const webhook = server.webhook({}, timeoutMs === undefined ? {} : { timeoutMs });
  try {
    return await failureOf(convertingBy(webhook)([wallObject('a')], 'example.com/v2'));
  } finally {
    webhook.close();
  }
}

test.each<[claim: string, leaf: Partial<LeafRequest>, text: string]>([
  ['has expired', { notAfter: new Date(Date.now() - 1_000) }, 'certificate has expired'],
  ['names somebody else', { names: ['other.tests.svc'] }, ''],
])('a webhook whose certificate %s is not asked', async (_claim, leaf, text) => {
  await using server = await ConversionServer.start(leaf);
  const message = await answerOf(server);
  expect(message).toContain(`${failed}Post "${server.url}?timeout=30s": `);
  expect(message).toContain(text);
  expect(server.reviews).toEqual([]);
});

test('a webhook whose CA is not trusted is not asked', async () => {
  await using server = await ConversionServer.start();
  const webhook = server.webhook({ clientConfig: { url: server.url } });
  const message = await failureOf(convertingBy(webhook)([wallObject('a')], 'example.com/v2'));
  expect(message).toContain(`${failed}Post "${server.url}?timeout=30s": `);
  webhook.close();
});

test('a CA bundle that is none is said to be so', async () => {
  await using server = await ConversionServer.start();
  const caBundle = Buffer.from('nonsense').toString('base64');
  const webhook = server.webhook({ clientConfig: { url: server.url, caBundle } });
  const message = await failureOf(convertingBy(webhook)([wallObject('a')], 'example.com/v2'));
  expect(message).toBe(`${failed}the CA bundle is not one PEM certificate or more`);
  webhook.close();
});

test('a webhook that is a service is called at its address, by its own name', async () => {
  await using server = await ConversionServer.start();
  const asked: unknown[] = [];
  const service = { namespace: 'tests', name: 'hook' };
  const webhook = server.webhook(
    { clientConfig: { service, caBundle: server.caBundle } },
    {
      services: {
        places: () => undefined,
        resolve: async (of) => {
          asked.push(of);
          return [{ ip: '127.0.0.1', port: server.port }];
        },
      },
    },
  );
  const [made] = await convertingBy(webhook)([wallObject('a')], 'example.com/v2');
  expect(made).toMatchObject({ spec: { paint: 'red' } });
  expect(asked).toEqual([{ ...service, port: 443 }]);
  expect(server.requests).toEqual([{ url: '/?timeout=30s', host: 'hook.tests.svc' }]);
  webhook.close();
});

test('a webhook that is not there is told as it is', async () => {
  const server = await ConversionServer.start();
  const { url } = server;
  const webhook = server.webhook();
  await server[Symbol.asyncDispose]();
  const message = await failureOf(convertingBy(webhook)([wallObject('a')], 'example.com/v2'));
  expect(message).toContain(`${failed}Post "${url}?timeout=30s": `);
  expect(message).toContain('connection refused');
  webhook.close();
});

const withStatus =
  (status: number, headers: Readonly<Record<string, string>> = {}): AnswerReview =>
  (_review, { response }) => {
    response.writeHead(status, { 'content-type': 'text/plain', ...headers });
    response.end('a secret of somebody else');
    return undefined;
  };

test.each([
  [400, 'the server rejected our request for an unknown reason'],
  [401, 'the server has asked for the client to provide credentials'],
  [404, 'the server could not find the requested resource'],
  [409, 'the server reported a conflict'],
  [418, 'the server responded with the status code 418 but did not return more information'],
  [422, 'the server rejected our request due to an error in our request'],
  [429, 'the server has received too many requests and has asked us to try again later'],
  [500, 'an error on the server ("unknown") has prevented the request from succeeding'],
  [503, 'the server is currently unable to handle the request'],
])('status %d is told without a byte of the answer: %s', async (status, text) => {
  await using server = await ConversionServer.start();
  server.answer = withStatus(status);
  expect(await answerOf(server)).toBe(failed + text);
});

test('a redirect is not followed', async () => {
  await using server = await ConversionServer.start();
  await using other = await ConversionServer.start();
  server.answer = withStatus(307, { location: other.url });
  const text = 'the answer is a redirect (307), which is never followed';
  expect(await answerOf(server)).toBe(`${failed}Post "${server.url}?timeout=30s": ${text}`);
  expect(other.reviews).toEqual([]);
});

const deep = '['.repeat(1_000_000);
test.each<[claim: string, body: string, text: string]>([
  ['is HTML', '<html><body>no</body></html>', 'the body is not valid JSON'],
  ['is empty', ' ', 'the body is empty, a JSON object is needed'],
  ['is no object', '[]', 'the answer is not a JSON object'],
  ['is cut', '{"response":{"convertedObjects":[{"a":', 'the body is not valid JSON'],
  ['is nested a million deep', deep, 'the answer is nested too deeply'],
  [
    'has an object that is nested a million deep',
    `{"response":{"convertedObjects":[{"a":${deep}`,
    'the answer is nested too deeply',
  ],
  [
    'has a list of another kind',
    '{"response":{"convertedObjects":{"a":1}}}',
    'response.convertedObjects of the answer is not a list',
  ],
  [
    'has a long tail',
    `{"tail":"${'x'.repeat(limits.conversionReviewLengthMax)}"}`,
    'the answer is too long beside its objects',
  ],
])('an answer that %s is refused', async (_claim, body, text) => {
  await using server = await ConversionServer.start();
  server.answer = () => body;
  expect(await answerOf(server)).toContain(failed + text);
});

test('an answer that is not UTF-8 is refused', async () => {
  await using server = await ConversionServer.start();
  server.answer = (_review, { response }) => void response.end(Buffer.from([0xff, 0xfe]));
  expect(await answerOf(server)).toBe(`${failed}the body is not valid UTF-8`);
});

test('an answer of 100 MB is cut off', async () => {
  await using server = await ConversionServer.start();
  const sentBytes: number[] = [];
  server.answer = async (_review, { response }) => {
    const piece = Buffer.alloc(1024 * 1024, 0x20);
    response.on('error', () => undefined);
    for (let count = 0; count < 100 && !response.destroyed; count++) {
      sentBytes.push(piece.length);
      if (!response.write(piece)) {
        await Promise.race([once(response, 'drain'), once(response, 'close')]).catch(() => []);
      }
    }
    return undefined;
  };
  const max = String(limits.clientAnswerBytesMax);
  expect(await answerOf(server)).toContain(`the body of the answer is larger than ${max} bytes`);
  expect(sentBytes.length).toBeLessThan(100);
});

test('an object that is longer than a body may be is refused', async () => {
  await using server = await ConversionServer.start();
  server.answer = (review, exchange) => {
    const good = converted(review, exchange) as { response: { convertedObjects: unknown[] } };
    const paint = 'x'.repeat(limits.requestBodyBytesMax);
    good.response.convertedObjects[0] = { ...(good.response.convertedObjects[0] as object), paint };
    return good;
  };
  const max = String(limits.requestBodyBytesMax);
  expect(await answerOf(server)).toContain(`at index 0: it is longer than ${max} characters`);
});

test.each<[claim: string, answer: AnswerReview, step: string]>([
  ['never answers', () => undefined, 'waiting for the answer'],
  [
    'drips',
    (_review, { response }) => {
      response.on('error', () => undefined);
      const drip = (): void => {
        if (response.destroyed) return;
        response.write(' ');
        setTimeout(drip, 10);
      };
      drip();
      return undefined;
    },
    'reading the answer',
  ],
])('a webhook that %s is given up after its time', async (_claim, answer, step) => {
  await using server = await ConversionServer.start();
  server.answer = answer;
  const message = await answerOf(server, 300);
  expect(message).toBe(`${failed}Post "${server.url}?timeout=1s": deadline exceeded while ${step}`);
});

test('a webhook is asked by eight calls at once at most', async () => {
  await using server = await ConversionServer.start();
  server.answer = async (review, exchange) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return converted(review, exchange);
  };
  const webhook = server.webhook();
  const convertAll = convertingBy(webhook);
  const names = Array.from({ length: 40 }, (_, index) => `w${String(index)}`);
  const all = await Promise.all(
    names.map((name) => convertAll([wallObject(name)], 'example.com/v2')),
  );
  expect(all.map(([object]) => object?.metadata?.name)).toEqual(names);
  expect(server.reviews).toHaveLength(40);
  expect(server.underWayMax).toBe(limits.conversionWebhookCallsMax);
  webhook.close();
});

test('a webhook that hangs keeps no other definition waiting', async () => {
  await using hanging = await ConversionServer.start();
  await using good = await ConversionServer.start();
  hanging.answer = () => undefined;
  const [slow, quick] = [hanging.webhook({}, { timeoutMs: 1_500 }), good.webhook()];
  let ended = 0;
  const held = Array.from({ length: 20 }, async () => {
    await failureOf(convertingBy(slow)([wallObject('a')], 'example.com/v2'));
    ended++;
  });
  const convertAll = convertingBy(quick, 'others.example.com');
  for (let count = 0; count < 20; count++) await convertAll([wallObject('a')], 'example.com/v2');
  expect([good.reviews.length, ended]).toEqual([20, 0]);
  await Promise.all(held);
  slow.close();
  quick.close();
});

test('once it fails again and again it is only probed, and goes on by itself', async () => {
  await using server = await ConversionServer.start();
  server.answer = withStatus(500);
  const webhook = server.webhook();
  const convert = (): Promise<unknown> =>
    convertingBy(webhook)([wallObject('a')], 'example.com/v2');
  for (let count = 0; count < 30; count++) {
    expect(await failureOf(convert())).toContain('an error on the server');
  }
  expect(server.reviews.length).toBeLessThan(30);
  server.answer = converted;
  while (
    await convert().then(
      () => false,
      () => true,
    )
  ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await convert();
  webhook.close();
});

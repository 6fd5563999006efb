// Calls to webhooks that are real servers over TLS.
import { expect, test } from '@jest/globals';
import { RawServer, answerText, hookTls } from '../../client/testing/raw-server.ts';
import { clientParts } from '../../client/testing/open-calls.ts';
import { openWebhookCaller } from './open-caller.ts';

const signal = new AbortController().signal;

test('h.timeout: the time of a call is told in whole seconds, rounded up', async () => {
  await using server = await RawServer.start(({ socket }) => socket.write(answerText('{"a":1}')));
  const { ca } = await hookTls();
  const caller = openWebhookCaller({ calls: clientParts() });
  const body = await caller.call({
    configuration: { name: 'c', uid: '' },
    webhook: {
      name: 'h.example.com',
      clientConfig: { url: server.url, caBundle: Buffer.from(ca.cert).toString('base64') },
      timeoutSeconds: 10,
    },
    type: 'admit',
    body: Buffer.from('{}'),
    signal,
    leftMs: 4_200,
  });
  caller.close();
  expect(Buffer.from(body).toString()).toBe('{"a":1}');
  expect(server.requests[0]?.head).toMatch(/^POST \/hook\?timeout=5s HTTP/);
});

import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import tls from 'node:tls';
import type { ClientConnection } from '../authn/authenticator.ts';
import { createTestCa } from '../base/testing/certificates.ts';
import type { Filter } from './request-context.ts';
import { sendNow } from './respond.ts';
import { connect2, request2, startTestServer, testTls } from './testing/test-server.ts';

const seen: (ClientConnection | undefined)[] = [];
const look: Filter = (request, response) => {
  seen.push(request.context.connection);
  sendNow(request, response, { status: 200, contentType: 'text/plain' }, Buffer.from('ok'));
};

test.each(['the CA of the listener', 'another CA'])(
  'what a client shows beside its certificate is seen, below %s',
  async (claim) => {
    await using server = await startTestServer({ filters: [look] });
    const root = claim === 'another CA' ? await createTestCa('other') : (await testTls()).ca;
    const mid = await root.intermediate('mid');
    const below = await mid.intermediate('below');
    const pair = await below.issue({ use: 'clientAuth', commonName: 'bob' });
    const cert = `${pair.cert}${below.cert}${mid.cert}`;
    seen.length = 0;
    for (const client of [{ ...pair, cert }, pair]) {
      const session = await connect2(server, client);
      await request2(session, '/');
      session.destroy();
    }
    const subjects = seen.map((connection) => [
      connection?.certificate?.subject,
      ...(connection?.intermediates ?? []).map(({ subject }) => subject),
    ]);
    expect(subjects).toEqual([['CN=bob', 'CN=below', 'CN=mid'], ['CN=bob']]);
  },
);

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a session of %s is not resumed: each connection shows its certificates',
  async (version) => {
    await using server = await startTestServer({ filters: [look] });
    const { ca } = await testTls();
    const client = await ca.issue({ use: 'clientAuth', commonName: 'bob' });
    const options = { host: '127.0.0.1', port: server.port, ca: server.ca, maxVersion: version };
    let session: Buffer | undefined;
    for (let count = 0; count < 2; count++) {
      const socket = tls.connect({ ...options, ...client, ...(session && { session }) });
      socket.on('session', (given) => (session = given));
      await once(socket, 'secureConnect');
      expect(socket.isSessionReused()).toBe(false);
      socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      socket.resume();
      await once(socket, 'close');
    }
  },
);

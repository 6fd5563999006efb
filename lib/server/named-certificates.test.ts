import { beforeAll, expect, test } from '@jest/globals';
import { connect } from 'node:tls';
import { NamedCertificates } from './named-certificates.ts';
import type { NamedPair } from './named-certificates.ts';
import { startTestServer, testTls } from './testing/test-server.ts';

let pairs: Readonly<Record<'own' | 'wild' | 'stated', NamedPair>>;
beforeAll(async () => {
  const { ca } = await testTls();
  const pair = async (commonName: string, names: string[]): Promise<NamedPair> => ({
    ...(await ca.issue({ use: 'serverAuth', commonName, names })),
    names: [],
  });
  pairs = {
    own: await pair('own', ['a.example.com', '10.0.0.1']),
    wild: await pair('wild', ['*.example.com']),
    stated: {
      ...(await pair('stated', ['other.org'])),
      names: ['b.example.com', '*.net.org', 'Mixed.Example.org'],
    },
  };
});

test.each([
  ['a.example.com', 'own'],
  ['A.Example.com', 'own'],
  ['a.example.com.', 'own'],
  ['own', 'own'],
  ['b.example.com', 'stated'],
  ['c.example.com', 'wild'],
  ['x.c.example.com', undefined],
  ['example.com', undefined],
  ['x.net.org', 'stated'],
  ['mixed.example.org', 'stated'],
  ['other.org', undefined],
  ['*.net.org', 'stated'],
  ['.example.com', undefined],
  ['', undefined],
])('who asks for %j is shown %s', (asked, shown) => {
  const found = new NamedCertificates(Object.values(pairs), (pair) => pair).find(asked);
  expect(found).toBe(shown === undefined ? undefined : pairs[shown as keyof typeof pairs]);
});

test('of two for one name the first is shown', () => {
  const [first, second] = [pairs.own, { ...pairs.own }];
  expect(new NamedCertificates([first, second], (pair) => pair).find('own')).toBe(first);
});

const shownFor = (port: number, servername: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername, rejectUnauthorized: false };
    const socket = connect(options, () => {
      resolve(socket.getPeerX509Certificate()?.subject ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });

test('a server shows them, and new ones once they are set', async () => {
  await using server = await startTestServer();
  const { pair } = await testTls();
  expect(await shownFor(server.port, 'a.example.com')).toBe('CN=server');
  server.running.setTls({ ...pair, clientCa: undefined, named: [pairs.own] });
  expect(await shownFor(server.port, 'a.example.com')).toBe('CN=own');
  expect(await shownFor(server.port, 'b.example.com')).toBe('CN=server');
  server.running.setTls({ ...pair, clientCa: undefined, named: [pairs.wild] });
  expect(await shownFor(server.port, 'a.example.com')).toBe('CN=wild');
});

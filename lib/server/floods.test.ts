import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http2 from 'node:http2';
import tls from 'node:tls';
import { parseTokenFile, staticTokenAuthenticator } from '../authn/static-token.ts';
import { unauthorized } from '../base/status.ts';
import { limits } from '../base/limits.ts';
import { authenticateFilter } from './filters/authenticate.ts';
import type { Filter, RequestContext } from './request-context.ts';
import { sendNow, sendPieces } from './respond.ts';
import { frameFlag, frameType } from '../http2/frames.ts';
import { frame, getHeaders, preface } from './testing/http2-frames.ts';
import {
  connect2,
  connectRaw,
  eventually,
  request2,
  shortTimeouts,
  startTestServer,
} from './testing/test-server.ts';

const { endHeaders, endStream } = frameFlag;

const text = { status: 200, contentType: 'text/plain' };
const hello: Filter = (request, response) => {
  sendNow(request, response, text, Buffer.from('hello'));
};

const endOfHeadersAndStream = endHeaders | endStream;

const attacks: readonly (readonly [string, (round: number) => Buffer])[] = [
  [
    'opened and reset streams',
    (round) =>
      Buffer.concat([
        frame(frameType.headers, endOfHeadersAndStream, round * 2 + 1, getHeaders),
        frame(frameType.resetStream, 0, round * 2 + 1, Buffer.from([0, 0, 0, 8])),
      ]),
  ],
  ['settings of many entries', () => frame(frameType.settings, 0, 0, Buffer.alloc(6 * 100, 0))],
  [
    'continuations',
    (round) =>
      round === 0
        ? frame(frameType.headers, endStream, 1, getHeaders)
        : frame(frameType.continuation, 0, 1, Buffer.from([0x82])),
  ],
  ['empty data frames on no stream', () => frame(frameType.data, 0, 1)],
  ['window updates of nothing', () => frame(frameType.windowUpdate, 0, 0, Buffer.alloc(4))],
];

describe('floods on HTTP/2', () => {
  async function flood(attack: (round: number) => Buffer, roundsMax: number) {
    let handled = 0;
    const filter: Filter = (request, response, next) => {
      handled++;
      void hello(request, response, next);
    };
    await using server = await startTestServer({ filters: [filter] });
    const socket = tls.connect({
      host: '127.0.0.1',
      port: server.port,
      ca: server.ca,
      ALPNProtocols: ['h2'],
    });
    socket.on('error', () => undefined).resume();
    let isClosed = false;
    socket.on('close', () => (isClosed = true));
    await once(socket, 'secureConnect');
    socket.write(preface);
    let rounds = 0;
    while (!isClosed && rounds < roundsMax) {
      for (let count = 0; count < 50; count++) socket.write(attack(rounds++));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const other = await connect2(server);
    const { status } = await request2(other, '/');
    other.destroy();
    socket.destroy();
    return { isClosed, rounds, handled, status };
  }

  test.each(attacks)('of %s end the connection; others are served', async (_name, attack) => {
    const { isClosed, status } = await flood(attack, 20_000);
    expect({ isClosed, status }).toEqual({ isClosed: true, status: 200 });
  });

  test('the bound on resets is the one in limits', async () => {
    const [, attack] = attacks[0] ?? [];
    const { rounds, handled } = await flood(attack ?? (() => Buffer.alloc(0)), 20_000);
    expect(rounds).toBeGreaterThan(limits.http2ResetBurstMax);
    expect(handled).toBeLessThan(limits.http2ResetBurstMax * 3);
  });

  test.each([
    ['pings', () => frame(frameType.ping, 0, 0, Buffer.alloc(8))],
    ['empty settings', () => frame(frameType.settings, 0, 0)],
  ])('of %s leave others served', async (_name, attack) => {
    expect(await flood(attack, 20_000)).toMatchObject({ status: 200 });
  });

  test('of bad credentials: a connection gets so many answers of 401 and is closed', async () => {
    const filter: Filter = () => {
      throw unauthorized();
    };
    const { badCredentialsPerConnectionMax: most } = limits;
    await using server = await startTestServer({ filters: [filter] });
    const session = await connect2(server);
    for (let count = 0; count < most; count++) {
      expect([count, session.closed]).toEqual([count, false]);
      expect((await request2(session, '/')).status).toBe(401);
    }
    if (!session.closed) await once(session, 'close');
    const raw = await connectRaw(server);
    const answers = () => raw.received().match(/HTTP\/1\.1 401 /g)?.length ?? 0;
    for (let count = 1; count <= most; count++) {
      raw.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await eventually(() => answers() === count);
    }
    await raw.closed;
  });

  test('of bad credentials are forgiven where somebody is known in between', async () => {
    const filter = authenticateFilter({
      allowsAnonymous: () => false,
      authenticator: staticTokenAuthenticator(parseTokenFile('good,u,1')),
    });
    await using server = await startTestServer({ filters: [filter, hello] });
    const session = await connect2(server);
    for (let count = 0; count < 3 * limits.badCredentialsPerConnectionMax; count++) {
      const token = count % 2 === 0 ? 'bad' : 'good';
      const headers = { authorization: `Bearer ${token}` };
      expect((await request2(session, '/', { headers })).status).toBe(token === 'bad' ? 401 : 200);
    }
    session.destroy();
  });
});

test('an HTTP/2 peer that is gone is noticed under its open streams', async () => {
  const requests: RequestContext[] = [];
  const filter: Filter = (request) => void requests.push(request.context);
  await using server = await startTestServer({ filters: [filter], timeouts: shortTimeouts });
  const session = await connect2(server);
  session.request({ ':path': '/' }).on('error', () => undefined);
  // Answers nothing, pings neither: as the server sees a peer whose machine is gone.
  const socket = tls.connect({
    host: '127.0.0.1',
    port: server.port,
    ca: server.ca,
    ALPNProtocols: ['h2'],
  });
  socket.on('error', () => undefined).resume();
  await once(socket, 'secureConnect');
  socket.write(
    Buffer.concat([preface, frame(frameType.headers, endOfHeadersAndStream, 1, getHeaders)]),
  );
  await once(socket, 'close');
  await eventually(() => requests.filter(({ endedWith }) => endedWith !== undefined).length === 1);
  expect(requests).toHaveLength(2);
  expect(session.destroyed).toBe(false);
  session.destroy();
});

describe('a reader that stops', () => {
  const piece = Buffer.alloc(64 * 1024, 97);
  const large = (onPiece: () => void) => ({
    totalBytes: piece.length * 1_600,
    *[Symbol.iterator]() {
      for (let count = 0; count < 1_600; count++) {
        onPiece();
        yield piece;
      }
    },
  });

  test.each(['h1', 'h2'])(
    'bounds what is made for it, until its deadline (%s)',
    async (protocol) => {
      let made = 0;
      let open: RequestContext | undefined;
      const filter: Filter = (request, response) => {
        open = request.context;
        return sendPieces(
          request,
          response,
          text,
          large(() => made++),
          { compress: false },
        );
      };
      await using server = await startTestServer({ filters: [filter], requestTimeoutMs: 700 });
      if (protocol === 'h1') {
        const raw = await connectRaw(server);
        raw.socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      } else {
        const session = await connect2(server, { settings: { initialWindowSize: 0 } });
        session.request({ ':path': '/' }).on('error', () => undefined);
      }
      await eventually(() => made > 0);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const whileStalled = made;
      expect(whileStalled * piece.length).toBeLessThan(16 * 1024 * 1024);
      await eventually(() => open?.endedWith !== undefined);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(made - whileStalled).toBeLessThanOrEqual(4);
      expect(open?.endedWith?.message).toContain('did not complete');
    },
  );

  test('of a whole body is cut some time past its deadline', async () => {
    let open: RequestContext | undefined;
    const filter: Filter = (request, response) => {
      open = request.context;
      sendNow(request, response, text, Buffer.alloc(1024 * 1024));
    };
    await using server = await startTestServer({ filters: [filter], requestTimeoutMs: 200 });
    const session = await connect2(server, { settings: { initialWindowSize: 0 } });
    const stream = session.request({ ':path': '/' });
    let code: number | undefined;
    stream.on('error', () => undefined).on('close', () => (code = stream.rstCode));
    stream.resume();
    await eventually(() => open?.endedWith !== undefined);
    expect(code).toBeUndefined();
    open?.expire(performance.now()); // the second deadline, without the wait for it
    await eventually(() => code !== undefined);
    expect(code).toBe(http2.constants.NGHTTP2_INTERNAL_ERROR);
    session.destroy();
  });

  test('large lists do not hold up others', async () => {
    // How much of the list one turn of the loop takes: whoever else is served waits for it.
    let inTurn = 0;
    let inTurnMax = 0;
    const countPiece = (): void => {
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurn++;
      inTurnMax = Math.max(inTurnMax, inTurn);
    };
    const filter: Filter = (request, response, next) => {
      if (request.context.info.path === '/') void hello(request, response, next);
      else return sendPieces(request, response, text, large(countPiece), { compress: false });
    };
    await using server = await startTestServer({ filters: [filter] });
    const raw = await connectRaw(server);
    raw.socket.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await raw.closed;
    expect(inTurnMax).toBeGreaterThan(0);
    expect(inTurnMax).toBeLessThan(160); // a tenth of the list
  });
});

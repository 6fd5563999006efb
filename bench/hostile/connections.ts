// Attacks by connections: opened and dropped at every stage, slow in both directions, WebSockets.
import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { closed, pause, repeat } from './attacker.ts';
import type { Attack, Attacker } from './attacker.ts';

const pods = '/api/v1/pods';

const churn: Attack = {
  name: 'connection churn',
  run: (attacker) =>
    repeat(400, async (index) => {
      const socket = await attacker.tls();
      if (index % 2 === 0) {
        socket?.write(attacker.head('GET /api/v1/namespaces/default', ['Connection: close']));
        await closed(socket, 2_000);
      }
      socket?.destroy();
    }),
};

/** First bytes of a handshake, some of them garbage, and then nothing. */
const handshakes: Attack = {
  name: 'half-open handshakes',
  async run(attacker) {
    const hello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);
    const sockets = await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const socket = await attacker.tcp();
        socket?.resume();
        if (index % 4 === 1) socket?.write(hello);
        if (index % 4 === 2) socket?.write(Buffer.concat([hello, randomBytes(300)]));
        if (index % 4 === 3) socket?.write('GET / HTTP/1.1\r\n\r\n');
        return socket;
      }),
    );
    await pause(500);
    for (const socket of sockets) socket?.destroy();
  },
};

const slowHeads: Attack = {
  name: 'slow heads',
  async run(attacker) {
    const sockets = await Promise.all(Array.from({ length: 150 }, () => attacker.tls()));
    for (let part = 0; part < 5; part++) {
      for (const socket of sockets) {
        socket?.write(
          part === 0 ? 'GET / HTTP/1.1\r\nHost: a\r\n' : `X-${'y'.repeat(2_000)}: z\r\n`,
        );
      }
      await pause(50);
    }
    for (const socket of sockets) socket?.destroy();
  },
};

/** Requests one after the other without a look at the answers. */
const pipelines: Attack = {
  name: 'pipelines',
  run: (attacker) =>
    repeat(20, async (index) => {
      const socket = await attacker.tls();
      socket?.pause().write(attacker.head(`GET ${pods}?limit=100`).repeat(200));
      await pause(200);
      if (index % 2 === 0) await closed(socket, 500);
      socket?.destroy();
    }),
};

const initialEvents = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

const slowReaders: Attack = {
  name: 'slow readers',
  async run(attacker) {
    const paths = [
      pods,
      `${pods}?watch=1`,
      `${pods}?watch=1&allowWatchBookmarks=true&${initialEvents}`,
    ];
    const accepts = [
      'application/json',
      'application/yaml',
      'application/json;as=Table;g=meta.k8s.io;v=v1',
    ];
    const sockets = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const socket = await attacker.tls();
        const accept = accepts[Math.floor(index / 3) % 3] ?? '';
        const zip = index % 4 === 0 ? ['Accept-Encoding: gzip'] : [];
        const head = attacker.head(`GET ${paths[index % 3] ?? ''}`, [`Accept: ${accept}`, ...zip]);
        socket?.pause().write(head);
        return socket;
      }),
    );
    await pause(2_000);
    for (const socket of sockets) socket?.destroy();
  },
};

function websocket(attacker: Attacker, path: string): WebSocket {
  const { port, token } = attacker.victim;
  const socket = new WebSocket(`wss://127.0.0.1:${String(port)}${path}`, {
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${token}` },
  });
  socket.on('error', () => undefined);
  return socket;
}

const websockets: Attack = {
  name: 'WebSockets',
  async run(attacker) {
    await repeat(150, async (index) => {
      const socket = websocket(attacker, `${pods}?watch=1`);
      await new Promise((resolve) => socket.once('open', resolve).once('close', resolve));
      if (index % 3 === 1) socket.send(Buffer.alloc(index % 2 === 0 ? 10_000 : 1_000_000));
      if (index % 3 === 2) socket.close();
      await pause(20);
      socket.terminate();
    });
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
    await repeat(150, async (index) => {
      const socket = await attacker.tls();
      const version = `Sec-WebSocket-Version: ${index % 2 === 0 ? '1' : '13'}`;
      socket?.write(attacker.head(`GET ${pods}?watch=1`, [...upgrade, version]));
      await closed(socket, 1_000);
      socket?.destroy();
    });
  },
};

/** Bytes that are no request, behind a good one or alone. */
const malformed: Attack = {
  name: 'malformed requests',
  run: (attacker) =>
    repeat(300, async (index) => {
      const socket = await attacker.tls();
      const shapes = [
        randomBytes(2_000),
        'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
        `GET /${'a'.repeat(200_000)} HTTP/1.1\r\n\r\n`,
        `${attacker.head(`GET ${pods}?limit=50`)}GARBAGE\r\n\r\n`,
        'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n',
      ];
      socket?.write(shapes[index % shapes.length] ?? '');
      await closed(socket, 300);
      socket?.destroy();
    }),
};

export const connections: readonly Attack[] = [
  churn,
  handshakes,
  slowHeads,
  pipelines,
  slowReaders,
  websockets,
  malformed,
];

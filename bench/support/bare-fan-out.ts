// Baseline of watches: holds every GET open and writes the body of each POST to all of them, over
// HTTP/1.1 and HTTP/2.
import { createSecureServer } from 'node:http2';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const [dataDir = ''] = process.argv.slice(2);
const watchers = new Set<Http2ServerResponse>();
const server = createSecureServer(
  {
    allowHTTP1: true,
    key: readFileSync(join(dataDir, 'server.key')),
    cert: readFileSync(join(dataDir, 'server.crt')),
    ca: readFileSync(join(dataDir, 'ca.crt')),
    requestCert: true,
    rejectUnauthorized: false,
    settings: { initialWindowSize: 256 * 1024, maxConcurrentStreams: 250 },
  },
  (request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      (response as unknown as { flushHeaders(): void }).flushHeaders();
      watchers.add(response);
      response.once('close', () => watchers.delete(response));
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      response.writeHead(200, { 'content-length': 0 });
      response.end();
      for (const watcher of watchers) watcher.write(body);
    });
  },
);
Object.assign(server, { keepAliveTimeout: 120_000 });
server.listen(0, '127.0.0.1', () => {
  console.log(`listening ${String((server.address() as AddressInfo).port)}`);
});
process.on('SIGTERM', () => process.exit(0));

// Baseline: a bare node:https server that answers every request with the same prebuilt headers and
// bytes; where the headers say gzip, it compresses them as it goes.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGzip } from 'node:zlib';

const [dataDir = '', answerFile = ''] = process.argv.slice(2);
const { headers, bodyFile } = JSON.parse(readFileSync(answerFile, 'utf8')) as {
  headers: Record<string, string>;
  bodyFile: string;
};
const body = readFileSync(bodyFile);
/** That of the API server. */
const gzipLevel = 4;
const server = createServer(
  {
    key: readFileSync(join(dataDir, 'server.key')),
    cert: readFileSync(join(dataDir, 'server.crt')),
    ca: readFileSync(join(dataDir, 'ca.crt')),
    requestCert: true,
    rejectUnauthorized: false,
    keepAliveTimeout: 120_000,
  },
  (request, response) => {
    request.resume();
    response.writeHead(200, headers);
    if (headers['content-encoding'] !== 'gzip') {
      response.end(body);
      return;
    }
    const zip = createGzip({ level: gzipLevel });
    zip.pipe(response);
    zip.end(body);
  },
);
server.listen(0, '127.0.0.1', () => {
  console.log(`listening ${String((server.address() as AddressInfo).port)}`);
});
process.on('SIGTERM', () => process.exit(0));

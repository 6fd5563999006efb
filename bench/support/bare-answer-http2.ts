// Baseline: a bare node:http2 server that answers every request with the same prebuilt headers and
// bytes, on the stream itself.
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [dataDir = '', answerFile = ''] = process.argv.slice(2);
const { headers, bodyFile } = JSON.parse(readFileSync(answerFile, 'utf8')) as {
  headers: Record<string, string>;
  bodyFile: string;
};
const body = readFileSync(bodyFile);
const server = createSecureServer({
  key: readFileSync(join(dataDir, 'server.key')),
  cert: readFileSync(join(dataDir, 'server.crt')),
  ca: readFileSync(join(dataDir, 'ca.crt')),
  requestCert: true,
  rejectUnauthorized: false,
});
server.on('stream', (stream) => {
  stream.respond({ ':status': 200, ...headers });
  stream.end(body);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening ${String((server.address() as AddressInfo).port)}`);
});
process.on('SIGTERM', () => process.exit(0));

// Starts the bare baseline that answers what the API server answered.
import { writeFileSync } from 'node:fs';
import { Connection } from './http1-client.ts';
import type { Bench, Target } from './server.ts';

/** Per-response headers that node adds by itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

/**
 * `compressedAs`: what is sent is the body of `request`, compressed anew each time.
 * @param script of the bare server
 */
export async function bareAnswer(
  bench: Bench,
  server: Target,
  request: Buffer,
  compressedAs: 'gzip' | '' = '',
  script = 'bare-answer.ts',
): Promise<Target & { bodyBytes: number }> {
  const connection = await Connection.open(server.port, { keepBodies: true });
  const answer = await connection.request(request);
  connection.close();
  if (answer.status !== 200 || answer.body === undefined)
    throw new Error(`status ${String(answer.status)}`);
  const headers: Record<string, string> = {};
  for (const line of answer.head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (!ownHeaders.has(name)) headers[name] = line.slice(colon + 1).trim();
  }
  const bodyFile = bench.file(`answer-${String(answer.bodyBytes)}.bin`);
  if (compressedAs !== '') {
    delete headers['content-length'];
    headers['content-encoding'] = compressedAs;
  }
  const answerFile = `${bodyFile}.json`;
  writeFileSync(bodyFile, answer.body);
  writeFileSync(answerFile, JSON.stringify({ headers, bodyFile }));
  return { ...(await bench.bare(script, [answerFile])), bodyBytes: answer.bodyBytes };
}

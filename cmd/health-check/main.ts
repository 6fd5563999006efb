// The health check of a container: asks the server that runs as its first process for a path, by
// default /livez. Where it listens and whom to trust is read from that process' own flags.
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { readTarget } from './target.ts';

const timeoutMs = 4_000;
const answerBytesMax = 4_096;

function ask(path: string): Promise<string | undefined> {
  const argv = readFileSync('/proc/1/cmdline', 'utf8').split('\0').slice(0, -1);
  const { host, port, dataDir, certFile } = readTarget(argv, parseFlags);
  // What was served at the start, and what has replaced it since.
  const ca = [join(dataDir, 'ca.crt'), certFile].flatMap(textOf);
  return new Promise((resolve, reject) => {
    const asked = request(
      // The name is not looked at: this is the loopback of the server itself, and a certificate
      // that was given need not know it.
      { host, port, path, ca, allowPartialTrustChain: true, checkServerIdentity: () => undefined },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (part: string) => (text = (text + part).slice(0, answerBytesMax)));
        answer.on('error', reject);
        answer.on('end', () => {
          const { statusCode = 0 } = answer;
          resolve(statusCode === 200 ? undefined : `${String(statusCode)} ${text}`);
        });
      },
    );
    asked.on('error', reject);
    asked.setTimeout(timeoutMs, () => {
      asked.destroy(new Error(`no answer within ${String(timeoutMs)} ms`));
    });
    asked.end();
  });
}

/** Nothing, where the file is not there: it may be on its way. */
function textOf(path: string | undefined): string[] {
  try {
    return path === undefined ? [] : [readFileSync(path, 'utf8')];
  } catch {
    return [];
  }
}

ask(process.argv[2] ?? '/livez').then(
  (problem) => {
    if (problem === undefined) return;
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  },
  (error: unknown) => {
    process.stderr.write(`health-check: ${Error.isError(error) ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);

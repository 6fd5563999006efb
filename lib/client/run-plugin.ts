// Runs a program that prints credentials: without input, bounded in time and output. What it says
// on standard error is for the log, without what looks like a secret.
import { spawn } from 'node:child_process';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { ExecRequest } from './exec-config.ts';
import { SettingsError } from './settings-error.ts';

export interface Ran {
  readonly output: string;
  /** The beginning of its standard error. */
  readonly said: string;
}

/** Says why there is no output. */
export class PluginError extends SettingsError {
  readonly said: string;
  constructor(message: string, said = '') {
    super(message);
    this.said = said;
  }
}

/** @throws PluginError that names the program */
export function runPlugin({ config, env }: ExecRequest, clock: Clock): Promise<Ran> {
  const { command, args, installHint } = config;
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  const said: Buffer[] = [];
  let [outputBytes, saidBytes] = [0, 0];
  return new Promise((resolve, reject) => {
    const failed = (why: string): void => {
      cancel();
      child.kill('SIGKILL');
      // Programs that it has begun may hold these open.
      child.stdout.destroy();
      child.stderr.destroy();
      reject(new PluginError(`exec: ${why}`, textOf(said)));
    };
    const cancel = clock.after(limits.clientExecTimeoutMs, () => {
      const seconds = limits.clientExecTimeoutMs / 1_000;
      failed(`executable ${command} has not ended in ${seconds} s`);
    });
    child.stdout.on('data', (chunk: Buffer) => {
      outputBytes += chunk.length;
      if (outputBytes <= limits.clientExecOutputBytesMax) output.push(chunk);
      else
        failed(`executable ${command} prints more than ${limits.clientExecOutputBytesMax} bytes`);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      saidBytes += chunk.length;
      if (saidBytes <= limits.clientExecOutputBytesMax) said.push(chunk);
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      const hint = installHint === '' ? '' : `: ${installHint}`;
      failed(
        error.code === 'ENOENT'
          ? `executable ${command} not found${hint}`
          : `executable ${command} cannot be run (${error.code ?? 'it failed'})${hint}`,
      );
    });
    child.once('close', (code, signal) => {
      if (code === 0) {
        cancel();
        resolve({ output: textOf(output), said: textOf(said) });
      } else if (code === null)
        failed(`executable ${command} was ended by ${signal ?? 'a signal'}`);
      else failed(`executable ${command} failed with exit code ${code}`);
    });
  });
}

const textOf = (chunks: readonly Buffer[]): string => Buffer.concat(chunks).toString('utf8');

const secretLooks = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\beyJ[\w-]{5,}\.[\w-]+(\.[\w-]*)?/g,
  /(?<=\b(bearer|basic)\s+)[^\s"']+/gi,
  /(?<=(token|password|passwd|secret|api[-_]?key)["']?\s*[=:]\s*["']?)[^\s"',]+/gi,
];

/** One line for the log: neither the secrets that are known, nor what looks like one. */
export function withoutSecrets(said: string, secrets: readonly string[]): string {
  const known = secrets
    .flatMap((secret) => secret.split('\n'))
    .map((line) => line.trim())
    .filter((line) => line.length >= limits.clientExecSecretLengthMin)
    .sort((a, b) => b.length - a.length);
  let text = said;
  for (const secret of known) text = text.replaceAll(secret, '***');
  for (const look of secretLooks) text = text.replaceAll(look, '***');
  return text
    .slice(0, limits.clientExecLogLengthMax)
    .replaceAll(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')
    .trim();
}

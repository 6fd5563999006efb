// `npm run fuzz -- TARGET COUNT [SEED]`: COUNT generated inputs for one target. An input may be
// refused, with a StatusError; any other failure, a turn above 50 ms or a growing heap is a
// finding, printed with what repeats it.
import { randomInt } from 'node:crypto';
import type { MaybePromise } from '../lib/base/maybe-promise.ts';
import { StatusError } from '../lib/base/status.ts';
import type { FuzzTarget } from './fuzz/fuzz-target.ts';
import { Random } from './fuzz/random.ts';

const decoderTarget =
  (name: 'json' | 'yaml' | 'protobuf' | 'cbor') => async (): Promise<FuzzTarget> =>
    (await import('./fuzz/decoder-target.ts')).decoderTarget(name);

/** By name; loaded when asked for. */
const targets: Readonly<Record<string, () => Promise<FuzzTarget>>> = {
  json: decoderTarget('json'),
  yaml: decoderTarget('yaml'),
  protobuf: decoderTarget('protobuf'),
  cbor: decoderTarget('cbor'),
  cel: async () => (await import('./fuzz/cel-target.ts')).celTarget,
  crd: async () => (await import('./fuzz/crd-target.ts')).crdTarget,
  admission: async () => (await import('./fuzz/admission-target.ts')).admissionTarget,
  apply: async () => (await import('./fuzz/apply-target.ts')).applyTarget,
  node: async () => (await import('./fuzz/node-target.ts')).nodeTarget,
  rbac: async () => (await import('./fuzz/rbac-target.ts')).rbacTarget,
};

const turnMsMax = 50;
/** A slow input is tried again: what the collector and the compiler take is not its own. */
const tries = 4;
const residentBytesMax = 1.5 * 1024 ** 3;
const findingsMax = 20;

export interface FuzzResult {
  readonly accepted: number;
  readonly refused: number;
  readonly findings: readonly string[];
  readonly slowestMs: number;
}

export async function fuzz(target: FuzzTarget, count: number, seed: number): Promise<FuzzResult> {
  let accepted = 0;
  let refused = 0;
  let slowestMs = 0;
  const findings: string[] = [];
  for (let index = 0; index < count && findings.length < findingsMax; index += 1) {
    const input = target.input(new Random(seed + index));
    const outcome = await attempt(target, input);
    if (outcome.kind === 'accepted') accepted += 1;
    else if (outcome.kind === 'refused') refused += 1;
    let { tookMs } = outcome;
    for (let again = 1; again < tries && tookMs > turnMsMax; again += 1) {
      tookMs = Math.min(tookMs, (await attempt(target, input)).tookMs);
    }
    slowestMs = Math.max(slowestMs, tookMs);
    const finding =
      outcome.kind === 'failed'
        ? outcome.why
        : tookMs > turnMsMax
          ? `takes ${tookMs.toFixed(0)} ms for ${String(input.length)} bytes`
          : undefined;
    if (finding !== undefined) {
      findings.push(
        `${finding}\n  repeat with: npm run fuzz -- ${target.name} 1 ${String(seed + index)}`,
      );
    }
  }
  return { accepted, refused, findings, slowestMs };
}

/** Time of this thread on a processor: a busy machine does not make inputs slow. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

type Outcome =
  | { readonly kind: 'accepted' | 'refused'; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly tookMs: number; readonly why: string };

async function attempt(target: FuzzTarget, input: Uint8Array): Promise<Outcome> {
  const started = threadMs();
  let check: (() => MaybePromise<string | undefined>) | undefined;
  try {
    check = target.run(input);
  } catch (error) {
    const tookMs = threadMs() - started;
    if (error instanceof StatusError && target.refusals.includes(error.code)) {
      return { kind: 'refused', tookMs };
    }
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { kind: 'failed', tookMs, why };
  }
  const tookMs = threadMs() - started;
  const why = await check?.();
  return why === undefined ? { kind: 'accepted', tookMs } : { kind: 'failed', tookMs, why };
}

async function main([
  name = '',
  countText = '',
  seedText = '',
]: readonly string[]): Promise<number> {
  const load = Object.hasOwn(targets, name) ? targets[name] : undefined;
  const count = Number(countText);
  if (load === undefined || !Number.isSafeInteger(count) || count < 1) {
    const names = Object.keys(targets).join('|');
    process.stderr.write(`usage: npm run fuzz -- ${names} COUNT [SEED]\n`);
    return 2;
  }
  const seed = seedText === '' ? randomInt(2 ** 31) : Number(seedText);
  const target = await load();
  const started = performance.now();
  const { accepted, refused, findings, slowestMs } = await fuzz(target, count, seed);
  const residentBytes = process.resourceUsage().maxRSS * 1024;
  for (const finding of findings) process.stdout.write(`FOUND ${finding}\n`);
  const isLarge = residentBytes > residentBytesMax;
  if (isLarge) process.stdout.write(`FOUND memory grew to ${megabytes(residentBytes)}\n`);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const facts = [
    `${String(accepted)} accepted, ${String(refused)} refused`,
    `${String(findings.length + Number(isLarge))} findings`,
    `slowest ${slowestMs.toFixed(1)} ms`,
    `${megabytes(residentBytes)} at most`,
    `seed ${String(seed)}, ${seconds} s`,
  ];
  process.stdout.write(`${name}: ${facts.join('; ')}\n`);
  return findings.length > 0 || isLarge ? 1 : 0;
}

const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(0)} MiB`;

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

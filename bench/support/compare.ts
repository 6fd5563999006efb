// Runs sides by turns (A B A B …), so that what else the machine does meets all of them, and tells
// their medians.
import type { MeasuredProcess } from './measured-process.ts';
import type { LoadResult } from './http1-client.ts';

export interface Side {
  readonly name: string;
  readonly process: MeasuredProcess;
  readonly run: () => Promise<LoadResult>;
  /** Before each run, and no part of what is measured. */
  readonly prepare?: (() => Promise<unknown>) | undefined;
}

export interface SideResult {
  readonly name: string;
  readonly perSecond: number;
  readonly bytesPerSecond: number;
  /** CPU of the measured process. */
  readonly microsPerRequest: number;
  /** More than the first side in the same round: what changes from round to round is no part. */
  readonly addedMicros: number;
  readonly microsPerMegabyte: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const profileTo = process.env['BENCH_PROFILE'];
/** Of the sides in their order: the second is the one that is asked about. */
const profileEndings = ['.bare', '', '.third'];

/** Sides in the order given; with BENCH_PROFILE the last round of each is profiled. */
export async function compare<Sides extends readonly [Side, Side, ...Side[]]>(
  sides: Sides,
  rounds = 5,
): Promise<{ readonly [Index in keyof Sides]: SideResult }> {
  const results: SideResult[][] = sides.map(() => []);
  await warmUp(sides);
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const isProfiled = profileTo !== undefined && round === rounds - 1;
      const run = isProfiled
        ? () => side.process.profileOf(profileTo + (profileEndings[index] ?? ''), side.run)
        : side.run;
      await side.prepare?.();
      const { result, micros } = await side.process.cpuOf(run);
      const first = results[0]?.[round]?.microsPerRequest;
      results[index]?.push(resultOf(side.name, result, micros, first));
    }
  }
  return results.map(medianOf) as { [Index in keyof Sides]: SideResult };
}

/**
 * Until the optimizing compiler is done with what is measured: it counts calls, not seconds. By
 * turns as well: a process that is warm and then waits for the other's warm-up is slower for
 * the rounds after it, by a quarter for CREATE of a ConfigMap.
 */
async function warmUp(sides: readonly Side[]): Promise<void> {
  let fewest = 0;
  const endMs = performance.now() + warmUpMax.durationMs * sides.length;
  while (fewest < warmUpMax.count && performance.now() < endMs) {
    const counts: number[] = [];
    for (const side of sides) {
      await side.prepare?.();
      counts.push((await side.run()).count);
    }
    fewest += Math.min(...counts);
  }
}
/** Of each side. */
const warmUpMax = { count: 50_000, durationMs: 20_000 };

function resultOf(
  name: string,
  load: LoadResult,
  micros: number,
  first: number | undefined,
): SideResult {
  const microsPerRequest = micros / load.count;
  return {
    name,
    perSecond: load.count / load.seconds,
    bytesPerSecond: load.bodyBytes / load.seconds,
    microsPerRequest,
    addedMicros: microsPerRequest - (first ?? microsPerRequest),
    microsPerMegabyte: micros / (load.bodyBytes / 1e6),
    p50Ms: percentile(load.latenciesMs, 50),
    p99Ms: percentile(load.latenciesMs, 99),
  };
}

function medianOf(results: readonly SideResult[]): SideResult {
  const of = (pick: (result: SideResult) => number): number => median(results.map(pick));
  return {
    name: results[0]?.name ?? '',
    perSecond: of((result) => result.perSecond),
    bytesPerSecond: of((result) => result.bytesPerSecond),
    microsPerRequest: of((result) => result.microsPerRequest),
    addedMicros: of((result) => result.addedMicros),
    microsPerMegabyte: of((result) => result.microsPerMegabyte),
    p50Ms: of((result) => result.p50Ms),
    p99Ms: of((result) => result.p99Ms),
  };
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? NaN;
}

/** The line that counts: `ok` or `MISSED` against the reach. */
export function verdict(
  name: string,
  ratio: number,
  reach: { readonly atLeast?: number; readonly atMost?: number },
): void {
  const holds = ratio >= (reach.atLeast ?? -Infinity) && ratio <= (reach.atMost ?? Infinity);
  const bound =
    reach.atLeast === undefined ? `<= ${String(reach.atMost)}` : `>= ${String(reach.atLeast)}`;
  console.log(`  ${holds ? 'ok    ' : 'MISSED'} ${name}: ${ratio.toFixed(2)} (reach ${bound})`);
}

export function printSides(sides: readonly SideResult[]): void {
  for (const side of sides) {
    console.log(
      `  ${side.name.padEnd(28)} ${side.microsPerRequest.toFixed(1).padStart(9)} CPU-µs/request` +
        ` ${side.perSecond.toFixed(0).padStart(8)} requests/s` +
        ` ${(side.bytesPerSecond / 1e6).toFixed(1).padStart(8)} MB/s` +
        latencies(side),
    );
  }
}

/** Nothing where the load measured none. */
const latencies = ({ p50Ms, p99Ms }: SideResult): string =>
  Number.isNaN(p50Ms) ? '' : `   p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`;

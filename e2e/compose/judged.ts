// A scenario under load through the balancer: steady clients that retry nothing, and clients whose
// whole history is judged. It does harm, waits for answers after it, and returns the verdict.
import { setTimeout as sleep } from 'node:timers/promises';
import { flowOf } from '../chaos/truth.ts';
import { checkHistory, type CheckOptions } from '../history/checker.ts';
import type { Anomaly, History } from '../history/history.ts';
import { newSeed, Random } from '../history/random.ts';
import { describeHistory } from '../history/summary.ts';
import { startWorkload, type Workload, type WorkloadOptions } from '../history/workload.ts';
import { SteadyLoad, type LoadReport } from '../operations/steady-load.ts';
import type { SetUp } from './set-up.ts';

export interface Scene {
  readonly setUp: SetUp;
  readonly random: Random;
  /** Says what happens now: part of the text of failures of requests that begin from here on. */
  phase(text: string): void;
  /** Waits until so many more requests of both loads were answered. */
  flow(count?: number): Promise<void>;
}

export interface Scenario {
  readonly name: string;
  readonly workload?: Omit<WorkloadOptions, 'servers' | 'access' | 'seed'>;
  readonly check?: CheckOptions;
  readonly harm: (scene: Scene) => Promise<void>;
}

export interface Verdict extends LoadReport {
  readonly seed: string;
  readonly anomalies: readonly Anomaly[];
  /** Requests of the judged clients that had no good end, in words. */
  readonly unanswered: readonly string[];
  readonly history: History;
}

const flowCount = 150;
const flowTimeoutMs = 90_000;
/** Each is told with its phase, and a balancer that is away fails many. */
const failureCountMax = 5_000;

export async function judged(setUp: SetUp, scenario: Scenario): Promise<Verdict> {
  const { name, harm, check } = scenario;
  const seed = process.env['HISTORY_SEED'] ?? newSeed();
  const { url, admin } = setUp;
  const load = await SteadyLoad.start({ url, identity: () => admin, failureCountMax });
  let workload: Workload | undefined;
  try {
    // A client asks each time on one of these: connections of their own, that the balancer spreads.
    const servers = [url, url, url];
    const common = { settleMs: 45_000, watchers: 3, ...scenario.workload };
    workload = await startWorkload({ ...common, servers, access: admin, seed });
    const scene = sceneOf({ setUp, load, workload, seed, name });
    await scene.flow();
    await harm(scene);
    scene.phase('after it');
    await scene.flow();
  } catch (error) {
    await Promise.allSettled([load.stop(), workload?.stop()]);
    throw error;
  }
  const [report, history] = await Promise.all([load.stop(), workload.stop()]);
  const verdict = { ...report, seed, history, unanswered: unansweredOf(history) };
  tell(name, verdict);
  return { ...verdict, anomalies: checkHistory(history, check) };
}

interface Running {
  readonly setUp: SetUp;
  readonly load: SteadyLoad;
  readonly workload: Workload;
  readonly seed: string;
  readonly name: string;
}

const sceneOf = ({ setUp, load, workload, seed, name }: Running): Scene => ({
  setUp,
  random: new Random(seed, name),
  phase(text) {
    load.phase = text;
  },
  async flow(count = flowCount) {
    const ending = new AbortController();
    const { signal } = ending;
    const late = sleep(flowTimeoutMs, undefined, { signal }).then(() => {
      throw new Error(`seed ${seed}: fewer than ${String(count)} answers in ${flowTimeoutMs} ms`);
    });
    try {
      await Promise.race([
        Promise.all([load.flow(count), flowOf(workload, seed, count)]),
        late.catch((error: unknown) => {
          if (!signal.aborted) throw error;
        }),
      ]);
    } finally {
      ending.abort();
    }
  },
});

/** No answer, or one that blames the server. */
function unansweredOf({ writes, gets, lists, watches }: History): string[] {
  return [
    ...writes.flatMap(({ verb, outcome }) =>
      outcome.kind === 'unknown' ? [`${verb}: ${outcome.why}`] : [],
    ),
    ...gets.flatMap(({ outcome }) => (outcome.kind === 'failed' ? [`get: ${outcome.why}`] : [])),
    ...lists.flatMap(({ ending }) => (ending.kind === 'failed' ? [`list: ${ending.why}`] : [])),
    ...watches.flatMap(({ ending }) => (ending.kind === 'failed' ? [`watch: ${ending.why}`] : [])),
  ];
}

function tell(name: string, verdict: Omit<Verdict, 'anomalies'>): void {
  const { requestCount, eventCount, watchEndCount, relistCount, goawayCount } = verdict;
  const counts = { requestCount, eventCount, watchEndCount, relistCount, goawayCount };
  const lines = [
    `${name}: seed ${verdict.seed}, steady load ${JSON.stringify(counts)}`,
    ...byKind('failure', verdict.failures),
    ...byKind('of judged clients', verdict.unanswered),
    describeHistory(verdict.history),
  ];
  process.stdout.write(`${lines.join('\n  ')}\n`);
}

/** How many there are of each, whatever their names, revisions and ports. */
function byKind(what: string, texts: readonly string[]): string[] {
  const kindOf = (text: string): string => text.slice(0, 200).replaceAll(/\d{2,}/g, 'N');
  return [...Map.groupBy(texts, kindOf)].map(([kind, { length }]) => `${what} ${length}×: ${kind}`);
}

// Plays a folder of recorded answers of the reference against a server of its own on a real etcd:
// node scripts/cases-diff.ts FOLDER [--naming svc] [--filter REGEXP]
// Prints each case that differs with what differs in it, and the totals last.
import { parseArgs } from 'node:util';
import { TestCluster } from '../e2e/harness.ts';
import type { Replica } from '../e2e/harness.ts';
import { differences } from './diff-cases/differences.ts';
import { Player } from './diff-cases/play.ts';
import type { Naming, Send } from './diff-cases/play.ts';
import { readRecording } from './diff-cases/recording.ts';
import type { RecordedCase, Recording } from './diff-cases/recording.ts';

/** At most as many requests at a time. */
const lanes = 8;

export interface PlayOptions {
  readonly naming: Naming;
  /** Matches id, category and kind: `vb0012 b /v1/pods`. */
  readonly filter?: RegExp;
}

export interface DifferingCase {
  readonly id: string;
  readonly kind: string;
  /** `status: expected 201, found 422`. */
  readonly differences: readonly string[];
}

export interface PlayResult {
  readonly passed: number;
  readonly failed: readonly DifferingCase[];
}

/** @throws Error when there is no etcd, or the folder holds no recording. */
export async function playFolder(folder: string, options: PlayOptions): Promise<PlayResult> {
  const recording = readRecording(folder);
  const { naming, filter } = options;
  // The reference had no admission plugin that changes or refuses anything.
  // And nothing beside it that writes.
  const serverFlags = [
    '--runtime-config=api/all=true',
    '--admission-control=NamespaceLifecycle',
    '--controllers=',
  ];
  const cluster = await TestCluster.start({ naming, serverFlags });
  try {
    const player = new Player(recording, naming, sendTo(cluster.replica(0)));
    await player.start();
    return await playAll(player, casesOf(recording, filter));
  } finally {
    await cluster.stop();
  }
}

function casesOf({ cases }: Recording, filter: RegExp | undefined): readonly RecordedCase[] {
  if (filter === undefined) return cases;
  return cases.filter(({ id, c, k }) => filter.test(`${id} ${c} ${k}`));
}

async function playAll(player: Player, cases: readonly RecordedCase[]): Promise<PlayResult> {
  const failed: DifferingCase[] = [];
  const waiting = cases.values();
  const lane = async (): Promise<void> => {
    for (const one of waiting) {
      const found = differences(...(await player.play(one)));
      if (found.length > 0) failed.push({ id: one.id, kind: one.k, differences: found });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  failed.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { passed: cases.length - failed.length, failed };
}

const sendTo =
  (replica: Replica): Send =>
  async (method, path, body, headers) => {
    const reply = await replica.request(method, path, { body, headers });
    const warnings = reply.headers.warning;
    return {
      status: reply.status,
      text: reply.text,
      warnings: warnings === undefined ? [] : warnings.split(/, (?=299 )/),
    };
  };

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      naming: { type: 'string', default: 'kubernetes' },
      filter: { type: 'string', default: '' },
    },
  });
  const [folder] = positionals;
  if (folder === undefined || !/^(kubernetes|svc)$/.test(values.naming)) {
    throw new Error('usage: cases-diff FOLDER [--naming kubernetes|svc] [--filter REGEXP]');
  }
  const { passed, failed } = await playFolder(folder, {
    naming: values.naming as Naming,
    filter: new RegExp(values.filter),
  });
  for (const one of failed) {
    console.log(`${one.id} ${one.kind}`);
    for (const text of one.differences) console.log(`  ${text}`);
  }
  console.log(`${String(passed)} passed, ${String(failed.length)} failed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

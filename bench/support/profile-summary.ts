// A CPU profile as two tables: where time was spent itself, and by file.
import { readFileSync } from 'node:fs';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const rowsMax = 40;

export function summary(file: string): string {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const micros = new Map<number, number>();
  for (const [index, id] of profile.samples.entries()) {
    micros.set(id, (micros.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
  }
  const byFunction = new Map<string, number>();
  const byFile = new Map<string, number>();
  let total = 0;
  for (const { id, callFrame } of profile.nodes) {
    const spent = micros.get(id) ?? 0;
    if (callFrame.functionName === '(idle)') continue;
    total += spent;
    const where = callFrame.url.replace(/^.*\/(lib|cmd|bench|node_modules)\//, '$1/');
    const name = `${callFrame.functionName || '(anonymous)'} ${where}:${String(callFrame.lineNumber + 1)}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + spent);
    byFile.set(
      where || callFrame.functionName,
      (byFile.get(where || callFrame.functionName) ?? 0) + spent,
    );
  }
  return `by function\n${table(byFunction, total)}\n\nby file\n${table(byFile, total)}`;
}

function table(spent: ReadonlyMap<string, number>, total: number): string {
  return [...spent]
    .sort(([, one], [, other]) => other - one)
    .slice(0, rowsMax)
    .map(([name, micros]) => `${((micros / total) * 100).toFixed(1).padStart(6)} %  ${name}`)
    .join('\n');
}

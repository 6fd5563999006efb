// A CPU profile as three tables: time by file, by function itself, and by function with what it
// calls.
import { readFileSync } from 'node:fs';

interface ProfileNode {
  readonly id: number;
  readonly children?: readonly number[];
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
}
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const rowsMax = 40;
/** Waiting, and the profiler itself. */
const isLeftOut = ({ callFrame }: ProfileNode): boolean =>
  callFrame.functionName === '(idle)' || callFrame.url === 'node:inspector';

export function summary(file: string): string {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const spent = new Map<number, number>();
  const longest = longestOf(profile.timeDeltas);
  for (const [index, id] of profile.samples.entries()) {
    const micros = Math.min(profile.timeDeltas[index] ?? 0, longest);
    spent.set(id, (spent.get(id) ?? 0) + micros);
  }
  const byFile = new Map<string, number>();
  const self = new Map<string, number>();
  const withCallees = new Map<string, number>();
  const add = (table: Map<string, number>, name: string, micros: number): void => {
    table.set(name, (table.get(name) ?? 0) + micros);
  };
  const visit = (node: ProfileNode, outer: ReadonlySet<string>): number => {
    const own = isLeftOut(node) ? 0 : (spent.get(node.id) ?? 0);
    const name = nameOf(node);
    add(self, name, own);
    add(byFile, fileOf(node) || node.callFrame.functionName, own);
    const inside = new Set(outer).add(name);
    let all = own;
    for (const id of node.children ?? []) {
      const child = nodes.get(id);
      if (child !== undefined) all += visit(child, inside);
    }
    if (!outer.has(name)) add(withCallees, name, all);
    return all;
  };
  const first = profile.nodes[0];
  const total = first === undefined ? 0 : visit(first, new Set());
  return [
    `by file\n${table(byFile, total)}`,
    `by function, itself\n${table(self, total)}`,
    `by function, with what it calls\n${table(withCallees, total)}`,
  ].join('\n\n');
}

/**
 * Of the time between two samples what a process can have spent: where it is longer, another one
 * had the core, and whoever was interrupted would be charged with that.
 */
function longestOf(deltas: readonly number[]): number {
  const sorted = [...deltas].sort((one, other) => one - other);
  return 4 * (sorted[sorted.length >> 1] ?? 0);
}

const fileOf = ({ callFrame }: ProfileNode): string =>
  callFrame.url.replace(/^.*\/(lib|cmd|bench|node_modules)\//, '$1/');

const nameOf = (node: ProfileNode): string => {
  const { functionName, lineNumber } = node.callFrame;
  return `${functionName || '(anonymous)'} ${fileOf(node)}:${String(lineNumber + 1)}`;
};

function table(spent: ReadonlyMap<string, number>, total: number): string {
  return [...spent]
    .filter(([, micros]) => micros > 0)
    .sort(([, one], [, other]) => other - one)
    .slice(0, rowsMax)
    .map(([name, micros]) => `${((micros / total) * 100).toFixed(1).padStart(6)} %  ${name}`)
    .join('\n');
}

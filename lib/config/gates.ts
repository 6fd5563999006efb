// Feature gates: what may be switched, and the rules of their stages (specification 2, Feature gate
// lifecycle).
import { FlagError } from './flags.ts';
import { effectiveGates } from './gate-effects.ts';
import type { GateName } from './gate-effects.ts';
import { gateTable } from './gate-table.ts';

export interface FeatureGates {
  isOn(gate: GateName): boolean;
  /** Of a gate named by data (fields, rules); a gate that no longer exists is on. */
  isEnabled(gate: string): boolean;
  /** Lines for the log: deprecated gates in use, gates without effect here. */
  readonly notes: readonly string[];
}

/** Gates are those of one component, which may be named: `kube:WatchList=false`. */
const componentPrefix = /^kube:/;

/**
 * Applies `--feature-gates` pairs over the defaults; `AllAlpha` and `AllBeta` first, named gates
 * win over them.
 * @throws FlagError naming the gate that is unknown, locked, or has a bad value.
 */
export function featureGates(given: ReadonlyMap<string, string>): FeatureGates {
  const pairs = new Map(
    [...given].map(([name, text]) => [name.replace(componentPrefix, ''), text]),
  );
  const rows = new Map(gateTable.map((row) => [row[0], row]));
  const values = new Map(gateTable.map(([name, , isOn]) => [name, isOn]));
  const notes: string[] = [];
  for (const [bulk, stage] of [
    ['AllAlpha', 'Alpha'],
    ['AllBeta', 'Beta'],
  ] as const) {
    const text = pairs.get(bulk);
    if (text === undefined) continue;
    const isOn = parseBoolean(bulk, text);
    for (const row of gateTable) if (row[1] === stage && !row[3]) values.set(row[0], isOn);
  }
  for (const [name, text] of pairs) {
    if (name === 'AllAlpha' || name === 'AllBeta') continue;
    const row = rows.get(name);
    if (row === undefined)
      throw new FlagError(`--feature-gates: unrecognized feature gate: ${name}`);
    const isOn = parseBoolean(name, text);
    if (row[3] && isOn !== row[2]) {
      const locked =
        `cannot set feature gate ${name} to ${text}, feature is locked to ` + String(row[2]);
      throw new FlagError(`--feature-gates: ${locked}`);
    }
    values.set(name, isOn);
    if (row[1] === 'Deprecated')
      notes.push(`feature gate ${name} is deprecated and will be removed`);
    else if (row[1] === 'GA')
      notes.push(`feature gate ${name} is generally available: setting it is deprecated`);
    if (!(name in effectiveGates)) notes.push(`feature gate ${name} has no effect in this server`);
  }
  return {
    isOn: (gate) => values.get(gate) ?? false,
    isEnabled: (gate) => values.get(gate) ?? true,
    notes,
  };
}

function parseBoolean(name: string, text: string): boolean {
  if (/^(true|1|t)$/i.test(text)) return true;
  if (/^(false|0|f)$/i.test(text)) return false;
  throw new FlagError(
    `--feature-gates: invalid value of ${name}: "${text}", must be true or false`,
  );
}

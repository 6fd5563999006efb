// The ratios of a run as they are printed (`verdict` of compare.ts), and what got worse beside
// those that are stored.

/** By benchmark, then by case and verdict: what is measured beside its baseline. */
export type Ratios = Readonly<Record<string, Readonly<Record<string, StoredRatio>>>>;

export interface StoredRatio {
  readonly ratio: number;
  /** Whether less is better. */
  readonly isCost: boolean;
}

/** Beyond this share of the stored ratio something got worse, and no longer varies. */
const toleranceShare = 0.15;

/** What verdicts print: two digits. */
const smallest = 0.01;

const verdictLine = /^ {2}(?:ok {4}|MISSED) (.+): (-?[\d.]+) \(reach (<=|>=) /;

/** Of what one benchmark printed. A verdict belongs to the last case that began before it. */
export function ratiosIn(output: string): Record<string, StoredRatio> {
  const found: Record<string, StoredRatio> = {};
  let title = '';
  for (const line of output.split('\n')) {
    const [, name = '', ratio = '', bound] = verdictLine.exec(line) ?? [];
    if (name !== '') found[`${title}: ${name}`] = { ratio: Number(ratio), isCost: bound === '<=' };
    // Sizes and measured figures stand behind the name of a case.
    else if (/^\S/.test(line)) title = line.split(/[,:] ?/, 1)[0] ?? '';
  }
  return found;
}

/** One line for each that got worse, or is stored and was not measured. */
export function worseThan(
  stored: Readonly<Record<string, StoredRatio>>,
  now: Readonly<Record<string, StoredRatio>>,
): readonly string[] {
  return Object.entries(stored).flatMap(([name, { ratio, isCost }]) => {
    const measured = now[name]?.ratio;
    if (measured === undefined) return [`${name}: stored as ${ratio.toFixed(2)}, not measured`];
    const [worse, better] = isCost ? [measured, ratio] : [ratio, measured];
    const change = worse / Math.max(better, smallest);
    if (change <= 1 + toleranceShare) return [];
    const percent = ((change - 1) * 100).toFixed(0);
    return [`${name}: ${measured.toFixed(2)}, stored ${ratio.toFixed(2)} (${percent} % worse)`];
  });
}

// What an alert is: its rule, what whoever it wakes has to know, and a course of numbers at which
// it fires beside one at which it does not.

/** Series → its values in promtool's notation, one a minute unless the row says otherwise. */
export type SeriesCourse = Readonly<Record<string, string>>;

export interface AlertRow {
  readonly name: string;
  /** critical: users feel it, or soon will; warning: look at it on the day that it comes. */
  readonly severity: 'critical' | 'warning';
  readonly expr: string;
  readonly for: string;
  /** One line; `{{ $labels.x }}` stands for a label. */
  readonly summary: string;
  /** What is the case when it fires, and why that matters. */
  readonly means: string;
  readonly look: readonly string[];
  readonly act: readonly string[];
  readonly shown: {
    /** When both courses are looked at; default `45m`. */
    readonly at?: string;
    /** The alert is about days: its courses have a value each 10 minutes. */
    readonly isLong?: true;
    readonly fires: SeriesCourse;
    /** The labels that it fires with, beside its severity. */
    readonly labels: Readonly<Record<string, string>>;
    readonly quiet: SeriesCourse;
  };
}

export interface AlertGroup {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly AlertRow[];
}

/** One series of the replica `a`. */
export const seen = (metric: string, labels: string, values: string): SeriesCourse => ({
  [`${metric}{job="apiserver",instance="a",${labels}}`]: values,
});

/** How each course says that a value stays as it is, for an hour and a half. */
export const stays = (value: number): string => `${String(value)}+0x90`;
/** That it grows by so much a minute. */
export const grows = (perMinute: number, from = 0): string =>
  `${String(from)}+${String(perMinute)}x90`;
/** That it is not there for so many minutes, and then stays. */
export const comes = (afterMinutes: number, value: number): string =>
  `${'_ '.repeat(afterMinutes)}${String(value)}+0x${String(90 - afterMinutes)}`;
/** That it stays for so many minutes and then is another. */
export const becomes = (value: number, afterMinutes: number, then: number): string =>
  `${String(value)}+0x${String(afterMinutes)} ${String(then)}+0x${String(90 - afterMinutes)}`;

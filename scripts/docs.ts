// Writes the pages of docs/, the rules and the dashboards of deploy/ that tables decide:
// `npm run docs`. A test compares the files with what is made here, so that no table changes
// without its page.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { limits } from '../lib/base/limits.ts';
import { fieldReasons, statusReasons } from '../lib/base/status-reasons.ts';
import { effectiveGates } from '../lib/config/gate-effects.ts';
import type { GateEffect } from '../lib/config/gate-effects.ts';
import { gateTable } from '../lib/config/gate-table.ts';
import { absentFlags } from '../lib/config/absent-flags.ts';
import type { AbsentFlag, Answer } from '../lib/config/absent-flags.ts';
import { flagTable } from '../lib/config/flags.ts';
import { metricTable } from '../lib/telemetry/metric-table.ts';
import type { MetricRow } from '../lib/telemetry/metric-table.ts';
import { dashboardFiles } from './observability/dashboard-files.ts';
import { ruleFiles } from './observability/rule-files.ts';

export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

const page = (path: string, source: string, parts: readonly string[]): Page => ({
  path,
  text: `<!-- Written by \`npm run docs\` from ${source}. -->\n\n${parts.join('\n\n')}\n`,
});

function gatesPage(): Page {
  const effects: Readonly<Record<string, GateEffect>> = effectiveGates;
  const stages = new Map(gateTable.map(([name, stage, isOn]) => [name, { stage, isOn }]));
  const effective = Object.entries(effects).map(([name, { changes, test }]) => {
    const { stage = '', isOn = false } = stages.get(name) ?? {};
    return [`\`${name}\``, stage, isOn ? 'on' : 'off', changes, `\`${test}\``];
  });
  const others = gateTable.filter(([name]) => !Object.hasOwn(effects, name));
  const otherRows = others.map(([name, stage, isOn, isLocked]) => [
    `\`${name}\``,
    stage,
    isOn ? 'on' : 'off',
    isLocked ? 'yes' : '',
  ]);
  return page('docs/feature-gates.md', 'lib/config/gate-effects.ts and gate-table.ts', [
    '# Feature gates',
    'Set with `--feature-gates=Name=true,Other=false`. `AllAlpha` and `AllBeta` switch every ' +
      'gate of a stage; a gate that is named wins over them. An unknown gate is refused, and so ' +
      'is another value of a locked one. Naming a deprecated or generally available gate ' +
      'is logged.',
    '## Gates that change something in this server',
    table(['Gate', 'Stage', 'Default', 'On, it', 'Shown by'], effective),
    '## Gates without effect here',
    'They belong to other components, or to features that are always on. They are accepted, with ' +
      'one line in the log.',
    table(['Gate', 'Stage', 'Default', 'Locked'], otherRows),
  ]);
}

interface FlagRow {
  readonly section: string;
  readonly kind: { readonly placeholder: string };
  readonly fallback: string | undefined;
  readonly help: string;
  readonly deprecated?: string;
}

function flagsPage(): Page {
  const rows = Object.entries(flagTable as Readonly<Record<string, FlagRow>>);
  const sections = [...new Set(rows.map(([, { section }]) => section))];
  const parts = sections.flatMap((wanted) => [
    `## ${wanted}`,
    table(
      ['Flag', 'Value', 'Default', 'What it does'],
      rows
        .filter(([, { section }]) => section === wanted)
        .map(([name, { kind, fallback = '', help, deprecated }]) => [
          `\`--${name}\``,
          kind.placeholder,
          fallback === '' ? '' : `\`${fallback}\``,
          deprecated === undefined ? help : `Deprecated: ${deprecated}. ${help}`,
        ]),
    ),
  ]);
  const absent = Object.entries(absentFlags)
    .map(([name, { kind, answers, instead }]) => [
      `\`--${name}\``,
      kind.placeholder,
      ...(['fits', 'warned', 'refused'] as const).map((answer) => valuesWith(answers, answer)),
      instead,
    ])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return page('docs/flags.md', 'lib/config/flags.ts and absent-flags.ts', [
    '# Flags',
    ...parts,
    "## kube-apiserver's other flags",
    'This server does not have them. A value that asks for what is so anyway is accepted; of ' +
      'others the log says what is in force instead; a flag that guards something is refused ' +
      'where ignoring it would open a door.',
    table(['Flag', 'Value', 'Accepted', 'Warned', 'Refused', 'In force here'], absent),
  ]);
}

function valuesWith(answers: AbsentFlag['answers'], wanted: Answer): string {
  const named = Object.entries(answers).filter(([value]) => value !== '*');
  const texts = named.filter(([, answer]) => answer === wanted).map(([value]) => `\`${value}\``);
  if (answers['*'] === wanted) texts.push(named.length === 0 ? 'any' : 'others');
  return texts.join(', ');
}

function metricsPage(): Page {
  const rows = Object.entries(metricTable as Readonly<Record<string, MetricRow>>);
  const cells = rows.map(([name, row]) => {
    const { type, stability, labels, help, deprecatedSince } = row;
    return [
      `\`${name}\``,
      type,
      stability,
      labels.join(', '),
      ('across' in row ? row.across : undefined) ?? 'sum',
      deprecatedSince === undefined ? help : `(Deprecated from ${deprecatedSince}) ${help}`,
    ];
  });
  return page('docs/metrics.md', 'lib/telemetry/metric-table.ts', [
    '# Metrics',
    'Served at `/metrics`, those of health checks at `/metrics/slis`. `{kubernetes}` is the word ' +
      'of `--naming`. `--disabled-metrics` leaves metrics out. A deprecated metric is hidden ' +
      'some releases later, by its stability; `--show-hidden-metrics-for-version` shows those ' +
      'that the last release hid.',
    'Workers (`--workers`) answer with one text for all: their samples with the same labels are ' +
      'added up (of quantiles the largest is shown), or the largest or least of them is taken. ' +
      'What a worker had counted by the last scrape, or when it was replaced, goes on to count.',
    table(['Metric', 'Type', 'Stability', 'Labels', 'Workers', 'Help'], cells),
  ]);
}

function errorsPage(): Page {
  const rows = Object.entries(statusReasons).map(([reason, { codes, when }]) => [
    reason === '' ? '(none)' : `\`${reason}\``,
    codes.join(', '),
    when,
  ]);
  const fieldRows = Object.entries(fieldReasons).map(([reason, { label, when }]) => [
    `\`${reason}\``,
    label,
    when,
  ]);
  return page('docs/errors.md', 'lib/base/status-reasons.ts', [
    '# Errors',
    'A failed request is answered with a Status: `reason` for programs, `message` for people, ' +
      '`code` as in the HTTP status line. `details` names the object; with ' +
      '`details.retryAfterSeconds` the answer has a Retry-After header, too.',
    table(['Reason', 'Code', 'When'], rows),
    '## Causes of Invalid',
    'Each entry of `details.causes` has the path of a `field` and one of these reasons.',
    table(['Reason', 'Its message begins with', 'When'], fieldRows),
  ]);
}

interface LimitRow {
  readonly section: string;
  readonly name: string;
  readonly why: string;
}

/** The rows of the table with the comment above each, which is a row's documentation. */
export function limitRows(): readonly LimitRow[] {
  const path = join(import.meta.dirname, '../lib/base/limits.ts');
  const text = readFileSync(path, 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const rows: LimitRow[] = [];
  let section = '';
  const visit = (node: ts.Node): void => {
    if (!ts.isPropertyAssignment(node)) {
      ts.forEachChild(node, visit);
      return;
    }
    const comments = ts.getLeadingCommentRanges(text, node.pos) ?? [];
    let why = '';
    for (const { pos, end, kind } of comments) {
      const comment = text.slice(pos, end);
      if (kind === ts.SyntaxKind.SingleLineCommentTrivia) section = comment.slice(2).trim();
      else
        why = comment
          .slice(3, -2)
          .replace(/\s*\n\s*\*\s*/g, ' ')
          .trim();
    }
    rows.push({ section, name: node.name.getText(tree), why });
  };
  visit(tree);
  return rows;
}

function limitsPage(): Page {
  const values: Readonly<Record<string, number>> = limits;
  const rows = limitRows();
  const sections = [...new Set(rows.map(({ section }) => section))];
  return page('docs/limits.md', 'lib/base/limits.ts', [
    '# Limits',
    'What bounds input, memory, time, retries and queues. The end of a name is the unit. Limits ' +
      'are part of the program; where a flag moves one, it says so.',
    ...sections.flatMap((wanted) => [
      `## ${wanted}`,
      table(
        ['Limit', 'Value', 'What it costs, and why'],
        rows
          .filter(({ section }) => section === wanted)
          .map(({ name, why }) => [
            `\`${name}\``,
            (values[name] ?? 0).toLocaleString('en').replaceAll(',', ' '),
            why,
          ]),
      ),
    ]),
  ]);
}

export const pages = (): readonly Page[] => [
  gatesPage(),
  flagsPage(),
  metricsPage(),
  limitsPage(),
  errorsPage(),
  ...ruleFiles(),
  ...dashboardFiles(),
];

if (import.meta.main) {
  for (const { path, text } of pages()) {
    writeFileSync(join(import.meta.dirname, '..', path), text);
    process.stdout.write(`${path}\n`);
  }
}

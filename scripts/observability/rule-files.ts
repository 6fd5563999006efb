// The files of deploy/prometheus that are made of the tables here, and docs/alerts.md: rules, the
// courses that promtool holds them against, and what each alert means.
import { dump } from 'js-yaml';
import type { AlertGroup, AlertRow, SeriesCourse } from './alert.ts';
import { policyAlerts } from './alerts-policies.ts';
import { replicaAlerts } from './alerts-replicas.ts';
import { requestAlerts } from './alerts-requests.ts';
import { storageAlerts } from './alerts-storage.ts';
import { ruleGroups } from './recording-rules.ts';

interface TextFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export const alertGroups: readonly AlertGroup[] = [
  requestAlerts,
  storageAlerts,
  replicaAlerts,
  policyAlerts,
];

const folder = 'deploy/prometheus';
const source = 'scripts/observability';

const yaml = (path: string, content: object): TextFile => ({
  path: `${folder}/${path}`,
  text:
    '# Written by `npm run docs` from ' +
    `${source}.\n${dump(content, { lineWidth: 100, noRefs: true })}`,
});

const page = 'docs/alerts.md';
const annotationsOf = ({ name, summary }: AlertRow): Record<string, string> => ({
  summary,
  runbook_url: `${page}#${name.toLowerCase()}`,
});

const alertRules = (): object => ({
  groups: alertGroups.map(({ name, rows }) => ({
    name,
    rules: rows.map((row) => ({
      alert: row.name,
      expr: row.expr,
      for: row.for,
      labels: { severity: row.severity },
      annotations: annotationsOf(row),
    })),
  })),
});

/** As Prometheus fills in labels; one that the alert does not have is empty. */
const filledIn = (text: string, labels: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_all, name: string) => labels[name] ?? '');

function testOf(row: AlertRow, what: 'fires' | 'quiet'): object {
  const { shown } = row;
  const labels = { ...shown.labels, severity: row.severity };
  const annotations = Object.entries(annotationsOf(row)).map(([key, text]) => [
    key,
    filledIn(text, labels),
  ]);
  const alert = { exp_labels: labels, exp_annotations: Object.fromEntries(annotations) as object };
  return {
    name: `${row.name} ${what === 'fires' ? 'fires' : 'stays quiet'}`,
    interval: shown.isLong === true ? '10m' : '1m',
    input_series: seriesOf(shown[what]),
    alert_rule_test: [
      {
        eval_time: shown.at ?? '45m',
        alertname: row.name,
        exp_alerts: what === 'fires' ? [alert] : [],
      },
    ],
  };
}

const seriesOf = (course: SeriesCourse): object[] =>
  Object.entries(course).map(([series, values]) => ({ series, values }));

/** What an alert asks for is recorded by a rule. */
const isRecorded = ({ expr }: AlertRow): boolean => expr.includes(':');

/** A file of courses, by what its alerts need and how fast time goes there. */
interface CourseFile {
  readonly path: string;
  readonly has: (row: AlertRow) => boolean;
  readonly ruleFiles: readonly string[];
  readonly interval: string;
}

const courseFiles: readonly CourseFile[] = [
  {
    path: 'alerts.test.yaml',
    has: (row: AlertRow) => !isRecorded(row),
    ruleFiles: ['alerts.rules.yaml'],
    interval: '5m',
  },
  {
    path: 'recorded-alerts.test.yaml',
    has: (row: AlertRow) => isRecorded(row) && row.shown.isLong !== true,
    ruleFiles: ['recording.rules.yaml', 'alerts.rules.yaml'],
    interval: '5m',
  },
  {
    path: 'long-alerts.test.yaml',
    has: (row: AlertRow) => isRecorded(row) && row.shown.isLong === true,
    ruleFiles: ['recording.rules.yaml', 'alerts.rules.yaml'],
    interval: '30m',
  },
];

function alertTests({ path, has, ruleFiles: files, interval }: CourseFile): TextFile {
  const rows = alertGroups.flatMap((group) => group.rows).filter(has);
  const recorded = files.includes('recording.rules.yaml') ? ruleGroups : [];
  return yaml(path, {
    rule_files: files,
    evaluation_interval: interval,
    // What is recorded is there when an alert asks for it.
    group_eval_order: [...recorded, ...alertGroups].map(({ name }) => name),
    tests: rows.flatMap((row) => [testOf(row, 'fires'), testOf(row, 'quiet')]),
  });
}

function alertsPage(): TextFile {
  const list = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');
  const sections = alertGroups.flatMap(({ title, rows }) => [
    `## ${title}`,
    ...rows.flatMap((row) => [
      `### ${row.name}`,
      `\`${row.severity}\`, after ${row.for}. ${row.means}`,
      `Look at:\n\n${list(row.look)}`,
      `Do:\n\n${list(row.act)}`,
      `\`\`\`promql\n${row.expr}\n\`\`\``,
    ]),
  ]);
  const text = [
    `<!-- Written by \`npm run docs\` from ${source}. -->`,
    '# Alerts',
    'What each alert of `deploy/prometheus/alerts.rules.yaml` means, what to look at, what ' +
      'to do. `critical`: users feel ' +
      'it, or soon will. `warning`: look at it on the same day. The rules expect two scrape ' +
      'jobs, `apiserver` (every ' +
      'replica, `/metrics`) and `etcd` (every member), and, where one Prometheus watches ' +
      'several clusters, a label ' +
      '`cluster` on both. They are good for both naming profiles. An alert about a single ' +
      'event ends 15 minutes after it; ' +
      'a Prometheus that has just begun may tell of events before its time.',
    '`npm test -- scripts/observability` holds each of them against numbers at which it ' +
      'fires and others at which it ' +
      'does not.',
    ...sections,
  ].join('\n\n');
  return { path: page, text: `${text}\n` };
}

export const ruleFiles = (): readonly TextFile[] => [
  yaml('recording.rules.yaml', { groups: ruleGroups }),
  yaml('alerts.rules.yaml', alertRules()),
  ...courseFiles.map(alertTests),
  alertsPage(),
];

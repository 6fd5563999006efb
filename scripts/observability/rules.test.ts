// Rules and dashboards are right by themselves: promtool takes them, each alert fires and stays
// quiet as its row says, and they ask for nothing that nobody serves.
import { describe, expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { metricTable } from '../../lib/telemetry/metric-table.ts';
import { run } from '../debian-packages.mjs';
import { findPrometheus } from '../prometheus.mjs';
import { dashboards } from './dashboard-files.ts';
import { metricNames } from './metric-names.ts';
import { ruleGroups } from './recording-rules.ts';
import { alertGroups } from './rule-files.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'deploy/prometheus');
const files = readdirSync(folder);
const alerts = alertGroups.flatMap(({ rows }) => rows);
const panels = dashboards.flatMap(({ title, sections }) =>
  sections.flatMap((section) => section.panels.map((panel) => ({ dashboard: title, ...panel }))),
);

const found = await findPrometheus().catch((error: unknown) => {
  process.stderr.write(`promtool is not run: ${String(error)}\n`);
  return undefined;
});
const promtool = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await run(found?.promtoolPath ?? '', [...args], folder);
  return code === 0 ? 'passed' : `${stdout}\n${stderr}`;
};
const withPromtool = found === undefined ? describe.skip : describe;

withPromtool('promtool', () => {
  test('takes the rules', async () => {
    const rules = files.filter((name) => name.endsWith('.rules.yaml'));
    expect(rules).toHaveLength(2);
    expect(await promtool('check', 'rules', ...rules)).toBe('passed');
  });
  test.each(files.filter((name) => name.endsWith('.test.yaml')))('%s holds', async (name) => {
    expect(await promtool('test', 'rules', name)).toBe('passed');
  });
});

test('each alert has a case that fires and one that does not', () => {
  const cases = files
    .filter((name) => name.endsWith('.test.yaml'))
    .flatMap((name) => (load(readFileSync(join(folder, name), 'utf8')) as Courses).tests)
    .flatMap(({ alert_rule_test: rules }) => rules)
    .map(({ alertname, exp_alerts: expected }) => `${alertname} ${String(expected.length)}`);
  const wanted = alerts.flatMap(({ name }) => [`${name} 1`, `${name} 0`]);
  expect(cases.toSorted()).toEqual(wanted.toSorted());
});

interface Courses {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly object[];
    }[];
  }[];
}

test('each alert names its place in docs/alerts.md, which has no other', () => {
  const page = readFileSync(join(root, 'docs/alerts.md'), 'utf8');
  const places = [...page.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name.toLowerCase());
  const rules = readFileSync(join(folder, 'alerts.rules.yaml'), 'utf8');
  const named = [...rules.matchAll(/runbook_url: docs\/alerts\.md#(\w+)$/gm)].map(
    ([, name = '']) => name,
  );
  expect(named).toHaveLength(alerts.length);
  expect(places).toEqual(named);
  for (const [, name = ''] of page.matchAll(/\]\(#(\w+)\)/g)) expect(places).toContain(name);
});

describe('asked for and served:', () => {
  const recorded = ruleGroups.flatMap(({ rules }) => rules.map(({ record }) => record));
  const ofPrometheus = ['up', 'ALERTS', 'scrape_duration_seconds', 'scrape_samples_scraped'];
  const ofEtcd = /^etcd_(server|disk|mvcc|network|debugging)_/; // e2e/dashboards.e2e.ts asks etcd
  const served = new Set([...Object.keys(metricTable), ...recorded, ...ofPrometheus]);
  const isServed = (name: string): boolean =>
    served.has(name) || ofEtcd.test(name) || served.has(name.replace(/_(bucket|sum|count)$/, ''));

  test.each([
    ...ruleGroups.flatMap(({ rules }) => rules.map(({ record, expr }) => [record, expr] as const)),
    ...alerts.map(({ name, expr }) => [name, expr] as const),
    ...panels.flatMap(({ dashboard, title, queries }) =>
      queries.map(({ expr }) => [`${dashboard}: ${title}`, expr] as const),
    ),
  ])('%s', (_name, expr) => {
    const names = metricNames(expr);
    const isPattern = expr.includes('__name__=~"(svc|kubernetes)_build_info"');
    expect([names.length > 0 || isPattern, names.filter((name) => !isServed(name))]).toEqual([
      true,
      [],
    ]);
  });
});

test('panels are said in words, and no two of a dashboard have one title', () => {
  for (const { title, description, queries } of panels) {
    expect([title, description]).toEqual([title, expect.stringMatching(/[.]$/)]);
    expect(queries.length).toBeGreaterThan(0);
  }
  for (const { sections } of dashboards) {
    const titles = sections.flatMap((section) =>
      section.panels.map((panel) => `${section.title}: ${panel.title}`),
    );
    expect(new Set(titles).size).toBe(titles.length);
  }
});

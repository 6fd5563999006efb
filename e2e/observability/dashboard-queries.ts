// Takes every query out of the dashboards' JSON and asks a running Prometheus: which panels show
// nothing though they should, which queries and rules it refuses. For any set-up under load.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const folder = join(import.meta.dirname, '../../deploy/grafana');

interface AskOptions {
  /** How long to wait until every panel shows something: rates need a few scrapes. */
  readonly deadlineMs: number;
  /** What `$__rate_interval` stands for: four scrapes or more. */
  readonly rateInterval: string;
}

interface PanelQuery {
  /** `file: title: letter`. */
  readonly name: string;
  readonly expr: string;
  readonly mayBeEmpty: boolean;
}

interface DashboardFile {
  readonly panels: readonly {
    readonly title: string;
    readonly description?: string;
    readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly definition?: string }[];
  };
}

const dashboards = (): readonly (readonly [string, DashboardFile])[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as DashboardFile]);

function panelQueries(rateInterval: string): readonly PanelQuery[] {
  return dashboards().flatMap(([file, { panels }]) =>
    panels.flatMap(({ title, description = '', targets = [] }) =>
      targets.map(({ refId, expr }) => ({
        name: `${file}: ${title}: ${refId}`,
        // With all of each variable chosen.
        expr: expr
          .replaceAll('$__rate_interval', rateInterval)
          .replaceAll(/\$(?:job|instance|cluster)\b/g, '.*'),
        mayBeEmpty: /Empty when \w/.test(description),
      })),
    ),
  );
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: unknown;
}

async function ask(url: string, path: string, query: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${url}${path}?${String(new URLSearchParams(query))}`);
  return (await response.json()) as Answer;
}

/** Whether there is a number to show: a quantile of nothing is none. */
const showsSomething = ({ data }: Answer): boolean =>
  (data as { result: { value: [number, string] }[] }).result.some(
    ({ value: [, text] }) => text !== 'NaN',
  );

/**
 * What is wrong with the dashboards, a line each; empty: every panel shows something, or says why
 * nothing is good.
 */
export async function wrongPanels(
  prometheusUrl: string,
  { deadlineMs, rateInterval }: AskOptions,
): Promise<readonly string[]> {
  const giveUpAt = performance.now() + deadlineMs;
  let left = [...panelQueries(rateInterval), ...variableQueries()];
  for (;;) {
    const states = await Promise.all(
      left.map(async (query) => ({ query, answer: await askFor(prometheusUrl, query.expr) })),
    );
    const refused = states.filter(({ answer }) => answer.status !== 'success');
    if (refused.length > 0) {
      return refused.map(({ query, answer }) => `${query.name}: ${answer.error ?? 'refused'}`);
    }
    const empty = states.filter(
      ({ query, answer }) => !query.mayBeEmpty && !showsSomething(answer),
    );
    if (empty.length === 0) return [];
    if (performance.now() > giveUpAt) {
      return empty.map(({ query }) => `${query.name}: nothing for ${query.expr}`);
    }
    left = empty.map(({ query }) => query);
    await sleep(1_000);
  }
}

const askFor = (url: string, expr: string): Promise<Answer> =>
  ask(url, '/api/v1/query', { query: expr });

/** What fills the variables: a series with the label. One cluster alone needs no label for it. */
function variableQueries(): readonly PanelQuery[] {
  return dashboards().flatMap(([file, { templating }]) =>
    templating.list.flatMap(({ name, definition = '' }) => {
      const [, selector, label] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      if (selector === undefined || label === undefined) return [];
      const expr = `count by (${label}) (${selector.replaceAll(/\$\w+/g, '.*')})`;
      return [{ name: `${file}: variable ${name}`, expr, mayBeEmpty: false }];
    }),
  );
}

/** Rules that Prometheus could not evaluate, a line each. */
export async function wrongRules(prometheusUrl: string): Promise<readonly string[]> {
  const { data } = await ask(prometheusUrl, '/api/v1/rules', {});
  const { groups } = data as { groups: { name: string; rules: RuleState[] }[] };
  if (groups.length === 0) return ['no rules are loaded'];
  return groups.flatMap(({ rules }) =>
    rules
      .filter(({ health }) => health === 'err')
      .map(({ name, lastError = '' }) => `${name}: ${lastError}`),
  );
}

interface RuleState {
  readonly name: string;
  readonly health: 'ok' | 'err' | 'unknown';
  readonly lastError?: string;
}

/** Names of all metrics that it has. */
export async function metricsOf(prometheusUrl: string): Promise<ReadonlySet<string>> {
  const { data } = await ask(prometheusUrl, '/api/v1/label/__name__/values', {});
  return new Set(data as string[]);
}

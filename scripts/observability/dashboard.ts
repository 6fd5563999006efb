// Dashboards as data: panels with what they ask Prometheus, and the JSON that Grafana reads.

export interface Query {
  readonly expr: string;
  /** `{{label}}` stands for a label. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  readonly description: string;
  /** Grafana's name of the unit. */
  readonly unit: string;
  readonly queries: readonly Query[];
  /** `lines` unless it says otherwise. */
  readonly shape?: 'lines' | 'stacked' | 'number' | 'table';
  /** Ends the sentence `Empty when …`: why nothing is good. */
  readonly emptyWhen?: string;
}

export interface Section {
  readonly title: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  /** Of the file and the address. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** A metric that every target of the dashboard's jobs has: its jobs can be chosen. */
  readonly jobsBy: string;
  readonly sections: readonly Section[];
}

/** What is chosen above each dashboard. */
export const chosen = 'job=~"$job",instance=~"$instance",cluster=~"$cluster"';
/** Of what rules record by cluster. */
export const chosenCluster = 'cluster=~"$cluster"';
export const perSecond = (selector: string, by: string): string =>
  `sum by (${by}) (rate(${selector}[$__rate_interval]))`;
export const quantile = (share: number, histogram: string, selector: string, by = ''): string =>
  `histogram_quantile(${String(share)}, sum by (${by === '' ? '' : `${by}, `}le) ` +
  `(rate(${histogram}_bucket{${selector}}[$__rate_interval])))`;

const datasource = { type: 'prometheus', uid: '${datasource}' };
const columns = 24;
const sizes = { number: { w: 4, h: 4 }, chart: { w: 12, h: 8 } } as const;
const letters = 'ABCDEFGH';

function variables({ jobsBy }: Dashboard): object[] {
  const asked = (name: string, label: string, query: string, more: object = {}): object => ({
    name,
    label,
    type: 'query',
    datasource,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: ['All'], value: ['$__all'] },
    ...more,
  });
  const source = {
    name: 'datasource',
    label: 'Data source',
    type: 'datasource',
    query: 'prometheus',
    current: {},
  };
  return [
    source,
    asked('cluster', 'Cluster', `label_values(${jobsBy}, cluster)`),
    asked('job', 'Job', `label_values(${jobsBy}{cluster=~"$cluster"}, job)`),
    asked(
      'instance',
      'Instance',
      `label_values(${jobsBy}{job=~"$job",cluster=~"$cluster"}, instance)`,
    ),
  ];
}

const describe = ({ description, emptyWhen }: Panel): string =>
  emptyWhen === undefined ? description : `${description} Empty when ${emptyWhen}.`;

function panelJson(
  panel: Panel,
  id: number,
  at: { readonly x: number; readonly y: number },
): object {
  const { title, unit, queries, shape = 'lines' } = panel;
  const isNow = shape === 'number' || shape === 'table';
  const { w, h } = shape === 'number' ? sizes.number : sizes.chart;
  return {
    id,
    type: shape === 'number' ? 'stat' : shape === 'table' ? 'table' : 'timeseries',
    title,
    description: describe(panel),
    datasource,
    gridPos: { ...at, w, h },
    fieldConfig: { defaults: { unit, ...lookOf(shape) }, overrides: [] },
    options: optionsOf(shape),
    targets: queries.map(({ expr, legend }, index) => ({
      refId: letters[index],
      datasource,
      expr,
      legendFormat: legend,
      ...(isNow ? { instant: true, format: shape === 'table' ? 'table' : 'time_series' } : {}),
    })),
    ...(shape === 'table' ? { transformations: [{ id: 'merge', options: {} }] } : {}),
  };
}

function lookOf(shape: NonNullable<Panel['shape']>): object {
  if (shape === 'table') return {};
  if (shape === 'number') return { color: { mode: 'fixed', fixedColor: 'text' } };
  const stacking = { mode: shape === 'stacked' ? 'normal' : 'none', group: 'A' };
  const fillOpacity = shape === 'stacked' ? 30 : 5;
  return {
    min: 0,
    custom: { drawStyle: 'line', lineWidth: 1, fillOpacity, showPoints: 'never', stacking },
  };
}

function optionsOf(shape: NonNullable<Panel['shape']>): object {
  if (shape === 'table') return { showHeader: true };
  if (shape === 'number') {
    return { reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'value_and_name' };
  }
  return {
    legend: { displayMode: 'table', placement: 'bottom', calcs: ['mean', 'max', 'lastNotNull'] },
    tooltip: { mode: 'multi', sort: 'desc' },
  };
}

/** Rows of panels from left to right, each section below a line with its title. */
function panelsJson(sections: readonly Section[]): object[] {
  const json: object[] = [];
  let y = 0;
  for (const { title, panels } of sections) {
    const gridPos = { x: 0, y, w: columns, h: 1 };
    json.push({ id: json.length + 1, type: 'row', title, collapsed: false, gridPos, panels: [] });
    y++;
    let x = 0;
    let rowHeight = 0;
    for (const panel of panels) {
      const { w, h } = panel.shape === 'number' ? sizes.number : sizes.chart;
      if (x + w > columns || (rowHeight !== 0 && rowHeight !== h)) {
        x = 0;
        y += rowHeight;
      }
      json.push(panelJson(panel, json.length + 1, { x, y }));
      x += w;
      rowHeight = h;
    }
    y += rowHeight;
  }
  return json;
}

const tag = 'svc-apiserver';

export const dashboardJson = (dashboard: Dashboard): object => ({
  uid: dashboard.uid,
  title: dashboard.title,
  description: dashboard.description,
  tags: [tag],
  editable: true,
  graphTooltip: 1,
  schemaVersion: 39,
  refresh: '30s',
  time: { from: 'now-1h', to: 'now' },
  timezone: 'browser',
  links: [
    {
      type: 'dashboards',
      title: 'API server',
      tags: [tag],
      asDropdown: true,
      includeVars: false,
      keepTime: true,
    },
  ],
  templating: { list: variables(dashboard) },
  panels: panelsJson(dashboard.sections),
});

// The files of deploy/grafana that are made of the dashboards here.
import { dashboardJson } from './dashboard.ts';
import { controllers, etcdDashboard, identity, processes } from './dashboards-parts.ts';
import { caches, overview } from './dashboards-requests.ts';

export const dashboards = [overview, caches, etcdDashboard, controllers, identity, processes];

export const dashboardFiles = (): readonly { readonly path: string; readonly text: string }[] =>
  dashboards.map((dashboard) => ({
    path: `deploy/grafana/${dashboard.uid.replace('svc-apiserver-', '')}.json`,
    text: `${JSON.stringify(dashboardJson(dashboard), undefined, 2)}\n`,
  }));

// componentstatuses: what is read here is never stored, but asked of each etcd member at the moment
// of the read. Members that do not answer are unhealthy entries, not errors; other components are
// not this server's to judge.
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { parseFieldSelector, parseLabelSelector } from '../api/selector.ts';
import { signalOf } from '../base/abort.ts';
import { notFound } from '../base/status.ts';
import type { Item, Selection } from '../cacher/resource-view.ts';
import { objectItem } from './converted-item.ts';
import type { ResourceStore } from './resource-store.ts';
import { noRevision, virtualStore } from './virtual-store.ts';

export interface Component {
  readonly name: string;
  /** undefined: it is healthy. */
  readonly problem: string | undefined;
}

export type ProbeComponents = (signal: AbortSignal) => Promise<readonly Component[]>;

/** One store, or none where the kind is not served. */
export function componentStatusStores(scheme: Scheme, probe: ProbeComponents): ResourceStore[] {
  return scheme.resources
    .filter(({ group, resource }) => group === '' && resource === 'componentstatuses')
    .map((resource) => componentStatusStore(resource, probe));
}

function componentStatusStore(resource: ResourceInfo, probe: ProbeComponents): ResourceStore {
  const read = async (select: Selection, signal: AbortSignal): Promise<Item[]> => {
    const items = (await probe(signal)).map((component) => itemOf(component, resource));
    return items.filter((item) => isSelected(item, select));
  };
  return virtualStore(resource, {
    async get({ path, signal }) {
      const [item] = await read({ name: path.name }, signalOf(signal));
      if (item === undefined) throw notFound(resource, path.name);
      return item;
    },
    async list({ options, signal }) {
      const labels = parseLabelSelector(options.labelSelector);
      const fields = parseFieldSelector(options.fieldSelector, resource);
      const select = { fields, ...(labels === undefined ? {} : { labels }) };
      const items = await read(select, signal);
      return { items, revision: noRevision, continueToken: '', remainingItemCount: undefined };
    },
  });
}

function itemOf({ name, problem }: Component, resource: ResourceInfo): Item {
  const condition =
    problem === undefined
      ? { type: 'Healthy', status: 'True', message: 'ok' }
      : { type: 'Healthy', status: 'False', message: problem, error: problem };
  const object = {
    kind: resource.kind.kind,
    apiVersion: apiVersionOf(resource.kind),
    metadata: { name },
    conditions: [condition],
  };
  return objectItem(object, resource, noRevision);
}

function isSelected(item: Item, { name, labels, fields }: Selection): boolean {
  if (name !== undefined && item.name !== name) return false;
  if (labels !== undefined && !labels(item.labels)) return false;
  return (fields ?? []).every(({ path, operator, value }) => {
    return (item.field(path) === value) === (operator === '=');
  });
}

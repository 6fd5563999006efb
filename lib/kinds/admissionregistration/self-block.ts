// A webhook that must allow what its own service needs: while it is down these objects are refused,
// and so it stays down. Such a configuration is valid; who writes it is told what avoids that.
import { entriesAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { isEmptySelector, selectorMatches } from '../label-selectors.ts';
import type { Warnings } from '../validator.ts';

/** What a service needs of its own namespace to come up. */
const needed = [
  { group: '', resource: 'pods' },
  { group: 'coordination.{v}', resource: 'leases' },
  { group: 'discovery.{v}', resource: 'endpointslices' },
] as const;

export const selfBlockWarnings: Warnings = ({ object, naming }) => {
  const nameLabel = naming.resolve('{kubernetes}.io/metadata.name');
  return recordsAt(object, 'webhooks').flatMap((webhook, index) => {
    const service = recordAt(recordAt(webhook, 'clientConfig'), 'service');
    const namespace = textAt(service, 'namespace');
    if (service === undefined || textAt(webhook, 'failurePolicy') === 'Ignore') return [];
    if (!isAskedAboutAll(webhook, { [nameLabel]: namespace })) return [];
    const blocked = needed
      .filter(({ group, resource }) => isRuled(webhook, naming.resolve(group), resource))
      .map(({ resource }) => resource);
    if (blocked.length === 0) return [];
    const selector = { key: nameLabel, operator: 'NotIn', values: [namespace] };
    return [
      `webhooks[${index}]: fails closed on the ${listed(blocked)} of namespace ` +
        `${JSON.stringify(namespace)}, where its own service ` +
        `${JSON.stringify(textAt(service, 'name'))} is: while that is down they are refused, ` +
        'and it cannot come up again; what excludes them: ' +
        `namespaceSelector: {"matchExpressions":[${JSON.stringify(selector)}]}`,
    ];
  });
};

/**
 * Whether nothing but the rules decides. Labels of a namespace besides its name are not known here,
 * nor are those of its objects: selectors of these, and conditions, may well exclude them.
 */
function isAskedAboutAll(webhook: JsonObject, labels: JsonObject): boolean {
  const selector = recordAt(webhook, 'namespaceSelector');
  const keys = [
    ...entriesAt(selector, 'matchLabels').map(([key]) => key),
    ...recordsAt(selector, 'matchExpressions').map((one) => textAt(one, 'key')),
  ];
  const isKnown = keys.every((key) => Object.hasOwn(labels, key));
  return (
    isKnown &&
    selectorMatches(selector, labels) &&
    isEmptySelector(recordAt(webhook, 'objectSelector')) &&
    recordsAt(webhook, 'matchConditions').length === 0
  );
}

function isRuled(webhook: JsonObject, group: string, resource: string): boolean {
  return recordsAt(webhook, 'rules').some((rule) => {
    const has = (list: string, ...values: readonly string[]): boolean =>
      textsAt(rule, list).some((one) => one === '*' || values.includes(one));
    return (
      has('operations', 'CREATE', 'UPDATE') &&
      has('apiGroups', group) &&
      has('apiVersions', 'v1') &&
      has('resources', resource, `${resource}/*`, '*/*') &&
      textAt(rule, 'scope') !== 'Cluster'
    );
  });
}

const listed = (names: readonly string[]): string =>
  names.length === 1
    ? names.join()
    : `${names.slice(0, -1).join(', ')} and ${names.slice(-1).join()}`;

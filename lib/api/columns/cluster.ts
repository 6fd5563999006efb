// Columns of the core group's kinds that run nothing, of events and of statuses.
import { entriesAt, flagAt, numberAt, recordAt, recordsAt, textAt } from '../json-access.ts';
import type { JsonObject } from '../type-info.ts';
import type { NamingProfile } from '../vendor.ts';
import { age, ageOf, at, column, name, number, tableOf, text, wide } from './column.ts';
import type { Cell, TableColumns } from './column.ts';
import { keyCount } from './workloads.ts';

type Kind = Readonly<JsonObject>;

const conditionOf = (object: Kind, type: string): JsonObject | undefined =>
  recordsAt(object, 'conditions').find((one) => textAt(one, 'type') === type);

function nodeStatus(object: Kind): string {
  const ready = conditionOf(recordAt(object, 'status') ?? {}, 'Ready');
  const isReady = textAt(ready, 'status') === 'True';
  const word = ready === undefined ? 'Unknown' : isReady ? 'Ready' : 'NotReady';
  return flagAt(recordAt(object, 'spec'), 'unschedulable') ? `${word},SchedulingDisabled` : word;
}

const rolesOf = (profile: NamingProfile): ((object: Kind) => string) => {
  const prefix = profile.resolve('node-role.{kubernetes}.io/');
  const single = profile.resolve('{kubernetes}.io/role');
  return (object) => {
    const roles = new Set<string>();
    for (const [key, value] of entriesAt(recordAt(object, 'metadata'), 'labels')) {
      if (key.startsWith(prefix) && key.length > prefix.length) roles.add(key.slice(prefix.length));
      else if (key === single && typeof value === 'string' && value !== '') roles.add(value);
    }
    return [...roles].sort().join(',') || '<none>';
  };
};

const addressOf =
  (type: string) =>
  (object: Kind): string => {
    const addresses = recordsAt(recordAt(object, 'status'), 'addresses');
    const found = addresses.find((one) => textAt(one, 'type') === type);
    return textAt(found, 'address') || '<none>';
  };

function kernelOf(object: Kind): string {
  const info = recordAt(recordAt(object, 'status'), 'nodeInfo');
  const architecture = textAt(info, 'architecture');
  const version = textAt(info, 'kernelVersion') || '<unknown>';
  return architecture === '' ? version : `${version} (${architecture})`;
}

const node = (profile: NamingProfile): TableColumns =>
  tableOf([
    name,
    column('Status', 'string', nodeStatus, 'Whether the node is ready and takes pods.'),
    column('Roles', 'string', rolesOf(profile), 'Roles that labels give the node.'),
    age,
    column(
      'Version',
      'string',
      text('status.nodeInfo.kubeletVersion'),
      'Release of the agent on the node.',
    ),
    wide(column('Internal-IP', 'string', addressOf('InternalIP'), 'Address inside the network.')),
    wide(column('External-IP', 'string', addressOf('ExternalIP'), 'Address outside the network.')),
    wide(
      column(
        'OS-Image',
        'string',
        text('status.nodeInfo.osImage', '<unknown>'),
        'Operating system of the node.',
      ),
    ),
    wide(column('Kernel-Version', 'string', kernelOf, 'Kernel and processor of the node.')),
    wide(
      column(
        'Container-Runtime',
        'string',
        text('status.nodeInfo.containerRuntimeVersion', '<unknown>'),
        'What runs the containers.',
      ),
    ),
  ]);

function healthOf(object: Kind): string {
  switch (textAt(conditionOf(object, 'Healthy'), 'status')) {
    case 'True':
      return 'Healthy';
    case 'False':
      return 'Unhealthy';
    default:
      return 'Unknown';
  }
}

const healthText =
  (member: string) =>
  (object: Kind): string =>
    textAt(conditionOf(object, 'Healthy'), member);

/** `cpu: 1/2` of each resource that is limited in this way. */
const usageOf =
  (ofLimits: boolean) =>
  (object: Kind): string => {
    const status = recordAt(object, 'status');
    const used = recordAt(status, 'used');
    const hard = recordAt(status, 'hard');
    return Object.keys(hard ?? {})
      .filter((resource) => resource.startsWith('limits.') === ofLimits)
      .map((resource) => {
        const amount = textAt(used, resource) || '0';
        return `${resource}: ${amount}/${textAt(hard, resource)}`;
      })
      .sort()
      .join(', ');
  };

// The two groups' events hold the same facts under different names.
const firstSeen = (event: Kind): Cell =>
  ageOf(at(event, 'firstTimestamp')) ??
  ageOf(at(event, 'deprecatedFirstTimestamp')) ??
  ageOf(at(event, 'eventTime')) ??
  '<unknown>';

function lastSeen(event: Kind): Cell {
  const series = recordAt(event, 'series');
  if (series !== undefined) return ageOf(at(series, 'lastObservedTime')) ?? '<unknown>';
  return (
    ageOf(at(event, 'lastTimestamp')) ??
    ageOf(at(event, 'deprecatedLastTimestamp')) ??
    firstSeen(event)
  );
}

const involvedOf = (event: Kind): JsonObject | undefined =>
  recordAt(event, 'involvedObject') ?? recordAt(event, 'regarding');

function eventObject(event: Kind): string {
  const involved = involvedOf(event);
  const kind = textAt(involved, 'kind').toLowerCase();
  const objectName = textAt(involved, 'name');
  return objectName === '' ? kind : `${kind}/${objectName}`;
}

function sourceOf(event: Kind): string {
  const source = recordAt(event, 'source') ?? recordAt(event, 'deprecatedSource');
  const reporter = textAt(event, 'reportingComponent') || textAt(event, 'reportingController');
  const component = textAt(source, 'component') || reporter;
  const host = textAt(source, 'host') || textAt(event, 'reportingInstance');
  return host === '' ? component : `${component}, ${host}`;
}

function timesSeen(event: Kind): number {
  const series = recordAt(event, 'series');
  const counted = numberAt(event, 'count') ?? numberAt(event, 'deprecatedCount') ?? 0;
  return series === undefined ? Math.max(counted, 1) : (numberAt(series, 'count') ?? 0);
}

const event = tableOf([
  column('Last Seen', 'string', lastSeen, 'Time since the event happened last.'),
  column('Type', 'string', text('type'), 'Whether the event is a warning.'),
  column('Reason', 'string', text('reason'), 'One word for what happened.'),
  column('Object', 'string', eventObject, 'Object that the event is about.'),
  wide(
    column(
      'Subobject',
      'string',
      (one) => textAt(involvedOf(one), 'fieldPath'),
      'Part of the object that it is about.',
    ),
  ),
  wide(column('Source', 'string', sourceOf, 'Component that reported it.')),
  column(
    'Message',
    'string',
    (one) => (textAt(one, 'message') || textAt(one, 'note')).trim(),
    'What happened, in a sentence.',
  ),
  wide(column('First Seen', 'string', firstSeen, 'Time since the event happened first.')),
  wide(column('Count', 'string', timesSeen, 'How often the event happened.')),
  wide(name),
]);

const coreColumns: Readonly<Record<string, TableColumns>> = {
  'core/Namespace': tableOf([
    name,
    column('Status', 'string', text('status.phase'), 'Whether it is in use or ending.'),
    age,
  ]),
  'core/ComponentStatus': tableOf([
    name,
    column('Status', 'string', healthOf, 'Whether the component works.'),
    column('Message', 'string', healthText('message'), 'What the component says.'),
    column('Error', 'string', healthText('error'), 'Why the component could not be asked.'),
  ]),
  'core/ConfigMap': tableOf([
    name,
    column('Data', 'string', (one) => keyCount(one, 'data', 'binaryData'), 'Number of entries.'),
    age,
  ]),
  'core/Secret': tableOf([
    name,
    column('Type', 'string', text('type'), 'What the secret is for.'),
    column('Data', 'string', (one) => keyCount(one, 'data'), 'Number of entries.'),
    age,
  ]),
  'core/ServiceAccount': tableOf([name, age]),
  'core/ResourceQuota': tableOf([
    name,
    column('Request', 'string', usageOf(false), 'What is used and allowed of each resource.'),
    column('Limit', 'string', usageOf(true), 'What limits add up to, and may.'),
    age,
  ]),
};

const leaseColumns: Readonly<Record<string, TableColumns>> = {
  'coordination/Lease': tableOf([
    name,
    column('Holder', 'string', text('spec.holderIdentity'), 'Who holds the lease.'),
    age,
  ]),
  'coordination/LeaseCandidate': tableOf([
    name,
    column('LeaseName', 'string', text('spec.leaseName'), 'Lease that it could hold.'),
    column('BinaryVersion', 'string', text('spec.binaryVersion'), 'Release of the candidate.'),
    column(
      'EmulationVersion',
      'string',
      text('spec.emulationVersion'),
      'Release that it behaves like.',
    ),
    age,
  ]),
};

const flowColumns: Readonly<Record<string, TableColumns>> = {
  'flowcontrol/FlowSchema': tableOf([
    name,
    column(
      'PriorityLevel',
      'string',
      text('spec.priorityLevelConfiguration.name'),
      'Priority level of the requests.',
    ),
    column(
      'MatchingPrecedence',
      'string',
      number('spec.matchingPrecedence'),
      'Order in which schemas are tried, lowest first.',
    ),
    column(
      'DistinguisherMethod',
      'string',
      text('spec.distinguisherMethod.type', '<none>'),
      'How flows are told apart.',
    ),
    age,
    column(
      'MissingPL',
      'string',
      (one) => textAt(conditionOf(recordAt(one, 'status') ?? {}, 'Dangling'), 'status') || '?',
      'Whether its priority level does not exist.',
    ),
  ]),
  'flowcontrol/PriorityLevelConfiguration': tableOf([
    name,
    column('Type', 'string', text('spec.type'), 'Whether requests are limited.'),
    column(
      'NominalConcurrencyShares',
      'string',
      number('spec.limited.nominalConcurrencyShares', '<none>'),
      'Part of the server that the level gets.',
    ),
    column('Queues', 'string', queuing('queues'), 'Number of queues.'),
    column('HandSize', 'string', queuing('handSize'), 'Queues that one flow may use.'),
    column('QueueLengthLimit', 'string', queuing('queueLengthLimit'), 'Requests in one queue.'),
    age,
  ]),
};

export const clusterColumns = (profile: NamingProfile): Readonly<Record<string, TableColumns>> => ({
  'core/Node': node(profile),
  ...coreColumns,
  'core/Event': event,
  'events/Event': event,
  'meta/Status': tableOf([
    column('Status', 'string', text('status'), 'Whether the request succeeded.'),
    column('Reason', 'string', text('reason'), 'One word for why not.'),
    column('Message', 'string', text('message'), 'What happened, in a sentence.'),
  ]),
  ...leaseColumns,
  ...flowColumns,
});

function queuing(member: string): (object: Kind) => Cell {
  return number(`spec.limited.limitResponse.queuing.${member}`, '<none>');
}

// Columns of nodes.
import { column, wide, tableOf, text, name, age } from '../../api/column.ts';
import type { TableColumns } from '../../api/type-info.ts';
import { textAt, flagAt, recordAt, recordsAt, entriesAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';

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

export const nodeColumns = (profile: NamingProfile): TableColumns =>
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

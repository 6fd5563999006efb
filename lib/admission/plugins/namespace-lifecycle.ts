// NamespaceLifecycle: objects are written only into namespaces that exist, and created only into
// those that do not end; some namespaces are never deleted. The store itself is asked for what
// memory does not know yet, and for namespaces whose deletion this replica has just admitted.
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { forbidden, notFound, StatusError } from '../../base/status.ts';
import { ownText } from '../../base/text-memo.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

const namespacesRef = { group: '', resource: 'namespaces' };

export function namespaceLifecycle(
  parts: Pick<PluginParts, 'objects' | 'naming' | 'clock'>,
): AdmissionPlugin | undefined {
  const { naming } = parts;
  const namespaces = parts.objects('', 'namespaces');
  if (namespaces === undefined) return undefined;
  const kept = new Set(['default', naming.systemNamespace, naming.publicNamespace]);
  const deleted = new RecentNames(parts.clock);
  return {
    name: 'NamespaceLifecycle',
    sideEffects: false,
    handles: (request) =>
      request.operation !== 'CONNECT' &&
      (isNamespace(request) || (request.namespace !== '' && !isQuestion(request))),
    mutate(request, object, signal) {
      const name = request.namespace;
      if (name === '' || isNamespace(request)) return false;
      const shown = request.name === '' ? (object.metadata?.generateName ?? '') : request.name;
      const key = { namespace: '', name };
      const known = deleted.has(name) ? undefined : namespaces.view.peek(key);
      // Memory may be behind: it does not refuse.
      if (known !== undefined && !isRefused(request, known)) return false;
      const { operation, resource } = request;
      const write = { operation, resource, namespace: name, name: shown };
      return admitLater(write, namespaces.lookUp(key, signal));
    },
    beforeDelete(request) {
      if (!isNamespace(request)) return;
      if (kept.has(request.name)) {
        throw forbidden(request.resource, request.name, 'this namespace may not be deleted');
      }
      if (!request.dryRun) deleted.add(request.name);
    },
  };
}

export const isNamespace = ({ resource }: AdmissionRequest): boolean =>
  resource.group === '' && resource.resource === 'namespaces';

/** Who may do what is asked about namespaces that do not exist, too. */
const isQuestion = ({ resource }: AdmissionRequest): boolean =>
  resource.resource === 'localsubjectaccessreviews';

type Write = Pick<AdmissionRequest, 'operation' | 'resource' | 'namespace' | 'name'>;

/** Nothing is changed. */
async function admitLater(request: Write, found: Promise<Item | undefined>): Promise<false> {
  const namespace = await found;
  if (namespace === undefined) throw notFound(namespacesRef, request.namespace);
  if (isRefused(request, namespace)) throw terminating(request);
  return false;
}

const isRefused = ({ operation }: Pick<Write, 'operation'>, namespace: Item): boolean =>
  operation === 'CREATE' && isTerminating(namespace);

/** One that cannot be read is not known to end: its content stays usable. */
const isTerminating = (item: Item): boolean => !item.corrupted && isDeleting(item.object());

function terminating({ resource, namespace, name }: Write): StatusError {
  const { code, reason, message, details } = forbidden(
    resource,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new StatusError(code, reason, message, { ...details, causes: [cause] });
}

/** Names of the last seconds, the oldest forgotten first. */
class RecentNames {
  readonly #untilMs = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(name: string): void {
    this.#untilMs.delete(name); // so that the map stays in the order of time
    this.#untilMs.set(ownText(name), this.#clock.monotonicMs() + limits.deletedNamespaceLookUpMs);
    for (const [oldest, untilMs] of this.#untilMs) {
      const isFull = this.#untilMs.size > limits.deletedNamespacesMax;
      if (!isFull && untilMs > this.#clock.monotonicMs()) break;
      this.#untilMs.delete(oldest);
    }
  }

  has(name: string): boolean {
    const untilMs = this.#untilMs.get(name);
    return untilMs !== undefined && untilMs > this.#clock.monotonicMs();
  }
}

// NamespaceLifecycle: objects are written only into namespaces that exist, and created only into
// those that do not end; some namespaces are never deleted. The store itself is asked for what
// memory does not know yet, and for namespaces whose deletion this replica has just admitted.
import type { NamingProfile } from '../../api/vendor.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { forbidden, notFound, StatusError } from '../../base/status.ts';
import { ownText } from '../../base/text-memo.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';

export interface NamespaceLifecycleOptions {
  readonly namespaces: Pick<ResourceView, 'peek'>;
  /** Reads the store itself, past the memory. */
  readonly lookUp: (name: string, signal: AbortSignal) => Promise<Item | undefined>;
  readonly naming: NamingProfile;
  readonly clock: Clock;
}

const namespacesRef = { group: '', resource: 'namespaces' };

export function namespaceLifecycle(options: NamespaceLifecycleOptions): AdmissionPlugin {
  const { naming, namespaces } = options;
  const kept = new Set(['default', naming.systemNamespace, naming.publicNamespace]);
  const deleted = new RecentNames(options.clock);
  return {
    name: 'NamespaceLifecycle',
    sideEffects: false,
    handles: (request) => request.namespace !== '' || isNamespace(request),
    mutate(request, object, signal) {
      const name = request.namespace;
      if (name === '') return false;
      const shown = request.name === '' ? (object.metadata?.generateName ?? '') : request.name;
      const known = deleted.has(name) ? undefined : namespaces.peek({ namespace: '', name });
      if (known !== undefined) return admit({ ...request, name: shown }, known);
      return admitLater({ ...request, name: shown }, options.lookUp(name, signal));
    },
    validate(request) {
      if (request.operation !== 'DELETE' || !isNamespace(request)) return;
      if (kept.has(request.name)) {
        throw forbidden(request.resource, request.name, 'this namespace may not be deleted');
      }
      if (!request.dryRun) deleted.add(request.name);
    },
  };
}

const isNamespace = ({ resource }: AdmissionRequest): boolean =>
  resource.group === '' && resource.resource === 'namespaces';

async function admitLater(
  request: AdmissionRequest,
  found: Promise<Item | undefined>,
): Promise<false> {
  const namespace = await found;
  if (namespace === undefined) throw notFound(namespacesRef, request.namespace);
  return admit(request, namespace);
}

/** Nothing is changed. */
function admit(request: AdmissionRequest, namespace: Item): false {
  if (request.operation === 'CREATE' && isTerminating(namespace)) throw terminating(request);
  return false;
}

/** One that cannot be read is not known to end: its content stays usable. */
const isTerminating = (item: Item): boolean => !item.corrupted && isDeleting(item.object());

function terminating({ resource, namespace, name }: AdmissionRequest): StatusError {
  const { code, reason, message, details } = forbidden(
    resource,
    name,
    `namespace ${namespace} is being terminated: nothing new can be created in it`,
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

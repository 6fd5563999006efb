// What services have that is not claimed for them, and what is claimed for services that have it
// not: an older store, another server or a hand. Each repair is one transaction that depends on the
// service as it was looked at.
import { canonicalIp, ipFamily, ipNumber } from '../../api/ip-address.ts';
import { recordAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import { isHeadless, needsClusterIp } from '../../kinds/core/service-types.ts';
import type { Storage, StoredItem } from '../../storage-etcd/storage.ts';
import { holderOf } from './address-pool.ts';
import { rangeAround } from './address-ranges.ts';
import { companyOf, isSameHolder } from './claims.ts';
import type { Claim, Holder } from './claims.ts';
import { claimedAddresses, claimedPorts } from './service-companions.ts';
import type { ServicePools } from './service-companions.ts';

/** What is wrong with a service: reason and message of an event, as Kubernetes has them. */
export interface Fault {
  readonly reason: string;
  readonly message: string;
}

/** `again`: something has changed meanwhile, or it is too early to say. */
export type RepairOutcome = 'done' | 'again';

export interface ClaimRepairOptions {
  readonly pools: ServicePools;
  readonly storage: Storage;
  /** Of services. */
  readonly view: Pick<ResourceView, 'peek' | 'itemOf'>;
  readonly keyOf: (holder: Holder) => string;
}

/** A service, or that there is none, as a transaction can depend on it. */
interface Seen {
  readonly key: string;
  readonly item: Item | undefined;
}

export class ClaimRepair {
  readonly #options: ClaimRepairOptions;
  /** Ports that were seen to be claimed by their service, since all were looked at. */
  #verified = new Map<number, Holder>();

  constructor(options: ClaimRepairOptions) {
    this.#options = options;
  }

  /** Claims what the service has and nobody else does; `tell` hears of each fault. */
  async repairService(
    holder: Holder,
    tell: (service: Item, fault: Fault) => void,
    signal: AbortSignal,
  ): Promise<RepairOutcome> {
    const item = this.#options.view.peek(holder);
    if (item === undefined || item.corrupted) return 'done';
    const spec = recordAt(item.object(), 'spec') ?? {};
    const faults: Fault[] = [];
    const claims = [
      ...(await this.#missingAddresses(spec, holder, faults, signal)),
      ...(await this.#missingPorts(spec, holder, faults, signal)),
    ];
    const isDone = await this.#commit({ key: this.#options.keyOf(holder), item }, claims, signal);
    if (!isDone) return 'again';
    for (const fault of faults) tell(item, fault);
    return 'done';
  }

  /** Removes an address that was given out here to a service that does not have it. */
  async repairAddress(name: string, nowMs: number, signal: AbortSignal): Promise<RepairOutcome> {
    const { addresses } = this.#options.pools;
    const known = addresses.known(name);
    if (known === undefined || known.corrupted || !addresses.isOwn(known)) return 'done';
    const holder = holderOf(known);
    const has = (service: Item | undefined): boolean => hasAddress(service, name);
    if (holder !== undefined && has(this.#options.view.peek(holder))) return 'done';
    const made = Date.parse(known.object().metadata?.creationTimestamp ?? '');
    if (nowMs - made < limits.orphanedAddressGraceMs) return 'again';
    const seen = holder === undefined ? undefined : await this.#seen(holder, signal);
    if (has(seen?.item)) return 'done';
    const key = addresses.keyOf(name);
    const claim = removal(key, known.revision);
    return (await this.#commit(seen, [claim], signal)) ? 'done' : 'again';
  }

  /** Removes the claims of ports that no service has. */
  async repairPorts(signal: AbortSignal): Promise<void> {
    const { pools, view } = this.#options;
    const verified = new Map<number, Holder>();
    for (const { port, holder, item } of await pools.ports.claims(signal)) {
      const known = holder === undefined ? undefined : view.peek(holder);
      if (!hasPort(known, port)) {
        const seen = holder === undefined ? undefined : await this.#seen(holder, signal);
        if (!hasPort(seen?.item, port)) {
          await this.#commit(seen, [removal(item.key, item.modRevision)], signal);
          continue;
        }
      }
      if (holder !== undefined) verified.set(port, holder);
    }
    this.#verified = verified;
  }

  async #missingAddresses(
    spec: JsonObject,
    holder: Holder,
    faults: Fault[],
    signal: AbortSignal,
  ): Promise<readonly Claim[]> {
    if (!needsClusterIp(spec) || isHeadless(spec)) return [];
    const { addresses, ranges } = this.#options.pools;
    const claims: Claim[] = [];
    for (const text of textsAt(spec, 'clusterIPs')) {
      const address = canonicalIp(text);
      if (address === undefined) {
        const message = `Cluster IP ${text} is not a valid IP; please recreate Service`;
        faults.push({ reason: 'ClusterIPNotValid', message });
        continue;
      }
      const known = addresses.known(address);
      const isFine = known !== undefined && isSameHolder(holderOf(known), holder);
      if (isFine && addresses.isOwn(known)) continue;
      const family = ipFamily(address) ?? 'IPv4';
      const shown = `Cluster IP [${family}]: ${address}`;
      if (rangeAround(await ranges.all(signal), family, ipNumber(address)) === undefined) {
        const where = 'is not within any configured Service CIDR';
        const message = `${shown} ${where}; please recreate service`;
        faults.push({ reason: 'ClusterIPOutOfRange', message });
        continue;
      }
      const stored = await addresses.stored(address, signal);
      const other = stored && holderOf(stored);
      if (stored === undefined) {
        const message = `${shown} is not allocated; repairing`;
        faults.push({ reason: 'ClusterIPNotAllocated', message });
      } else if (isSameHolder(other, holder)) {
        if (addresses.isOwn(stored)) continue;
      } else if (
        other !== undefined &&
        hasAddress((await this.#seen(other, signal)).item, address)
      ) {
        const message = `${shown} was assigned to multiple services; please recreate service`;
        faults.push({ reason: 'ClusterIPAlreadyAllocated', message });
        continue;
      } else {
        const message = `${shown} has a wrong reference; repairing`;
        faults.push({ reason: 'ClusterIPNotAllocated', message });
      }
      claims.push(addresses.claimOver(address, holder, stored?.revision ?? 0));
    }
    return claims;
  }

  async #missingPorts(
    spec: JsonObject,
    holder: Holder,
    faults: Fault[],
    signal: AbortSignal,
  ): Promise<readonly Claim[]> {
    const { ports } = this.#options.pools;
    const claims: Claim[] = [];
    for (const port of claimedPorts(spec)) {
      if (isSameHolder(this.#verified.get(port), holder)) continue;
      const text = `Port ${String(port)}`;
      if (!ports.isInRange(port)) {
        const { first, count } = ports.range;
        const range = `${String(first)}-${String(first + count - 1)}`;
        const message = `${text} is not within the port range ${range}; please recreate service`;
        faults.push({ reason: 'PortOutOfRange', message });
        continue;
      }
      const stored = await ports.stored(port, signal);
      const other = stored?.holder;
      if (isSameHolder(other, holder)) {
        this.#verified.set(port, holder);
        continue;
      }
      if (other !== undefined && hasPort((await this.#seen(other, signal)).item, port)) {
        const message = `${text} was assigned to multiple services; please recreate service`;
        faults.push({ reason: 'PortAlreadyAllocated', message });
        continue;
      }
      faults.push({ reason: 'PortNotAllocated', message: `${text} is not allocated; repairing` });
      claims.push(ports.claim(port, holder, stored?.item.modRevision ?? 0));
    }
    return claims;
  }

  /** As the store has it now. */
  async #seen(holder: Holder, signal: AbortSignal): Promise<Seen> {
    const { storage, view, keyOf } = this.#options;
    const key = keyOf(holder);
    const { item }: { item: StoredItem | undefined } = await storage.get(key, signal);
    return { key, item: item && view.itemOf(item) };
  }

  /** False: the service, or a key, is another one now. */
  async #commit(
    service: Seen | undefined,
    claims: readonly Claim[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const company = companyOf(claims);
    if (company === undefined) return true;
    const { conditions, changes } = company;
    const own = service && { key: service.key, expected: service.item?.revision ?? 0 };
    const all = own === undefined ? conditions : [own, ...conditions];
    return (await this.#options.storage.transact({ conditions: all, changes }, signal)).ok;
  }
}

const removal = (key: string, expected: number): Claim => ({
  condition: { key, expected },
  change: { type: 'delete', key },
  lost: () => undefined,
});

function hasAddress(service: Item | undefined, address: string): boolean {
  if (service === undefined) return false;
  // Nobody can tell: it keeps what it has.
  if (service.corrupted) return true;
  return claimedAddresses(recordAt(service.object(), 'spec') ?? {}).includes(address);
}

function hasPort(service: Item | undefined, port: number): boolean {
  if (service === undefined) return false;
  if (service.corrupted) return true;
  return claimedPorts(recordAt(service.object(), 'spec') ?? {}).includes(port);
}

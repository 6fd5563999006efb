// Cluster IPs: an IPAddress object for each that is in use. What is free is read in memory, which
// is a guess; the store is asked before anything is refused.
import { randomUUID } from 'node:crypto';
import { ipFamily, ipNumber, ipText } from '../../api/ip-address.ts';
import type { IpFamily } from '../../api/ip-address.ts';
import { recordIn, textAt } from '../../api/json-access.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { formatTime } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { encodeStored } from '../../codec/stored-form.ts';
import type { StoredMedia } from '../../codec/stored-media.ts';
import type { Keyspace } from '../../storage-etcd/keys.ts';
import { pagesOf } from '../../storage-etcd/range.ts';
import type { Revision, Storage } from '../../storage-etcd/storage.ts';
import { isUsable, rangeAround } from './address-ranges.ts';
import type { AddressRange, AddressRanges } from './address-ranges.ts';
import { chosenFrom } from './bands.ts';
import type { Random } from './bands.ts';
import { isSameHolder } from './claims.ts';
import type { Claim, Holder } from './claims.ts';

export interface AddressPoolOptions {
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly media: Pick<StoredMedia, 'write'>;
  readonly naming: NamingProfile;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
  readonly ranges: AddressRanges;
  /** In their storage versions. */
  readonly addressResource: ResourceInfo;
  readonly rangeResource: ResourceInfo;
  readonly view: Pick<ResourceView, 'peek' | 'itemOf'>;
}

interface Asking {
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

export class AddressPool {
  readonly #options: AddressPoolOptions;
  /** Chosen here, or lost to others: memory may not show them yet. */
  readonly #taken = new Set<string>();
  /** The object of the range that an address was last found good by. */
  readonly #rangeOf = new Map<string, Pick<Item, 'name' | 'revision'>>();
  /** Memory showed another version of them than the store had. */
  readonly #doubtful = new Set<string>();

  constructor(options: AddressPoolOptions) {
    this.#options = options;
  }

  get families(): readonly IpFamily[] {
    return this.#options.ranges.families;
  }

  /** An address that seems free; undefined: none is. */
  async choose(family: IpFamily, { dryRun, signal }: Asking): Promise<string | undefined> {
    const { ranges } = this.#options;
    let usable = await ranges.current(signal);
    let address = this.#free(
      family,
      usable,
      (name) => this.#taken.has(name) || this.known(name) !== undefined,
    );
    if (address === undefined) {
      const stored = await this.#stored(signal);
      this.#taken.clear();
      usable = await ranges.current(signal, true);
      address = this.#free(family, usable, (name) => stored.has(name));
    }
    if (address === undefined || dryRun) return address;
    // Others of this replica choose another one meanwhile.
    remember(this.#taken, address);
    this.#restOn(usable, address);
    return address;
  }

  /** Why a stated address cannot be had; undefined: it can. `address` is canonical. */
  async refusalOf(address: string, { dryRun, signal }: Asking): Promise<string | undefined> {
    const { ranges } = this.#options;
    let usable = await ranges.current(signal);
    if (rangeRefusal(address, usable) !== undefined) {
      usable = await ranges.current(signal, true);
      const refusal = rangeRefusal(address, usable);
      if (refusal !== undefined) return refusal;
    }
    const seemsFree = !this.#taken.has(address) && this.known(address) === undefined;
    if (!seemsFree || dryRun) {
      if ((await this.stored(address, signal)) !== undefined) {
        return 'provided IP is already allocated';
      }
      this.#taken.delete(address);
    }
    if (!dryRun) this.#restOn(usable, address);
    return undefined;
  }

  /** The object, and that its range is as it was when the address was found good. */
  claim(address: string, holder: Holder): readonly Claim[] {
    const { ranges, rangeResource, keyspace } = this.#options;
    const own = this.claimOver(address, holder, 0);
    const range = this.#rangeOf.get(address);
    if (range === undefined) return [own];
    const key = keyspace.key(rangeResource.storagePrefix, '', range.name);
    const condition = { key, expected: range.revision };
    return [own, { condition, lost: () => ranges.doubt() }];
  }

  /** A new object in place of the version `expected`; 0: there is none. */
  claimOver(address: string, holder: Holder, expected: Revision): Claim {
    const { addressResource, media } = this.#options;
    const object = addressObject(address, holder, this.#options);
    const { value } = encodeStored(object, addressResource);
    const key = this.keyOf(address);
    return {
      condition: { key, expected },
      change: { type: 'put', key, value: media.write(object, addressResource, value) },
      lost: () => remember(this.#taken, address),
    };
  }

  /** As the store has it now. */
  async stored(address: string, signal: AbortSignal): Promise<Item | undefined> {
    const { item } = await this.#options.storage.get(this.keyOf(address), signal);
    return item && this.#options.view.itemOf(item);
  }

  /** As memory has it. */
  known(address: string): Item | undefined {
    return this.#options.view.peek({ namespace: '', name: address });
  }

  /** It has the labels of an address that was given out here. */
  isOwn({ labels }: Pick<Item, 'labels'>): boolean {
    const [label, allocator] = allocatorLabel(this.#options.naming);
    return labels[label] === allocator;
  }

  /** undefined: it is not this holder's. */
  async release(address: string, holder: Holder, signal: AbortSignal): Promise<Claim | undefined> {
    const item = await this.#ofHolder(address, holder, signal);
    if (item === undefined) return undefined;
    this.#taken.delete(address);
    const key = this.keyOf(address);
    return {
      condition: { key, expected: item.revision },
      change: { type: 'delete', key },
      lost: () => remember(this.#doubtful, address),
    };
  }

  keyOf(address: string): string {
    const { keyspace, addressResource } = this.#options;
    return keyspace.key(addressResource.storagePrefix, '', address);
  }

  /** Nothing is remembered of a range of the flag: it does not go. */
  #restOn(usable: readonly AddressRange[], address: string): void {
    const family = ipFamily(address) ?? 'IPv4';
    const number = ipNumber(address);
    const range = usable.find((one) => isUsable([one], family, number))?.item;
    if (range === undefined) {
      this.#rangeOf.delete(address);
      return;
    }
    if (this.#rangeOf.size >= limits.claimsRemembered) this.#rangeOf.clear();
    this.#rangeOf.set(address, { name: range.name, revision: range.revision });
  }

  async #ofHolder(address: string, holder: Holder, signal: AbortSignal): Promise<Item | undefined> {
    const isOwn = (item: Item | undefined): item is Item =>
      item !== undefined && isSameHolder(holderOf(item), holder);
    if (!this.#doubtful.delete(address)) {
      const known = this.known(address);
      if (isOwn(known)) return known;
    }
    const stored = await this.stored(address, signal);
    return isOwn(stored) ? stored : undefined;
  }

  #free(
    family: IpFamily,
    ranges: readonly AddressRange[],
    isTaken: (name: string) => boolean,
  ): string | undefined {
    for (const { network, bands } of ranges) {
      if (network.family !== family) continue;
      const number = chosenFrom(bands, (one) => isTaken(ipText(one, family)), this.#options.random);
      if (number !== undefined) return ipText(number, family);
    }
    return undefined;
  }

  /** The names of all addresses that the store has. */
  async #stored(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { storage, keyspace, addressResource } = this.#options;
    const prefix = keyspace.resourcePrefix(addressResource.storagePrefix);
    const names = new Set<string>();
    for await (const { items } of pagesOf(storage, { prefix }, signal)) {
      for (const { key } of items) names.add(key.slice(prefix.length));
    }
    return names;
  }
}

/** The service that an IPAddress names; undefined: it is something else's. */
export function holderOf(item: Item): Holder | undefined {
  if (item.corrupted) return undefined;
  const parent = recordIn(item.object(), 'spec', 'parentRef');
  if (textAt(parent, 'group') !== '' || textAt(parent, 'resource') !== 'services') {
    return undefined;
  }
  return { namespace: textAt(parent, 'namespace'), name: textAt(parent, 'name') };
}

const allocatorLabel = (naming: NamingProfile): readonly [string, string] => [
  naming.resolve('ipaddress.{kubernetes}.io/managed-by'),
  naming.resolve('ipallocator.{v}'),
];

/** A new IPAddress. */
function addressObject(
  address: string,
  { namespace, name }: Holder,
  {
    naming,
    clock,
    addressResource: { kind, hasGeneration },
  }: Pick<AddressPoolOptions, 'naming' | 'clock' | 'addressResource'>,
): ApiObject {
  const [label, allocator] = allocatorLabel(naming);
  const familyLabel = naming.resolve('ipaddress.{kubernetes}.io/ip-family');
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
    metadata: {
      name: address,
      uid: randomUUID(),
      creationTimestamp: formatTime(clock.nowMs()),
      ...(hasGeneration ? { generation: 1 } : {}),
      labels: { [familyLabel]: ipFamily(address) ?? 'IPv4', [label]: allocator },
    },
    spec: { parentRef: { resource: 'services', namespace, name } },
  };
}

function rangeRefusal(address: string, ranges: readonly AddressRange[]): string | undefined {
  const family = ipFamily(address) ?? 'IPv4';
  const number = ipNumber(address);
  if (isUsable(ranges, family, number)) return undefined;
  const range = rangeAround(ranges, family, number);
  if (range === undefined) return 'the provided network does not match the current range';
  const rule = `The range of valid IPs is ${range.cidr}`;
  return `the provided IP (${address}) is not in the valid range. ${rule}`;
}

/** What is forgotten costs a lost race. */
function remember(names: Set<string>, name: string): void {
  if (names.size >= limits.claimsRemembered) names.clear();
  names.add(name);
}

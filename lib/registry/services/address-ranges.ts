// The networks that cluster IPs come from: those of all ServiceCIDR objects that are ready, and the
// flag's as long as the object that stands for it is not there.
import { parseCidr } from '../../api/ip-address.ts';
import type { IpFamily, Network } from '../../api/ip-address.ts';
import { recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Item, ResourceView } from '../../cacher/resource-view.ts';
import { isDeleting } from '../../codec/object-meta.ts';
import { addressBands, holds } from './bands.ts';
import type { Bands } from './bands.ts';

export interface AddressRange {
  readonly cidr: string;
  readonly network: Network;
  readonly bands: Bands;
  /** The object that has it; undefined: it is the flag's. */
  readonly item: Item | undefined;
}

/** The object of the flag's networks: made, and made again, by the server. */
const defaultRangeName = (naming: NamingProfile): string => naming.resolve('{kubernetes}');

export interface AddressRangesOptions {
  readonly view: Pick<ResourceView, 'list'>;
  readonly naming: NamingProfile;
  /** `--service-cluster-ip-range`. */
  readonly clusterIpRanges: readonly string[];
}

export class AddressRanges {
  readonly #options: AddressRangesOptions;
  readonly #byFlag: readonly AddressRange[];
  readonly #defaultName: string;
  #isDoubtful = false;

  constructor(options: AddressRangesOptions) {
    this.#options = options;
    this.#byFlag = options.clusterIpRanges.flatMap((cidr) => rangeOf(cidr, undefined) ?? []);
    this.#defaultName = defaultRangeName(options.naming);
  }

  /** Those that the flag names, the default first. */
  get families(): readonly IpFamily[] {
    return this.#byFlag.map(({ network }) => network.family);
  }

  /** Memory may be old: the next question goes to the store. */
  doubt(): void {
    this.#isDoubtful = true;
  }

  /** Those of the default object, or of the flag, first. `isFresh`: as the store has them now. */
  async current(signal: AbortSignal, isFresh = false): Promise<readonly AddressRange[]> {
    const mode = isFresh || this.#isDoubtful ? 'latest' : 'any';
    this.#isDoubtful = false;
    return this.#listed(mode, isGivenOut, signal);
  }

  /** With those that nothing is given out of any more, or not yet. */
  async all(signal: AbortSignal): Promise<readonly AddressRange[]> {
    return this.#listed('latest', () => true, signal);
  }

  async #listed(
    mode: 'any' | 'latest',
    isListed: (item: Item) => boolean,
    signal: AbortSignal,
  ): Promise<readonly AddressRange[]> {
    const { items } = await this.#options.view.list({}, { mode }, { limitCount: 0 }, signal);
    const rangesOf = (item: Item): readonly AddressRange[] =>
      isListed(item) ? rangesIn(item) : [];
    const isDefault = ({ name }: Item): boolean => name === this.#defaultName;
    const first = items.find(isDefault);
    return [
      ...(first === undefined ? this.#byFlag : rangesOf(first)),
      ...items.flatMap((item) => (isDefault(item) ? [] : rangesOf(item))),
    ];
  }
}

/** What may be given out of these ranges. */
export const isUsable = (
  ranges: readonly AddressRange[],
  family: IpFamily,
  number: bigint,
): boolean =>
  ranges.some(({ network, bands }) => network.family === family && holds(bands, number));

/** The number may be the network's own, or the one for broadcasts. */
export function rangeAround(
  ranges: readonly AddressRange[],
  family: IpFamily,
  number: bigint,
): AddressRange | undefined {
  return ranges.find(({ network }) => {
    if (network.family !== family) return false;
    const shift = BigInt((family === 'IPv4' ? 32 : 128) - network.prefixLength);
    return number >> shift === network.first >> shift;
  });
}

/** Without a word on it a range is ready: then no controller looks after ranges. */
function isGivenOut(item: Item): boolean {
  const object = item.object();
  if (isDeleting(object)) return false;
  const conditions = recordsAt(recordAt(object, 'status'), 'conditions');
  const ready = conditions.find((condition) => textAt(condition, 'type') === 'Ready');
  return ready === undefined || textAt(ready, 'status') === 'True';
}

const rangesIn = (item: Item): readonly AddressRange[] =>
  textsAt(recordAt(item.object(), 'spec'), 'cidrs').flatMap((cidr) => rangeOf(cidr, item) ?? []);

function rangeOf(cidr: string, item: Item | undefined): AddressRange | undefined {
  const network = parseCidr(cidr);
  if (network === undefined) return undefined;
  return { cidr, network, bands: addressBands(network), item };
}

// The two parts of a range: what is chosen is taken from the upper one first, so that what users
// state themselves, by custom from the beginning of the range, is seldom taken.
import { randomBytes } from 'node:crypto';
import type { Network } from '../../api/ip-address.ts';

/** Numbers from `first` on: of addresses, or ports. */
export interface Band {
  readonly first: bigint;
  readonly count: bigint;
}

/** In the order in which they are chosen from. */
export type Bands = readonly Band[];

/** A number from 0 to below `count`. */
export type Random = (count: bigint) => bigint;

/** Bits that are thrown away make all numbers as likely. */
export const random: Random = (count) => {
  const number = BigInt(`0x${randomBytes(16).toString('hex')}`);
  return number % count;
};

/** How much of a range is kept for what users state: a part of it, within bounds. */
interface StaticPart {
  readonly min: bigint;
  readonly max: bigint;
  readonly divisor: bigint;
}

const staticAddresses: StaticPart = { min: 16n, max: 256n, divisor: 16n };
const staticPorts: StaticPart = { min: 16n, max: 128n, divisor: 32n };

/** `count`: of the whole range, with what of it cannot be used. */
function staticCount(count: bigint, { min, max, divisor }: StaticPart): bigint {
  if (count <= min) return 0n;
  const part = count / divisor;
  if (part < min) return min;
  return part > max ? max : part;
}

/**
 * All addresses but the network's own, and in IPv4 but the one for broadcasts, as Kubernetes
 * divides them.
 */
export function addressBands({ family, first, prefixLength }: Network): Bands {
  const all = 1n << BigInt((family === 'IPv4' ? 32 : 128) - prefixLength);
  const usable = all - (family === 'IPv4' ? 2n : 1n);
  return divided(first + 1n, usable, staticCount(all, staticAddresses));
}

export interface PortRange {
  readonly first: number;
  readonly count: number;
}

export const portBands = ({ first, count }: PortRange): Bands =>
  divided(BigInt(first), BigInt(count), staticCount(BigInt(count), staticPorts));

function divided(first: bigint, count: bigint, kept: bigint): Bands {
  const below = kept < count ? kept : count;
  return [
    { first: first + below, count: count - below },
    { first, count: below },
  ].filter((band) => band.count > 0n);
}

export const holds = (bands: Bands, number: bigint): boolean =>
  bands.some(({ first, count }) => number >= first && number < first + count);

/**
 * A number that is free, by chance; undefined: none is. Costs no more than what is taken: from a
 * place by chance the next ones are asked for in their order.
 */
export function chosenFrom(
  bands: Bands,
  isTaken: (number: bigint) => boolean,
  pick: Random,
): bigint | undefined {
  for (const { first, count } of bands) {
    const start = pick(count);
    for (let step = 0n; step < count; step++) {
      const number = first + ((start + step) % count);
      if (!isTaken(number)) return number;
    }
  }
  return undefined;
}

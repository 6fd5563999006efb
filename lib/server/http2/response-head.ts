// The header fields of a response as a block of HPACK (RFC 7541): nothing that the client would
// have to keep.
import type { OutgoingHttpHeaders } from 'node:http2';
import { staticFields } from '../../http2/hpack-tables.ts';
import { integer } from '../../http2/hpack.ts';

/** Most heads are much shorter; used again for each of them. */
let scratch = Buffer.allocUnsafeSlow(4 * 1024);
/** A field with its lengths takes no more besides its characters. */
const overheadBytes = 12;

/** The block, which is the caller's until the next one is made. Without a date it gets one. */
export function responseBlock(status: number, headers: OutgoingHttpHeaders): Buffer {
  let at = putStatus(status);
  let hasDate = false;
  for (const given in headers) {
    const value = headers[given];
    if (value === undefined || given === ':status') continue;
    const prefix = prefixOf(given);
    if (prefix === undefined) continue;
    hasDate ||= prefix === datePrefix;
    if (Array.isArray(value)) {
      for (const one of value as readonly string[]) at = putField(at, prefix, one);
    } else {
      at = putField(at, prefix, typeof value === 'string' ? value : String(value));
    }
  }
  if (!hasDate && status >= 200) at = putField(at, datePrefix, dateNow());
  return scratch.subarray(0, at);
}

function putStatus(status: number): number {
  const index = indexOfStatus.get(status);
  if (index !== undefined) {
    scratch[0] = 0x80 + index;
    return 1;
  }
  return putField(0, statusPrefix, String(status));
}

function putField(from: number, prefix: Buffer, value: string): number {
  let at = from;
  const { length } = value;
  const enough = at + prefix.length + length + overheadBytes;
  if (enough > scratch.length) {
    const larger = Buffer.allocUnsafeSlow(2 * enough);
    larger.set(scratch.subarray(0, at));
    scratch = larger;
  }
  scratch.set(prefix, at);
  at += prefix.length;
  if (length < 0x7f) {
    scratch[at++] = length;
  } else {
    const count = integer(length, 7);
    scratch.set(count, at);
    at += count.length;
  }
  return at + scratch.write(value, at, length, 'latin1');
}

/** Of literals that are not indexed (section 6.2.2): the name, by its index or spelled out. */
function newPrefix(name: string): Buffer {
  const index = staticFields.findIndex(([known]) => known === name) + 1;
  if (index > 0) return integer(index, 4);
  const bytes = Buffer.from(name, 'latin1');
  return Buffer.concat([Buffer.of(0), integer(bytes.length, 7), bytes]);
}

/** Those of backends have no bound. */
const prefixesMax = 500;
const prefixes = new Map<string, Buffer | undefined>(
  ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'].map(
    (name) => [name, undefined] as const, // RFC 9113, section 8.2.2: no message may have them.
  ),
);

function prefixOf(given: string): Buffer | undefined {
  const known = prefixes.get(given);
  if (known !== undefined || prefixes.has(given)) return known;
  const name = given.toLowerCase();
  if (name !== given) return prefixOf(name);
  const prefix = newPrefix(name);
  if (prefixes.size < prefixesMax) prefixes.set(name, prefix);
  return prefix;
}

const statusPrefix = newPrefix(':status');
const datePrefix = newPrefix('date');
prefixes.set('date', datePrefix);
const indexOfStatus: ReadonlyMap<number, number> = new Map(
  staticFields.flatMap(([name, value], at) =>
    name === ':status' ? [[Number(value), at + 1]] : [],
  ),
);

let secondOfDate = NaN;
let date = '';

function dateNow(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== secondOfDate) {
    secondOfDate = second;
    date = new Date(second * 1_000).toUTCString();
  }
  return date;
}

// Header fields and trailers of answers.
import { http2Code, Http2Error } from '../../http2/frames.ts';
import { FieldDecoder } from '../../http2/hpack.ts';
import type { Fields } from '../../http2/hpack.ts';

/** By name; of a name that comes twice, the last. */
export type Head = ReadonlyMap<string, string>;

/** The member is told to use no dynamic table. */
export const newHeadDecoder = (listBytesMax: number): FieldDecoder<Head> =>
  new FieldDecoder({ listBytesMax, tableBytesMax: 0, make: headOf });

/** @throws Http2Error */
function headOf(fields: Fields): Head {
  if (fields === undefined) {
    throw new Http2Error(http2Code.enhanceYourCalm, 'too many header fields');
  }
  const head = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) head.set(fields[at] ?? '', fields[at + 1] ?? '');
  return head;
}

export const isInformational = (fields: Head): boolean =>
  /^1\d\d$/.test(fields.get(':status') ?? '');

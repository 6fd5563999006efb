// PEM texts: the blocks in order. What lies between blocks is ignored.

export interface PemBlock {
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly bytes: Uint8Array;
}

export function pemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let from = 0;
  for (;;) {
    const begin = text.indexOf('-----BEGIN ', from);
    if (begin < 0) return blocks;
    const typeEnd = text.indexOf('-----', begin + 11);
    if (typeEnd < 0) return blocks;
    const type = text.slice(begin + 11, typeEnd);
    const end = text.indexOf(`-----END ${type}-----`, typeEnd);
    if (end < 0) return blocks;
    const body = text.slice(typeEnd + 5, end);
    const hasHeaders = body.includes(':');
    const encoded = hasHeaders ? body.slice(body.indexOf('\n\n') + 2) : body;
    blocks.push({ type, hasHeaders, bytes: Buffer.from(encoded, 'base64') });
    from = end + 14 + type.length;
  }
}

/** One DER sequence that fills the bytes: the outer form of requests and certificates. */
export function isDerSequence(bytes: Uint8Array): boolean {
  const first = bytes[1];
  if (bytes[0] !== 0x30 || first === undefined) return false;
  if (first < 0x80) return bytes.length === 2 + first;
  const count = first & 0x7f;
  if (count === 0 || count > 4 || bytes.length < 2 + count) return false;
  let length = 0;
  for (let at = 0; at < count; at += 1) length = length * 256 + (bytes[2 + at] ?? 0);
  return bytes.length === 2 + count + length;
}

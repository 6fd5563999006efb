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

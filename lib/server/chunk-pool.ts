// Chunks that lists are gathered in, used again once written: fresh ones cost page faults and
// collections (measured: a third of a list's CPU). A chunk whose write failed is not taken back,
// since it may still be read.
/**
 * Bytes gathered before a write: large enough that TLS and the kernel work in bulk, and cached
 * while they do.
 */
export const chunkBytes = 128 * 1024;
/** Kept for later lists. */
const spareMax = 16;

const spare: Buffer[] = [];

export function takeChunk(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes);
}

/** Only when nothing reads the chunk any longer. */
export function giveChunk(chunk: Buffer): void {
  if (spare.length < spareMax) spare.push(chunk);
}

// Chunks that lists are gathered in, used again once written: fresh ones cost page faults and
// collections (measured: a third of a list's CPU). A chunk whose write failed is not taken back,
// since it may still be read.
import { limits } from '../base/limits.ts';
const { answerChunkBytes, spareChunksMax } = limits;

const spare: Buffer[] = [];

export function takeChunk(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(answerChunkBytes);
}

/** Only when nothing reads the chunk any longer. */
export function giveChunk(chunk: Buffer): void {
  if (spare.length < spareChunksMax) spare.push(chunk);
}

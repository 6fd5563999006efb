// Strings in the Huffman code of HPACK (RFC 7541, section 5.2), read four bits at a time.
import { huffmanBits } from './hpack-tables.ts';
import { http2Code, Http2Error } from './frames.ts';

const tree = buildTree();

/**
 * A node of the code's tree is a number; 0 is the root. For each node and each four bits: the node
 * that they lead to, and the byte that is complete on the way. No code is shorter than five bits,
 * so it is one byte at most.
 *
 *     steps[16 * node + bits] = 0x1_0000 * (byte + 1, or 0) + next node; -1: no such code
 */
const steps = stepsOf(tree);
/** Where a string may end: at most seven bits, all ones, after the last byte. */
const endNodes = onesFromRoot(tree);

function stepsOf({ children, leaves }: Tree): Int32Array {
  const table = new Int32Array(16 * children.length).fill(-1);
  for (let node = 0; node < children.length; node++) {
    for (let bits = 0; bits < 16; bits++) {
      let at = node;
      let byte = -1;
      for (let bit = 3; bit >= 0 && at !== -1; bit--) {
        const next: number = children[at]?.[(bits >> bit) & 1] ?? -1;
        const symbol = leaves.get(next);
        if (symbol !== undefined) byte = symbol;
        at = symbol === undefined ? next : 0;
      }
      if (at !== -1 && byte < 256) table[16 * node + bits] = 0x1_0000 * (byte + 1) + at;
    }
  }
  return table;
}

interface Tree {
  readonly children: readonly (readonly number[])[];
  /** Bytes by the node that ends their code; 256 is the end of a string. */
  readonly leaves: ReadonlyMap<number, number>;
}

function buildTree(): Tree {
  const children: number[][] = [[]];
  const leaves = new Map<number, number>();
  const symbols = huffmanBits.map((bits, symbol) => ({ bits, symbol }));
  symbols.sort((a, b) => a.bits - b.bits || a.symbol - b.symbol);
  let code = 0;
  let length = 0;
  for (const { bits, symbol } of symbols) {
    code *= 2 ** (bits - length);
    length = bits;
    let node = 0;
    for (let bit = bits - 1; bit >= 0; bit--) {
      const branch = Math.floor(code / 2 ** bit) % 2;
      const links = children[node] ?? [];
      const next = links[branch] ?? children.push([]) - 1;
      links[branch] = next;
      node = next;
    }
    leaves.set(node, symbol);
    code++;
  }
  return { children, leaves };
}

function onesFromRoot({ children }: Tree): ReadonlySet<number> {
  const nodes = new Set<number>();
  let node: number | undefined = 0;
  for (let bits = 0; bits <= 7 && node !== undefined; bits++) {
    nodes.add(node);
    node = children[node]?.[1];
  }
  return nodes;
}

/** @throws Http2Error */
export function huffmanText(bytes: Uint8Array, from: number, to: number): string {
  const text = Buffer.allocUnsafe(Math.floor(((to - from) * 8) / 5));
  let length = 0;
  let node = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    for (let shift = 4; shift >= 0; shift -= 4) {
      const step = steps[16 * node + ((byte >> shift) & 15)] ?? -1;
      if (step === -1) throw broken('a string with no such Huffman code');
      if (step >= 0x1_0000) text[length++] = (step >> 16) - 1;
      node = step & 0xffff;
    }
  }
  if (!endNodes.has(node)) throw broken('a Huffman string that ends within a code');
  return text.toString('latin1', 0, length);
}

const broken = (details: string): Http2Error => new Http2Error(http2Code.compressionError, details);

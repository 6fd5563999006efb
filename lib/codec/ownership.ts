// What decides who owns whom and who may go, read from the bytes of an object's metadata: nothing
// is decoded but the owner references themselves. It trusts canonical JSON, which views have.
import { asBuffer } from '../base/as-buffer.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

export interface Ownership {
  readonly uid: string;
  /** Deletion has begun. */
  readonly isDeleting: boolean;
  readonly owners: readonly OwnerReference[];
  readonly finalizers: readonly string[];
}

const opening = '"metadata":{';
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

const none: readonly never[] = [];

/** `tail`: the object's canonical JSON from its `"metadata"` member on, as of `Item.listTail()`. */
export function ownershipOf(tail: Uint8Array): Ownership {
  const bytes = asBuffer(tail);
  let uid = '';
  let isDeleting = false;
  let owners: readonly OwnerReference[] = none;
  let finalizers: readonly string[] = none;
  for (let at = opening.length; bytes[at] === quote;) {
    const keyEnd = endOfText(bytes, at);
    const end = endOfValue(bytes, keyEnd + 1);
    switch (keyOf(bytes, at + 1, keyEnd - 1)) {
      case 'uid':
        uid = textAt(bytes, keyEnd + 1, end);
        break;
      case 'deletionTimestamp':
        isDeleting = bytes[keyEnd + 1] === quote;
        break;
      case 'ownerReferences':
        // Canonical bytes have the schema's types.
        owners = (parsed(bytes, keyEnd + 1, end) ?? none) as readonly OwnerReference[];
        break;
      case 'finalizers':
        finalizers = (parsed(bytes, keyEnd + 1, end) ?? none) as readonly string[];
        break;
      case 'managedFields':
        return { uid, isDeleting, owners, finalizers }; // the last member, and the longest
    }
    at = bytes[end] === comma ? end + 1 : bytes.length;
  }
  return { uid, isDeleting, owners, finalizers };
}

/** The uid alone. */
export function uidOf(tail: Uint8Array): string {
  const bytes = asBuffer(tail);
  for (let at = opening.length; bytes[at] === quote;) {
    const keyEnd = endOfText(bytes, at);
    const end = endOfValue(bytes, keyEnd + 1);
    if (keyOf(bytes, at + 1, keyEnd - 1) === 'uid') return textAt(bytes, keyEnd + 1, end);
    at = bytes[end] === comma ? end + 1 : bytes.length;
  }
  return '';
}

/** Names of other lengths are none that anybody asks for, and make no text. */
function keyOf(bytes: Buffer, from: number, to: number): string {
  switch (to - from) {
    case 'uid'.length:
    case 'finalizers'.length:
    case 'managedFields'.length:
    case 'ownerReferences'.length:
    case 'deletionTimestamp'.length:
      return bytes.toString('latin1', from, to);
    default:
      return '';
  }
}

const parsed = (bytes: Buffer, from: number, to: number): unknown =>
  JSON.parse(bytes.toString('utf8', from, to));

function textAt(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from + 1, to - 1);
  return text.includes('\\') ? (parsed(bytes, from, to) as string) : text;
}

/** The offset after the text whose opening quote is at `from`. */
function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++;
  return at + 1;
}

/** The offset after the value that begins at `from`. */
function endOfValue(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === quote) return endOfText(bytes, from);
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at) - 1;
    else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (byte === comma && depth === 0) return at;
  }
  return bytes.length;
}

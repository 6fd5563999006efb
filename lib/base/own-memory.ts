// Bytes that are kept, in memory of exactly their size.

/**
 * The bytes themselves, or a copy of a view. A view of a page of Buffer's pool, 64 KB, keeps all
 * that was written into the page in the meantime.
 */
export function inOwnMemory(bytes: Uint8Array): Uint8Array {
  if (bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.byteLength);
  copy.set(bytes);
  return copy;
}

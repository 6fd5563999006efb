// Text out of bytes that may be anything: UTF-8, or not text at all.
import { isUtf8 } from 'node:buffer';

const replacement = '\ufffd';

/** undefined: the bytes are not valid UTF-8. */
export function utf8Text(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  // Decoding puts this character where bytes are wrong; only then they are looked at again.
  return text.includes(replacement) && !isUtf8(bytes) ? undefined : text;
}

/** Most texts are short and ASCII: a look at their bytes costs less than a view of them. */
const lookedAtBytesMax = 64;

/** The same of a part of the bytes. */
export function utf8TextIn(bytes: Buffer, from: number, end: number): string | undefined {
  if (end - from <= lookedAtBytesMax) {
    let at = from;
    while (at < end && (bytes[at] ?? 0) < 0x80) at += 1;
    if (at === end) return bytes.toString('latin1', from, end);
  }
  return utf8Text(bytes.subarray(from, end));
}

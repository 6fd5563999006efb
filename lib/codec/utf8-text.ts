// Text out of bytes that may be anything: UTF-8, or not text at all.
import { isUtf8 } from 'node:buffer';

const replacement = '\ufffd';

/** undefined: the bytes are not valid UTF-8. */
export function utf8Text(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  // Decoding puts this character where bytes are wrong; only then they are looked at again.
  return text.includes(replacement) && !isUtf8(bytes) ? undefined : text;
}

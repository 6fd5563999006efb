// Whether two states of one pod name the same objects, seen in their bytes: most writes of pods are
// of their status, and need no decoding for it.
import { asBuffer } from '../../base/as-buffer.ts';

const specOpening = Buffer.from(',"spec":{');
const statusOpening = Buffer.from(',"status":{');
/** Outside of the spec: claims that were made for the pod, and who runs it. */
const others = ['ClaimStatus', '/config.mirror"'].map((text) => Buffer.from(text));

/** `one`, `other`: canonical JSON. False: they may, or may not. */
export function namesTheSame(one: Uint8Array, other: Uint8Array): boolean {
  const [now, before] = [asBuffer(one), asBuffer(other)];
  return (
    Buffer.compare(specIn(now), specIn(before)) === 0 &&
    others.every((text) => !now.includes(text) && !before.includes(text))
  );
}

/**
 * The spec, between metadata and status, perhaps with a part of these: quotes in a text are
 * escaped, so that what opens a member is one.
 */
function specIn(json: Buffer): Buffer {
  const from = json.indexOf(specOpening);
  const to = json.lastIndexOf(statusOpening);
  return json.subarray(Math.max(from, 0), to > from ? to : undefined);
}

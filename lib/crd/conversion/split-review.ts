// Takes the converted objects out of the text of a review before it is parsed: one scan, which lets
// others run, whatever the text is. The parser decides later what is no JSON.
import { endOfString } from '../../api/json-scan.ts';
import type { JsonValue } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import { badRequest } from '../../base/status.ts';
import { nextTurn } from '../../base/turn.ts';
import { readSentJson } from '../../codec/json.ts';

/** An answer that is no review. */
export class BadReview extends Error {}

export interface SplitReview {
  /** The review with numbers in the place of the objects. */
  readonly value: JsonValue;
  /** Their texts, by these numbers. */
  readonly objects: readonly string[];
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
/** Characters that are looked at in one turn. */
const scannedLengthMax = 512 * 1024;
/** Depth of the objects: within the review, its response and the list. */
const objectDepth = 3;

/** @throws BadReview, StatusError 400 */
export async function splitReview(text: string): Promise<SplitReview> {
  const objects: string[] = [];
  let rest = '';
  let restFrom = 0;
  let depth = 0;
  /** The last string at each depth above the objects: of a member, its key. */
  const keys = ['', '', ''];
  /** Where the object begins that is being passed; undefined: outside the list. */
  let from: number | undefined;
  let turnFrom = 0;
  const take = (to: number): void => {
    if (from === undefined) return;
    const object = text.slice(from, to);
    if (object.trim() !== '') {
      rest += `${text.slice(restFrom, from)}${String(objects.length)}`;
      restFrom = to;
      objects.push(object);
    }
  };
  let lastString = '';
  for (let at = 0; at < text.length; at++) {
    if (at - turnFrom > scannedLengthMax) {
      turnFrom = at;
      await nextTurn();
    }
    switch (text.charCodeAt(at)) {
      case quote: {
        const end = endOfString(text, at);
        if (depth < objectDepth) lastString = end - at > 64 ? '' : text.slice(at + 1, end);
        at = end;
        break;
      }
      case colon:
        if (depth < objectDepth) keys[depth] = lastString;
        break;
      case 0x7b:
      case 0x5b: {
        depth++;
        if (depth > limits.bodyDepthMax + objectDepth) throw badRequest(tooDeep);
        const isList = depth === objectDepth && text.charCodeAt(at) === 0x5b;
        if (isList && keys[1] === 'response' && keys[2] === 'convertedObjects') from = at + 1;
        break;
      }
      case 0x7d:
      case 0x5d:
        if (depth === objectDepth) {
          take(at);
          from = undefined;
        }
        depth--;
        break;
      case comma:
        if (depth === objectDepth && from !== undefined) {
          take(at);
          from = at + 1;
        }
        break;
      default:
        break;
    }
  }
  rest += text.slice(restFrom);
  if (rest.length > limits.conversionReviewLengthMax) {
    throw new BadReview('the answer is too long beside its objects');
  }
  return { value: readSentJson(rest).value, objects };
}

const tooDeep = 'the answer is nested too deeply';

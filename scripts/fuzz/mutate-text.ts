// Mutations of texts: a few words removed, repeated, changed, or taken from other texts.
import type { Random } from './random.ts';

const pieces = /\w+|"[^"]*"|'[^']*'|\s+|[^\w\s]/gu;

/** A text that differs from `seedText` in a few words, some of them taken from the others. */
export function mutate(random: Random, seedText: string, others: readonly string[]): string {
  const words = seedText.match(pieces) ?? [];
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(words.length + 1);
    const donor = random.of(others).match(pieces) ?? [''];
    const from = random.below(donor.length);
    switch (random.below(12)) {
      case 0:
        words.splice(at, 1 + random.below(3));
        break;
      case 1:
        words.splice(at, 0, ...donor.slice(from, from + 1 + random.below(8)));
        break;
      case 2:
        words.splice(at, 1, random.of(donor));
        break;
      case 3:
        words.splice(at, 0, ...words.slice(at, at + 1 + random.below(6)));
        break;
      case 4:
        words.splice(at, 1, changeCharacters(random, words[at] ?? ''));
        break;
      case 5:
        words.splice(at, 0, String.fromCodePoint(strangeCodePoint(random)));
        break;
      default:
        words.splice(at, 1, likeWord(random, words[at] ?? '', donor));
    }
  }
  return words.join('');
}

const classes = [/^\d/, /^\w/, /^["']/, /^[-+*/%]/, /^[<>=!&|]/, /^[([{]/];

/** A word of `donor` of the same class, if it has one: often it fits where the other one stood. */
function likeWord(random: Random, word: string, donor: readonly string[]): string {
  const pattern = classes.find((one) => one.test(word));
  const fitting = pattern === undefined ? [] : donor.filter((other) => pattern.test(other));
  return fitting.length === 0 ? word : random.of(fitting);
}

const oddCharacters = Array.from('0129.-+eEux"\'\\({[]})?');

function changeCharacters(random: Random, word: string): string {
  const points = Array.from(word);
  const removed = random.below(2);
  points.splice(random.below(points.length + 1), removed, random.of(oddCharacters));
  return points.join('');
}

function strangeCodePoint(random: Random): number {
  return random.of([
    random.below(0x80),
    random.below(0x3000),
    0xd800 + random.below(0x800),
    0x1f600 + random.below(80),
  ]);
}

// The order of etcd and of Go: texts by their bytes in UTF-8, which is the order of their code
// points. JavaScript compares units of UTF-16, where characters beyond the basic plane stand before
// its last ones.

/** Units of UTF-16 that have another place in one order than in the other. */
const displaced = /[\ud800-\uffff]/;
const displacedUnits = /[\ud800-\uffff]/g;

/**
 * A text to compare with `<` in place of `text`: the order of such texts is that of the bytes. It
 * is `text` itself unless that holds surrogates or characters from U+E000 on.
 */
export function utf8SortKey(text: string): string {
  return displaced.test(text) ? text.replace(displacedUnits, moved) : text;
}

/** Surrogates change places with what comes after them; within both the order stays. */
function moved(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800);
}

/** Sorts `texts` in place, in the order of their bytes. */
export function sortUtf8(texts: string[]): string[] {
  texts.sort();
  if (!texts.some((text) => displaced.test(text))) return texts;
  const keys = new Map(texts.map((text) => [text, utf8SortKey(text)]));
  const keyOf = (text: string): string => keys.get(text) ?? text;
  return texts.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

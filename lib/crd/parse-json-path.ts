// Reads the text of a JSONPath as kubectl's templates have it between their braces, quirks
// included: definitions are written against it.
import { limits } from '../base/limits.ts';
import type { Filter, JsonPath, Slice, Step } from './json-path.ts';

/** undefined: it is none, or nests too deep. */
export function parseJsonPath(text: string): JsonPath | undefined {
  return parseAction(text, 0);
}

function parseAction(text: string, depth: number): JsonPath | undefined {
  if (depth > limits.jsonPathDepthMax) return undefined;
  const steps: Step[] = [];
  let at = 0;
  while (at < text.length) {
    const end = parseStep(text, at, steps, depth);
    if (end === undefined) return undefined;
    if (end === 'closed') return steps;
    at = end;
  }
  return steps;
}

/** Where the text goes on; `closed`: a brace ended it, and what follows is not looked at. */
type End = number | 'closed' | undefined;

const word = /[\p{L}\p{Nd}_]+/uy;
const numeral = /[+-]?[\d.]*/y;
/** A name ends where a step can begin; a backslash takes the next character as it is. */
const nameAt = /(?:\\[^]|[^\\\s.,[\]$@{}])*/y;

const matchAt = (pattern: RegExp, text: string, at: number): string => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
};

function parseStep(text: string, at: number, steps: Step[], depth: number): End {
  const first = text.charAt(at);
  if (first === '}') return 'closed';
  if (text.startsWith('[?(', at)) return parseFilter(text, at + 3, steps, depth);
  if (text.startsWith('..', at)) return parseRecursive(text, at + 2, steps);
  if (first === ' ' || first === '@' || first === '$') return at + 1;
  if (first === '[') return parseArray(text, at + 1, steps, depth);
  if (first === '"' || first === "'") return parseQuote(text, at, steps);
  if (first === '.') return parseField(text, at + 1, steps);
  if (/[-+\d]/.test(first)) return parseNumber(text, at, steps);
  const name = matchAt(word, text, at);
  if (name === '') return undefined;
  const isFlag = name === 'true' || name === 'false';
  steps.push(isFlag ? { kind: 'value', value: name === 'true' } : { kind: 'unknown' });
  return at + name.length;
}

function parseField(text: string, at: number, steps: Step[]): End {
  const name = matchAt(nameAt, text, at);
  steps.push(
    name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') },
  );
  return at + name.length;
}

function parseRecursive(text: string, at: number, steps: Step[]): End {
  if (steps.at(-1)?.kind === 'recursive') return undefined;
  steps.push({ kind: 'recursive' });
  return matchAt(word, text, at) === '' ? at : parseField(text, at, steps);
}

function parseNumber(text: string, at: number, steps: Step[]): End {
  const numberText = matchAt(numeral, text, at);
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(numberText)) return undefined;
  const value = Number(numberText);
  steps.push({ kind: 'value', value });
  return at + numberText.length;
}

function parseQuote(text: string, at: number, steps: Step[]): End {
  const end = closingQuote(text, at);
  if (end === undefined) return undefined;
  const value = text.slice(at + 1, end).replace(/\\(["'\\])/g, '$1');
  steps.push({ kind: 'value', value });
  return end + 1;
}

function closingQuote(text: string, at: number): number | undefined {
  const quote = text.charAt(at);
  for (let end = at + 1; end < text.length; end += 1) {
    if (text.charAt(end) === '\n') return undefined;
    if (text.charAt(end) === quote && text.charAt(end - 1) !== '\\') return end;
  }
  return undefined;
}

const key = /^'([^']*)'$/;
const sliceForm = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/;

function parseArray(text: string, at: number, steps: Step[], depth: number): End {
  const end = text.indexOf(']', at);
  if (end < 0 || text.slice(at, end).includes('\n')) return undefined;
  const inside = text.slice(at, end);
  const parts = inside.split(',');
  if (parts.length > 1) {
    const paths: JsonPath[] = [];
    for (const part of parts) {
      const path = parseAction(`[${part.replace(/^ +| +$/g, '')}]`, depth + 1);
      if (path === undefined) return undefined;
      paths.push(path);
    }
    steps.push({ kind: 'union', paths });
    return end + 1;
  }
  const [, name] = key.exec(inside) ?? [];
  if (name !== undefined) {
    const path = parseAction(`.${name}`, depth + 1);
    if (path === undefined) return undefined;
    for (const step of path) steps.push(step);
    return end + 1;
  }
  const slice = sliceOf(inside === '*' ? ':' : inside);
  if (slice === undefined) return undefined;
  steps.push({ kind: 'slice', slice });
  return end + 1;
}

function sliceOf(text: string): Slice | undefined {
  const match = sliceForm.exec(text);
  if (match === null) return undefined;
  const [, from = '', to, step] = match;
  const [first, last, by] = [from, to?.slice(1) ?? '', step?.slice(1) ?? ''].map((part) =>
    part === '' ? undefined : Number(part),
  );
  // A lone dash, and what no index can be.
  if ([first, last, by].some((one) => one !== undefined && !Number.isSafeInteger(one))) {
    return undefined;
  }
  return { from: first, to: last, step: by, isIndex: to === undefined };
}

/** `left OPERATOR right`, or something that has to be there. */
const compared = /^([^!<>=]+)([!<>=]+)([^]+)$/;

function parseFilter(text: string, at: number, steps: Step[], depth: number): End {
  const end = filterEnd(text, at);
  if (end === undefined || text.charAt(end + 1) !== ']') return undefined;
  const inside = text.slice(at, end);
  const [, left, operator = '', right = ''] = compared.exec(inside) ?? [];
  const filter = filterOf(left ?? inside, operator, right, depth + 1);
  if (filter === undefined) return undefined;
  steps.push({ kind: 'filter', filter });
  return end + 2;
}

function filterOf(
  leftText: string,
  operator: string,
  rightText: string,
  depth: number,
): Filter | undefined {
  const [left, right] = [parseAction(leftText, depth), parseAction(rightText, depth)];
  return left === undefined || right === undefined ? undefined : { left, operator, right };
}

/** Where its bracket closes: outside of the one quoted text that it may have. */
function filterEnd(text: string, at: number): number | undefined {
  let quote = '';
  let isClosed = false;
  for (let end = at; end < text.length; end += 1) {
    const here = text.charAt(end);
    if (here === '\n') return undefined;
    if (here === '"' || here === "'") {
      if (quote === '') quote = here;
      else if (here === quote && text.charAt(end - 1) !== '\\') isClosed = true;
    } else if (here === ')' && (quote === '' || isClosed)) return end;
  }
  return undefined;
}

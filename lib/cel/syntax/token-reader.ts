// Reads tokens one after the other and collects what is wrong with them.
import { tokenize } from './lexer.ts';
import type { Token } from './lexer.ts';
import type { Issue } from './source.ts';

export class TokenReader {
  readonly issues: Issue[] = [];
  readonly #tokens: readonly Token[];
  readonly #reported: Set<number>;
  #index = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text, this.issues);
    this.#reported = new Set(this.issues.map((issue) => issue.offset));
  }

  peek(): Token {
    return this.#tokens[this.#index] as Token;
  }

  ahead(count: number): Token {
    return (this.#tokens[this.#index + count] ?? this.#tokens.at(-1)) as Token;
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== 'end') this.#index++;
    return token;
  }

  at(symbol: string): boolean {
    const token = this.peek();
    return token.kind === 'symbol' && token.text === symbol;
  }

  accept(symbol: string): Token | undefined {
    return this.at(symbol) ? this.next() : undefined;
  }

  expect(symbol: string): void {
    if (this.accept(symbol) === undefined) this.unexpected(`'${symbol}'`);
  }

  /** Follow-up errors at one place say nothing new. */
  report(offset: number, message: string): void {
    if (!this.#reported.has(offset)) this.reportMore(offset, message);
  }

  /** What is also wrong at a place that something else is wrong with. */
  reportMore(offset: number, message: string): void {
    this.#reported.add(offset);
    this.issues.push({ offset, message });
  }

  unexpected(wanted: string): void {
    const token = this.peek();
    const found = token.kind === 'end' ? 'the end of the text' : `'${token.text}'`;
    this.report(token.offset, `Syntax error: expected ${wanted} but found ${found}`);
  }
}

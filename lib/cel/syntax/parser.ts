// Text to tree: precedence climbing over the tokens, macros expanded on the way. Reports all errors
// it can find, not only the first, and refuses texts that are too long or nest too deeply before
// they cost anything.
import type { Expr, MapEntry, ParsedExpression, StructField } from './ast.ts';
import { operators } from './ast.ts';
import { tokenize } from './lexer.ts';
import type { Token } from './lexer.ts';
import { parseNumberLiteral, parseQuotedLiteral } from './literals.ts';
import { MacroError } from './macros.ts';
import type { Macro } from './macros.ts';
import { NodeFactory, RecursionLimitError } from './node-factory.ts';
import type { Issue } from './source.ts';
import { codePointCount } from '../eval/value.ts';

export interface ParserOptions {
  /** Macros by name. */
  readonly macros: ReadonlyMap<string, readonly Macro[]>;
  /** `a.?b`, `a[?b]`, `[?x]`, `{?k: v}`. */
  readonly optionalSyntax: boolean;
}

const codePointsMax = 100_000;
const nestingMax = 250;

/** The tree, or the errors. */
export function parseExpression(
  text: string,
  options: ParserOptions,
): { readonly parsed: ParsedExpression } | { readonly issues: readonly Issue[] } {
  const size = text.length > codePointsMax ? codePointCount(text) : text.length;
  if (size > codePointsMax) {
    const limit = `size: ${String(size)}, limit ${String(codePointsMax)}`;
    return {
      issues: [{ offset: -1, message: `expression code point size exceeds limit: ${limit}` }],
    };
  }
  const parser = new Parser(text, options);
  const root = parser.parse();
  if (root === undefined || parser.issues.length > 0) return { issues: parser.issues };
  return { parsed: { text, root, offsets: parser.make.offsets } };
}

const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const relations: ReadonlyMap<string, string> = new Map([
  ['==', operators.equals],
  ['!=', operators.notEquals],
  ['<', operators.less],
  ['<=', operators.lessEquals],
  ['>', operators.greater],
  ['>=', operators.greaterEquals],
  ['in', operators.in],
]);
const sums: ReadonlyMap<string, string> = new Map([
  ['+', operators.add],
  ['-', operators.subtract],
]);
const products: ReadonlyMap<string, string> = new Map([
  ['*', operators.multiply],
  ['/', operators.divide],
  ['%', operators.modulo],
]);

class Parser {
  readonly issues: Issue[] = [];
  readonly make = new NodeFactory();
  readonly #tokens: readonly Token[];
  readonly #options: ParserOptions;
  #index = 0;
  #nesting = 0;

  constructor(text: string, options: ParserOptions) {
    this.#tokens = tokenize(text, this.issues);
    this.#options = options;
  }

  /** The whole text as one expression; undefined when it nests too deeply. */
  parse(): Expr | undefined {
    try {
      const root = this.#expression();
      if (this.#peek().kind !== 'end') this.#unexpected('the end of the expression');
      return root;
    } catch (error) {
      if (!(error instanceof RecursionLimitError)) throw error;
      this.issues.length = 0;
      this.issues.push({ offset: -1, message: error.message || 'max recursion depth exceeded' });
      return undefined;
    }
  }

  #peek(): Token {
    return this.#tokens[this.#index] as Token;
  }

  #ahead(count: number): Token {
    return (this.#tokens[this.#index + count] ?? this.#tokens.at(-1)) as Token;
  }

  #next(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#index++;
    return token;
  }

  #at(symbol: string): boolean {
    const token = this.#peek();
    return token.kind === 'symbol' && token.text === symbol;
  }

  #accept(symbol: string): Token | undefined {
    return this.#at(symbol) ? this.#next() : undefined;
  }

  #expect(symbol: string): void {
    if (this.#accept(symbol) === undefined) this.#unexpected(`'${symbol}'`);
  }

  #report(offset: number, message: string): void {
    // Follow-up errors at one place say nothing new.
    if (!this.issues.some((issue) => issue.offset === offset))
      this.issues.push({ offset, message });
  }

  #unexpected(wanted: string): void {
    const token = this.#peek();
    const found = token.kind === 'end' ? 'the end of the text' : `'${token.text}'`;
    this.#report(token.offset, `Syntax error: expected ${wanted} but found ${found}`);
  }

  #expression(): Expr {
    if (++this.#nesting > nestingMax) {
      throw new RecursionLimitError(`expression recursion limit exceeded: ${String(nestingMax)}`);
    }
    const condition = this.#logical('||', operators.or, () =>
      this.#logical('&&', operators.and, () => this.#binary(relations, () => this.#sum())),
    );
    const question = this.#accept('?');
    let result = condition;
    if (question !== undefined) {
      const whenTrue = this.#logical('||', operators.or, () =>
        this.#logical('&&', operators.and, () => this.#binary(relations, () => this.#sum())),
      );
      this.#expect(':');
      const whenFalse = this.#expression();
      result = this.make.operator(
        operators.conditional,
        [condition, whenTrue, whenFalse],
        question.offset,
      );
    }
    this.#nesting--;
    return result;
  }

  /** Chains of `&&` and `||` become balanced trees, so that long chains stay shallow. */
  #logical(symbol: string, name: string, operand: () => Expr): Expr {
    const first = operand();
    if (!this.#at(symbol)) return first;
    const terms = [first];
    const offsets: number[] = [];
    for (let token = this.#accept(symbol); token !== undefined; token = this.#accept(symbol)) {
      offsets.push(token.offset);
      terms.push(operand());
    }
    const build = (low: number, high: number): Expr => {
      const middle = Math.floor((low + high + 1) / 2);
      const left = middle === low ? (terms[middle] as Expr) : build(low, middle - 1);
      const right = middle === high ? (terms[middle + 1] as Expr) : build(middle + 1, high);
      return this.make.call(name, [left, right], offsets[middle]);
    };
    return build(0, offsets.length - 1);
  }

  #sum(): Expr {
    return this.#binary(sums, () => this.#binary(products, () => this.#unary()));
  }

  #binary(names: ReadonlyMap<string, string>, operand: () => Expr): Expr {
    let left = operand();
    for (;;) {
      const token = this.#peek();
      const name = token.kind === 'symbol' ? names.get(token.text) : undefined;
      if (name === undefined) return left;
      this.#next();
      left = this.make.operator(name, [left, operand()], token.offset);
    }
  }

  #unary(): Expr {
    const token = this.#peek();
    if (this.#at('!')) return this.#repeated('!', operators.not, token);
    if (!this.#at('-')) return this.#member(this.#primary());
    const after = this.#ahead(1);
    if (after.kind === 'int' || after.kind === 'double') {
      this.#next();
      return this.#member(this.#number(this.#next(), token.offset, true));
    }
    return this.#repeated('-', operators.negate, token);
  }

  /** `!!x` is x, `!!!x` is `!x`; the same for minus. */
  #repeated(symbol: string, name: string, first: Token): Expr {
    let count = 0;
    while (this.#accept(symbol) !== undefined) count++;
    const operand = this.#member(this.#primary());
    return count % 2 === 0 ? operand : this.make.call(name, [operand], first.offset);
  }

  /** Selections, indexes and method calls after a primary. */
  #member(primary: Expr): Expr {
    let expr = primary;
    for (let length = 0; ; length++) {
      if (length > nestingMax) {
        throw new RecursionLimitError(`expression recursion limit exceeded: ${String(nestingMax)}`);
      }
      const dot = this.#accept('.');
      if (dot !== undefined) {
        expr = this.#selection(expr, dot);
        continue;
      }
      const bracket = this.#accept('[');
      if (bracket === undefined) return expr;
      const optional = this.#optionalMark();
      const index = this.#expression();
      this.#expect(']');
      const name = optional ? operators.optionalIndex : operators.index;
      expr = this.make.call(name, [expr, index], bracket.offset);
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    const optional = this.#optionalMark();
    const field = this.#fieldName();
    if (field === undefined) return operand;
    const open = field.quoted || optional ? undefined : this.#accept('(');
    if (open !== undefined) {
      const args = this.#list(')', () => this.#expression());
      return this.#call(field.name, operand, args, open.offset);
    }
    if (!optional) return this.make.select(operand, field.name, dot.offset);
    const name = this.make.literal(field.name, field.offset);
    return this.make.call(operators.optionalSelect, [operand, name], dot.offset);
  }

  #fieldName(): { name: string; offset: number; quoted: boolean } | undefined {
    const token = this.#peek();
    if (token.kind === 'identifier') {
      this.#next();
      return { name: token.text, offset: token.offset, quoted: false };
    }
    if (token.kind === 'quotedField') {
      this.#next();
      this.#report(token.offset, "unsupported syntax: '`'");
      return { name: token.text.slice(1, -1), offset: token.offset, quoted: true };
    }
    this.#unexpected('the name of a field');
    if (token.kind === 'symbol' && /^[a-z]/.test(token.text)) this.#next();
    return undefined;
  }

  #optionalMark(): boolean {
    const mark = this.#accept('?');
    if (mark === undefined) return false;
    if (!this.#options.optionalSyntax) this.#report(mark.offset, "unsupported syntax '?'");
    return true;
  }

  #primary(): Expr {
    const token = this.#peek();
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
        return this.#number(this.#next(), token.offset, false);
      case 'string':
      case 'bytes':
        return this.#quoted(this.#next());
      case 'identifier':
        return this.#name(undefined);
      default:
        return this.#bracketed(token);
    }
  }

  #bracketed(token: Token): Expr {
    const text = token.kind === 'symbol' ? token.text : '';
    if (text === 'true' || text === 'false') {
      this.#next();
      return this.make.literal(text === 'true', token.offset);
    }
    if (text === 'null') {
      this.#next();
      return this.make.literal(null, token.offset);
    }
    if (text === '(') {
      this.#next();
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (text === '[') return this.#listLiteral(this.#next());
    if (text === '{') return this.#mapLiteral(this.#next());
    if (text === '.' && this.#ahead(1).kind === 'identifier') return this.#name(this.#next());
    this.#unexpected('an expression');
    // A bracket or comma may close what is around: leave it. Anything else would stop us here
    // again.
    if (!/^[)\]},:]$/.test(text)) this.#next();
    return this.make.literal(null, token.offset);
  }

  #number(token: Token, offset: number, negative: boolean): Expr {
    const result = parseNumberLiteral(token, negative);
    if ('error' in result) this.#report(offset, result.error);
    return this.make.literal('error' in result ? null : result.value, offset);
  }

  #quoted(token: Token): Expr {
    const result = parseQuotedLiteral(token);
    if ('error' in result) this.#report(token.offset, result.error);
    return this.make.literal('error' in result ? null : result.value, token.offset);
  }

  /**
   * A name, a call of a function, or an object literal; `dot` is the leading dot of an absolute
   * name.
   */
  #name(dot: Token | undefined): Expr {
    const prefix = dot === undefined ? '' : '.';
    const structEnd = this.#structNameEnd();
    if (structEnd !== undefined) {
      let name = prefix;
      while (this.#index < structEnd) name += this.#next().text;
      return this.#structLiteral(name, this.#next());
    }
    const token = this.#next();
    if (reserved.has(token.text)) {
      this.#report(token.offset, `reserved identifier: ${token.text}`);
    }
    const open = this.#accept('(');
    if (open === undefined) return this.make.ident(prefix + token.text, token.offset);
    const args = this.#list(')', () => this.#expression());
    return this.#call(prefix + token.text, undefined, args, open.offset);
  }

  /** The index of the `{` after `a.b.c`, if that is what follows. */
  #structNameEnd(): number | undefined {
    let ahead = 1;
    while (this.#ahead(ahead).text === '.' && this.#ahead(ahead + 1).kind === 'identifier')
      ahead += 2;
    const token = this.#ahead(ahead);
    return token.kind === 'symbol' && token.text === '{' ? this.#index + ahead : undefined;
  }

  #call(name: string, target: Expr | undefined, args: readonly Expr[], offset: number): Expr {
    const macro = this.#options.macros
      .get(name)
      ?.find((m) => m.argCount === args.length && m.isMember === (target !== undefined));
    if (macro === undefined) {
      return target === undefined
        ? this.make.call(name, args, offset)
        : this.make.memberCall(name, target, args, offset);
    }
    try {
      return this.make.atMacro(offset, () =>
        macro.expand(this.make, args, target ?? (args[0] as Expr)),
      );
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      this.#report(this.make.offsetOf(error.at.id), error.message);
      return this.make.literal(null, offset);
    }
  }

  /** Items up to `close`, separated by commas; a comma may follow the last one in literals. */
  #list<T>(close: string, item: () => T, trailingComma = false): T[] {
    const items: T[] = [];
    while (!this.#at(close) && this.#peek().kind !== 'end') {
      items.push(item());
      if (this.#accept(',') === undefined) break;
      if (this.#at(close)) {
        if (!trailingComma) this.#unexpected('an expression');
        break;
      }
    }
    this.#expect(close);
    return items;
  }

  #listLiteral(open: Token): Expr {
    const optionals: number[] = [];
    let count = 0;
    const element = (): Expr => {
      if (this.#optionalMark()) optionals.push(count);
      count++;
      return this.#expression();
    };
    if (this.#at(',') && this.#ahead(1).text === ']') this.#next();
    const elements = this.#list(']', element, true);
    return this.make.list(elements, optionals, open.offset);
  }

  #mapLiteral(open: Token): Expr {
    const entry = (): MapEntry => {
      const optional = this.#optionalMark();
      const key = this.#expression();
      const id = this.make.nextId(this.#peek().offset);
      this.#expect(':');
      return { id, key, value: this.#expression(), optional };
    };
    if (this.#at(',') && this.#ahead(1).text === '}') this.#next();
    return this.make.map(this.#list('}', entry, true), open.offset);
  }

  #structLiteral(typeName: string, open: Token): Expr {
    const field = (): StructField => {
      const optional = this.#optionalMark();
      const name = this.#fieldName()?.name ?? '';
      const id = this.make.nextId(this.#peek().offset);
      this.#expect(':');
      return { id, name, value: this.#expression(), optional };
    };
    if (this.#at(',') && this.#ahead(1).text === '}') this.#next();
    return this.make.struct(typeName, this.#list('}', field, true), open.offset);
  }
}

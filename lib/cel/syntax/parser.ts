// Text to tree: precedence climbing over the tokens, macros expanded on the way. Reports all errors
// it can find, not only the first, and refuses texts that are too long or nest too deeply before
// they cost anything.
import { limits } from '../../base/limits.ts';
import type { Expr, MapEntry, ParsedExpression, StructField } from '../model/ast.ts';
import { operators } from '../model/ast.ts';
import type { Token } from './lexer.ts';
import { parseNumberLiteral, parseQuotedLiteral } from './literals.ts';
import { MacroError, isMacroFor } from '../model/macro.ts';
import type { Macro } from '../model/macro.ts';
import { NodeFactory, RecursionLimitError } from '../model/node-factory.ts';
import { reservedWords } from './reserved-words.ts';
import type { Issue } from './source.ts';
import { TokenReader } from './token-reader.ts';
import { codePointCount } from '../model/value.ts';

export interface ParserOptions {
  /** Macros by name. */
  readonly macros: ReadonlyMap<string, readonly Macro[]>;
  /** `a.?b`, `a[?b]`, `[?x]`, `{?k: v}`. */
  readonly optionalSyntax: boolean;
}

const { expressionDepthMax, expressionLengthMax } = limits;

/** The tree, or the errors. */
export function parseExpression(
  text: string,
  options: ParserOptions,
): { readonly parsed: ParsedExpression } | { readonly issues: readonly Issue[] } {
  const size = text.length > expressionLengthMax ? codePointCount(text) : text.length;
  if (size > expressionLengthMax) {
    const limit = `size: ${String(size)}, limit ${String(expressionLengthMax)}`;
    return {
      issues: [{ offset: -1, message: `expression code point size exceeds limit: ${limit}` }],
    };
  }
  const parser = new Parser(text, options);
  const root = parser.parse();
  if (root === undefined || parser.issues.length > 0) return { issues: parser.issues };
  return { parsed: { text, root, offsets: parser.make.offsets } };
}

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
  readonly make = new NodeFactory();
  readonly #tokens: TokenReader;
  readonly #options: ParserOptions;
  #nesting = 0;

  constructor(text: string, options: ParserOptions) {
    this.#tokens = new TokenReader(text);
    this.#options = options;
  }

  get issues(): Issue[] {
    return this.#tokens.issues;
  }

  /** The whole text as one expression; undefined when it nests too deeply. */
  parse(): Expr | undefined {
    try {
      const root = this.#expression();
      if (this.#tokens.peek().kind !== 'end') this.#tokens.unexpected('the end of the expression');
      return root;
    } catch (error) {
      if (!(error instanceof RecursionLimitError)) throw error;
      this.issues.length = 0;
      this.issues.push({ offset: -1, message: error.message || 'max recursion depth exceeded' });
      return undefined;
    }
  }

  #expression(): Expr {
    if (++this.#nesting > expressionDepthMax) {
      throw new RecursionLimitError(
        `expression recursion limit exceeded: ${String(expressionDepthMax)}`,
      );
    }
    const condition = this.#logical('||', operators.or, () =>
      this.#logical('&&', operators.and, () => this.#binary(relations, () => this.#sum())),
    );
    const question = this.#tokens.accept('?');
    let result = condition;
    if (question !== undefined) {
      const whenTrue = this.#logical('||', operators.or, () =>
        this.#logical('&&', operators.and, () => this.#binary(relations, () => this.#sum())),
      );
      this.#tokens.expect(':');
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
    if (!this.#tokens.at(symbol)) return first;
    const terms = [first];
    const offsets: number[] = [];
    for (
      let token = this.#tokens.accept(symbol);
      token !== undefined;
      token = this.#tokens.accept(symbol)
    ) {
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
      const token = this.#tokens.peek();
      const name = token.kind === 'symbol' ? names.get(token.text) : undefined;
      if (name === undefined) return left;
      this.#tokens.next();
      left = this.make.operator(name, [left, operand()], token.offset);
    }
  }

  #unary(): Expr {
    const token = this.#tokens.peek();
    if (this.#tokens.at('!')) return this.#repeated('!', operators.not, token);
    if (!this.#tokens.at('-')) return this.#member(this.#primary());
    const after = this.#tokens.ahead(1);
    if (after.kind === 'int' || after.kind === 'double') {
      this.#tokens.next();
      return this.#member(this.#number(token));
    }
    return this.#repeated('-', operators.negate, token);
  }

  /** `!!x` is x, `!!!x` is `!x`; the same for minus. */
  #repeated(symbol: string, name: string, first: Token): Expr {
    let count = 0;
    while (this.#tokens.accept(symbol) !== undefined) count++;
    const operand = this.#member(this.#primary());
    return count % 2 === 0 ? operand : this.make.call(name, [operand], first.offset);
  }

  /** Selections, indexes and method calls after a primary. */
  #member(primary: Expr): Expr {
    let expr = primary;
    for (let length = 0; ; length++) {
      if (length > expressionDepthMax) {
        throw new RecursionLimitError(
          `expression recursion limit exceeded: ${String(expressionDepthMax)}`,
        );
      }
      const dot = this.#tokens.accept('.');
      if (dot !== undefined) {
        expr = this.#selection(expr, dot);
        continue;
      }
      const bracket = this.#tokens.accept('[');
      if (bracket === undefined) return expr;
      const optional = this.#optionalMark();
      const index = this.#expression();
      this.#tokens.expect(']');
      const name = optional ? operators.optionalIndex : operators.index;
      expr = this.make.call(name, [expr, index], bracket.offset);
    }
  }

  #selection(operand: Expr, dot: Token): Expr {
    const optional = this.#optionalMark();
    const field = this.#fieldName();
    if (field === undefined) return operand;
    const open = field.quoted || optional ? undefined : this.#tokens.accept('(');
    if (open !== undefined) {
      const args = this.#list(')', () => this.#expression());
      return this.#call(field.name, operand, args, open.offset);
    }
    if (!optional) return this.make.select(operand, field.name, dot.offset);
    const name = this.make.literal(field.name, field.offset);
    return this.make.call(operators.optionalSelect, [operand, name], dot.offset);
  }

  #fieldName(): { name: string; offset: number; quoted: boolean } | undefined {
    const token = this.#tokens.peek();
    if (token.kind === 'identifier') {
      this.#tokens.next();
      return { name: token.text, offset: token.offset, quoted: false };
    }
    if (token.kind === 'quotedField') {
      this.#tokens.next();
      this.#tokens.report(token.offset, "unsupported syntax: '`'");
      return { name: token.text.slice(1, -1), offset: token.offset, quoted: true };
    }
    this.#tokens.unexpected('the name of a field');
    if (token.kind === 'symbol' && /^[a-z]/.test(token.text)) this.#tokens.next();
    return undefined;
  }

  #optionalMark(): boolean {
    const mark = this.#tokens.accept('?');
    if (mark === undefined) return false;
    if (!this.#options.optionalSyntax) this.#tokens.report(mark.offset, "unsupported syntax '?'");
    return true;
  }

  #primary(): Expr {
    const token = this.#tokens.peek();
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
        return this.#number();
      case 'string':
      case 'bytes':
        return this.#quoted(this.#tokens.next());
      case 'identifier':
        return this.#name(undefined);
      default:
        return this.#bracketed(token);
    }
  }

  #bracketed(token: Token): Expr {
    const text = token.kind === 'symbol' ? token.text : '';
    if (text === 'true' || text === 'false') {
      this.#tokens.next();
      return this.make.literal(text === 'true', token.offset);
    }
    if (text === 'null') {
      this.#tokens.next();
      return this.make.literal(null, token.offset);
    }
    if (text === '(') {
      this.#tokens.next();
      const inner = this.#expression();
      this.#tokens.expect(')');
      return inner;
    }
    if (text === '[') return this.#listLiteral(this.#tokens.next());
    if (text === '{') return this.#mapLiteral(this.#tokens.next());
    if (text === '.' && this.#tokens.ahead(1).kind === 'identifier')
      return this.#name(this.#tokens.next());
    this.#tokens.unexpected('an expression');
    // A bracket or comma may close what is around: leave it. Anything else would stop us here
    // again.
    if (!/^[)\]},:]$/.test(text)) this.#tokens.next();
    return this.make.literal(null, token.offset);
  }

  #number(minus?: Token): Expr {
    const token = this.#tokens.next();
    const { offset } = minus ?? token;
    const result = parseNumberLiteral(token, { isNegative: minus !== undefined });
    if ('error' in result) this.#tokens.report(offset, result.error);
    return this.make.literal('error' in result ? null : result.value, offset);
  }

  #quoted(token: Token): Expr {
    const result = parseQuotedLiteral(token);
    if ('error' in result) this.#tokens.report(token.offset, result.error);
    return this.make.literal('error' in result ? null : result.value, token.offset);
  }

  /**
   * A name, a call of a function, or an object literal; `dot` is the leading dot of an absolute
   * name.
   */
  #name(dot: Token | undefined): Expr {
    const prefix = dot === undefined ? '' : '.';
    const structTokens = this.#structNameLength();
    if (structTokens !== undefined) {
      let name = prefix;
      for (let count = 0; count < structTokens; count++) name += this.#tokens.next().text;
      return this.#structLiteral(name, this.#tokens.next());
    }
    const token = this.#tokens.next();
    if (reservedWords.has(token.text)) {
      this.#tokens.report(token.offset, `reserved identifier: ${token.text}`);
    }
    const open = this.#tokens.accept('(');
    if (open === undefined) return this.make.ident(prefix + token.text, token.offset);
    const args = this.#list(')', () => this.#expression());
    return this.#call(prefix + token.text, undefined, args, open.offset);
  }

  /** The count of tokens of `a.b.c` if a `{` follows it. */
  #structNameLength(): number | undefined {
    let ahead = 1;
    while (
      this.#tokens.ahead(ahead).text === '.' &&
      this.#tokens.ahead(ahead + 1).kind === 'identifier'
    )
      ahead += 2;
    const token = this.#tokens.ahead(ahead);
    return token.kind === 'symbol' && token.text === '{' ? ahead : undefined;
  }

  #call(name: string, target: Expr | undefined, args: readonly Expr[], offset: number): Expr {
    const macro = this.#options.macros
      .get(name)
      ?.find((one) => isMacroFor(one, args.length, target));
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
      this.#tokens.reportMore(this.make.offsetOf(error.at.id), error.message);
      return this.make.literal(null, offset);
    }
  }

  /** Items up to `close`, separated by commas; a comma may follow the last one in literals. */
  #list<T>(close: ')' | ']' | '}', item: () => T): T[] {
    const items: T[] = [];
    while (!this.#tokens.at(close) && this.#tokens.peek().kind !== 'end') {
      items.push(item());
      if (this.#tokens.accept(',') === undefined) break;
      if (this.#tokens.at(close)) {
        if (close === ')') this.#tokens.unexpected('an expression');
        break;
      }
    }
    this.#tokens.expect(close);
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
    if (this.#tokens.at(',') && this.#tokens.ahead(1).text === ']') this.#tokens.next();
    return this.make.list(this.#list(']', element), optionals, open.offset);
  }

  #mapLiteral(open: Token): Expr {
    const entry = (): MapEntry => {
      const optional = this.#optionalMark();
      const key = this.#expression();
      const id = this.make.nextId(this.#tokens.peek().offset);
      this.#tokens.expect(':');
      return { id, key, value: this.#expression(), optional };
    };
    if (this.#tokens.at(',') && this.#tokens.ahead(1).text === '}') this.#tokens.next();
    return this.make.map(this.#list('}', entry), open.offset);
  }

  #structLiteral(typeName: string, open: Token): Expr {
    const field = (): StructField => {
      const optional = this.#optionalMark();
      const name = this.#fieldName()?.name ?? '';
      const id = this.make.nextId(this.#tokens.peek().offset);
      this.#tokens.expect(':');
      return { id, name, value: this.#expression(), optional };
    };
    if (this.#tokens.at(',') && this.#tokens.ahead(1).text === '}') this.#tokens.next();
    return this.make.struct(typeName, this.#list('}', field), open.offset);
  }
}

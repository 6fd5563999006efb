// YAML text to JSON-shaped data, as YAML 1.1 reads it: `yes` and `on` are booleans, `010` is eight, `<<` merges.
// One document; aliases are expanded within a budget, nesting within a limit, and duplicate keys are reported.
import { Composer, Lexer, LineCounter, Parser, isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { CST, Document, Node, Pair, ScalarTag, YAMLMap } from 'yaml';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { badRequest, requestEntityTooLarge } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { FieldProblem } from './codec.ts';
import { tooDeep } from './json.ts';
import { pathText, toData } from './walk.ts';
import type { PathSegment } from './walk.ts';

export interface ReadYaml {
  readonly value: JsonValue;
  readonly duplicates: readonly FieldProblem[];
}

/** @throws StatusError 400 when the text is not one YAML document that JSON could hold. */
export function readYaml(text: string): ReadYaml {
  const reader: Reader = {
    anchors: new Map(),
    path: [],
    duplicates: [],
    nodes: 0,
    textLength: 0,
    aliasNodes: 0,
    aliasTextLength: 0,
  };
  const document = parseDocument(text);
  const value = document === undefined ? null : convert(document.contents, reader);
  return { value, duplicates: reader.duplicates };
}

function parseDocument(text: string): Document | undefined {
  const lines = new LineCounter();
  const tokens = tokensOf(text, lines);
  const composer = new Composer({
    schema: 'failsafe',
    customTags: scalarTags,
    version: '1.1',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  });
  const [document] = composer.compose(tokens);
  const [error] = document?.errors ?? [];
  if (error !== undefined) {
    const { line, col } = lines.linePos(error.pos[0]);
    const where = `line ${String(line)}, column ${String(col)}`;
    throw badRequest(`the body is not valid YAML: ${where}: ${error.code}`);
  }
  return document;
}

/**
 * The syntax trees of one document. The parser is driven lexeme by lexeme and left as soon as a bound is passed:
 * it takes microseconds a lexeme, and the composer after it recurses.
 */
function tokensOf(text: string, lines: LineCounter): CST.Token[] {
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  let documents = 0;
  let lexemes = 0;
  const take = (token: CST.Token): void => {
    if (token.type === 'document') {
      if (documents > 0 && token.value === undefined) return;
      documents += 1;
      if (documents > 1) throw badRequest('the body holds more than one YAML document');
    }
    tokens.push(token);
  };
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > limits.yamlTokensMax) throw tooLarge();
    for (const token of parser.next(lexeme)) take(token);
    // The stack holds the document, then each open collection, perhaps with the scalar in progress.
    if (parser.stack.length > limits.bodyDepthMax + 2) throw tooDeep();
  }
  for (const token of parser.end()) take(token);
  return tokens;
}

const tooLarge = (): StatusError =>
  requestEntityTooLarge(
    `a YAML body may hold ${String(limits.yamlTokensMax)} tokens; send larger ones as JSON`,
  );

interface Anchored {
  readonly value: JsonValue;
  readonly nodes: number;
  readonly textLength: number;
}

interface Reader {
  readonly anchors: Map<string, Anchored>;
  readonly path: PathSegment[];
  readonly duplicates: FieldProblem[];
  /** Nodes and characters of text converted so far, aliases expanded. */
  nodes: number;
  textLength: number;
  aliasNodes: number;
  aliasTextLength: number;
}

function convert(node: Node | null | undefined, reader: Reader): JsonValue {
  reader.nodes += 1;
  if (node === null || node === undefined) return null;
  if (isAlias(node)) return expand(node.source, reader);
  const { nodes, textLength } = reader;
  const value = convertOwn(node, reader);
  const anchor = 'anchor' in node ? node.anchor : undefined;
  if (anchor !== undefined && anchor !== '') {
    // Set once the node is complete: an alias inside its own anchor finds nothing.
    reader.anchors.set(anchor, {
      value,
      nodes: reader.nodes - nodes,
      textLength: reader.textLength - textLength,
    });
  }
  return value;
}

function convertOwn(node: Node, reader: Reader): JsonValue {
  if (isScalar(node)) return scalar(node.value, reader);
  if (isMap(node)) return convertMap(node, reader);
  if (!isSeq(node)) throw fail(reader, 'is of no form that JSON has');
  return node.items.map((item, index) => {
    reader.path.push(index);
    const value = convert(item as Node, reader);
    reader.path.pop();
    return value;
  });
}

function scalar(value: unknown, reader: Reader): JsonValue {
  switch (typeof value) {
    case 'string':
      reader.textLength += value.length;
      return value.toWellFormed();
    case 'boolean':
    case 'bigint':
      return value;
    case 'number':
      if (Number.isFinite(value)) return value;
      throw fail(reader, 'must be a finite number');
    default:
      return null;
  }
}

function expand(name: string, reader: Reader): JsonValue {
  const anchored = reader.anchors.get(name);
  if (anchored === undefined) throw fail(reader, 'is an alias of something unknown or of itself');
  reader.aliasNodes += anchored.nodes;
  reader.aliasTextLength += anchored.textLength;
  if (
    reader.aliasNodes > limits.yamlAliasNodesMax ||
    reader.aliasTextLength > limits.requestBodyBytesMax
  ) {
    throw badRequest('the aliases of the YAML body expand to too much');
  }
  reader.nodes += anchored.nodes;
  reader.textLength += anchored.textLength;
  return toData(anchored.value);
}

function convertMap(map: YAMLMap, reader: Reader): JsonValue {
  const result = Object.create(null) as JsonObject;
  const merged: JsonValue[] = [];
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    if (isMergeKey(pair.key)) {
      merged.push(convert(pair.value, reader));
      continue;
    }
    const key = keyText(convert(pair.key, reader), reader);
    reader.path.push(key);
    if (Object.hasOwn(result, key)) reportDuplicate(reader);
    result[key] = convert(pair.value, reader);
    reader.path.pop();
  }
  for (const source of merged) mergeInto(result, source, reader);
  return result;
}

const isMergeKey = (key: unknown): boolean =>
  isScalar(key) && key.value === '<<' && key.type === 'PLAIN';

/** Members of merged maps give way to those written out; of a list of maps the first one wins. */
function mergeInto(target: JsonObject, source: JsonValue, reader: Reader): void {
  for (const map of Array.isArray(source) ? source : [source]) {
    if (typeof map !== 'object' || map === null || Array.isArray(map)) {
      throw fail(reader, 'merges something that is not a map');
    }
    for (const key of Object.keys(map)) {
      if (!Object.hasOwn(target, key)) target[key] = map[key];
    }
  }
}

function keyText(key: JsonValue, reader: Reader): string {
  if (typeof key === 'string') return key;
  if (key === null || typeof key === 'object') throw fail(reader, 'has a key that is not a scalar');
  return String(key);
}

function reportDuplicate(reader: Reader): void {
  if (reader.duplicates.length >= limits.fieldProblemsMax) return;
  reader.duplicates.push({ kind: 'duplicate', path: pathText(reader.path) });
}

function fail(reader: Reader, why: string): StatusError {
  const path = pathText(reader.path);
  return badRequest(`the YAML body cannot be read: ${path === '' ? 'it' : path} ${why}`);
}

const tag = (name: string): string => `tag:yaml.org,2002:${name}`;

/** Plain scalars of YAML 1.1 as the usual reader of manifests takes them; times stay text. */
export const scalarTags: ScalarTag[] = [
  { tag: tag('null'), default: true, test: /^(?:~|null|Null|NULL)?$/, resolve: () => null },
  {
    tag: tag('bool'),
    default: true,
    test: /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/,
    resolve: () => true,
  },
  {
    tag: tag('bool'),
    default: true,
    test: /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/,
    resolve: () => false,
  },
  {
    tag: tag('int'),
    default: true,
    test: /^[-+]?(?:0|[1-9][\d_]*)$/,
    resolve: (text) => integer(text, ''),
  },
  {
    tag: tag('int'),
    default: true,
    test: /^[-+]?0o?[0-7_]+$/,
    resolve: (text) => integer(text.replace(/0o?/, ''), '0o'),
  },
  {
    tag: tag('int'),
    default: true,
    test: /^[-+]?0x[\da-fA-F_]+$/,
    resolve: (text) => integer(text.replace('0x', ''), '0x'),
  },
  {
    tag: tag('int'),
    default: true,
    test: /^[-+]?0b[01_]+$/,
    resolve: (text) => integer(text.replace('0b', ''), '0b'),
  },
  {
    tag: tag('float'),
    default: true,
    test: /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/,
    resolve: (text) => Number(text),
  },
  { tag: tag('float'), default: true, test: /^[-+]?\.(?:inf|Inf|INF)$/, resolve: () => Infinity },
  { tag: tag('float'), default: true, test: /^\.(?:nan|NaN|NAN)$/, resolve: () => NaN },
  {
    tag: tag('binary'),
    default: false,
    resolve: (text) => Buffer.from(text, 'base64').toString('utf8'),
  },
];

const unsignedMax = 2n ** 64n - 1n;
const signedMin = -(2n ** 63n);

/** Exact up to 64 bits, a float beyond. */
function integer(text: string, prefix: string): JsonValue {
  const negative = text.startsWith('-');
  const digits = text.replace(/[-+_]/g, '');
  if (digits === '') return text;
  if (digits.length > 128) return Number(prefix + digits);
  const magnitude = BigInt(prefix + digits);
  const exact = negative ? -magnitude : magnitude;
  const rounded = Number(exact);
  return Number.isSafeInteger(rounded) || exact > unsignedMax || exact < signedMin
    ? rounded
    : exact;
}

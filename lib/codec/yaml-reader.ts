// YAML text to JSON-shaped data. One document; aliases are expanded within a budget, nesting and
// length within limits, merge keys applied, and duplicate keys reported.
import { newRecord } from '../api/record.ts';
import { EVENT_ID, SCALAR_STYLE, YAMLException, getScalarValue, parseEvents } from 'js-yaml';
import type { Event, MappingEvent, ScalarEvent, SequenceEvent } from 'js-yaml';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { badRequest, requestEntityTooLarge } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { FieldProblem } from './codec.ts';
import { pathText, toData, tooDeep } from './walk.ts';
import type { PathSegment } from './walk.ts';
import { numberValue, plainValue } from './yaml-scalar.ts';

export interface ReadYaml {
  readonly value: JsonValue;
  readonly duplicates: readonly FieldProblem[];
  /** Keys that came again, by the object that they are in. */
  readonly repeated: ReadonlyMap<JsonObject, readonly string[]>;
}

/** @throws StatusError 400 or 413 when the text is not one YAML document that JSON could hold. */
export function readYaml(text: string): ReadYaml {
  const events = eventsOf(text);
  const reader: Reader = {
    text,
    events,
    at: 1, // The first event opens the document.
    anchors: new Map(),
    path: [],
    depth: 0,
    duplicates: [],
    repeated: new Map(),
    nodes: 0,
    textLength: 0,
    aliasNodes: 0,
    aliasTextLength: 0,
  };
  const value = events.length === 0 ? null : convert(reader);
  if (!isRestEmpty(events, reader.at + 1)) {
    throw badRequest('the body holds more than one YAML document');
  }
  return { value, duplicates: reader.duplicates, repeated: reader.repeated };
}

/** A node of the parser is a level, scalars too: what the reader refuses is never too deep here. */
const parserDepthMax = limits.bodyDepthMax + 2;

function eventsOf(text: string): readonly Event[] {
  const { requestBodyBytesMax: lengthMax } = limits;
  if (text.length > lengthMax) throw requestEntityTooLarge(`limit is ${String(lengthMax)} bytes`);
  try {
    return parseEvents(text, { maxDepth: parserDepthMax });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw malformed(error);
  }
}

/** Says where and why; a reason that quotes the body is left out, for bodies hold secrets. */
function malformed({ reason, mark }: YAMLException): StatusError {
  if (reason.startsWith('nesting exceeded')) return tooDeep();
  const line = String((mark?.line ?? 0) + 1);
  const column = String((mark?.column ?? 0) + 1);
  const why = /["`:]/.test(reason.replace("':'", '')) ? '' : `: ${reason}`;
  return badRequest(`the body is not valid YAML: line ${line}, column ${column}${why}`);
}

/** Documents without content may follow, as after a last `---`. */
function isRestEmpty(events: readonly Event[], from: number): boolean {
  for (let at = from; at < events.length; at += 1) {
    const event = events[at];
    if (event?.type === EVENT_ID.DOCUMENT || event?.type === EVENT_ID.POP) continue;
    if (event?.type !== EVENT_ID.SCALAR || event.valueStart !== absent) return false;
  }
  return true;
}

interface Anchored {
  readonly value: JsonValue;
  readonly nodes: number;
  readonly textLength: number;
}

interface Reader {
  readonly text: string;
  readonly events: readonly Event[];
  /** Index of the next event. */
  at: number;
  readonly anchors: Map<string, Anchored>;
  readonly path: PathSegment[];
  depth: number;
  readonly duplicates: FieldProblem[];
  readonly repeated: Map<JsonObject, string[]>;
  /** Nodes and characters of text converted so far, aliases expanded. */
  nodes: number;
  textLength: number;
  aliasNodes: number;
  aliasTextLength: number;
}

/** An offset of the parser that points nowhere. */
const absent = -1;

/** The value of the next node. */
function convert(reader: Reader): JsonValue {
  const event = reader.events[reader.at];
  reader.at += 1;
  reader.nodes += 1;
  switch (event?.type) {
    case EVENT_ID.ALIAS:
      return expand(reader.text.slice(event.anchorStart, event.anchorEnd), reader);
    case EVENT_ID.SCALAR:
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      if (event.anchorStart === absent) return convertOwn(event, reader);
      return convertAnchored(event, reader);
    default:
      throw fail(reader, 'is missing');
  }
}

type NodeEvent = ScalarEvent | SequenceEvent | MappingEvent;

function convertAnchored(event: NodeEvent, reader: Reader): JsonValue {
  const { nodes, textLength } = reader;
  const value = convertOwn(event, reader);
  // Set once the node is complete: an alias inside its own anchor finds nothing.
  reader.anchors.set(reader.text.slice(event.anchorStart, event.anchorEnd), {
    value,
    nodes: reader.nodes - nodes,
    textLength: reader.textLength - textLength,
  });
  return value;
}

function convertOwn(event: NodeEvent, reader: Reader): JsonValue {
  if (event.type === EVENT_ID.SCALAR) return scalar(event, reader);
  reader.depth += 1;
  if (reader.depth > limits.bodyDepthMax) throw tooDeep();
  const value = event.type === EVENT_ID.MAPPING ? convertMap(reader) : convertList(reader);
  reader.depth -= 1;
  reader.at += 1; // What closes the collection.
  return value;
}

const isOpen = (reader: Reader): boolean =>
  reader.at < reader.events.length && reader.events[reader.at]?.type !== EVENT_ID.POP;

function convertList(reader: Reader): JsonValue {
  const list: JsonValue[] = [];
  while (isOpen(reader)) {
    reader.path.push(list.length);
    list.push(convert(reader));
    reader.path.pop();
  }
  return list;
}

function scalar(event: ScalarEvent, reader: Reader): JsonValue {
  const text = getScalarValue(reader.text, event);
  const value = event.tagStart === absent ? untagged(text, event) : tagged(text, event, reader);
  if (typeof value === 'string') {
    reader.textLength += value.length;
    return value.isWellFormed() ? value : value.toWellFormed();
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw fail(reader, 'must be a finite number');
  }
  return value;
}

const untagged = (text: string, { style }: ScalarEvent): JsonValue =>
  style === SCALAR_STYLE.PLAIN ? plainValue(text) : text;

/** Tags of YAML itself decide; others say nothing that JSON could hold. */
function tagged(text: string, event: ScalarEvent, reader: Reader): JsonValue {
  const tag = reader.text.slice(event.tagStart, event.tagEnd);
  switch (tag.replace(/^(?:!!|!<tag:yaml\.org,2002:(.*)>$)/, '$1')) {
    case 'str':
    case '!':
      return text;
    case 'binary':
      return Buffer.from(text, 'base64').toString('utf8');
    case 'int':
    case 'float':
      return numberValue(text) ?? refuseTag(reader, tag);
    case 'bool': {
      const value = plainValue(text);
      return typeof value === 'boolean' ? value : refuseTag(reader, tag);
    }
    case 'null':
      return null;
    default:
      return untagged(text, event);
  }
}

function refuseTag(reader: Reader, tag: string): never {
  throw fail(reader, `does not fit its tag ${tag}`);
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

function convertMap(reader: Reader): JsonValue {
  const result = newRecord();
  const merged: JsonValue[] = [];
  while (isOpen(reader)) {
    if (isMergeKey(reader)) {
      reader.at += 1;
      merged.push(convert(reader));
      continue;
    }
    const key = keyText(convert(reader), reader);
    reader.path.push(key);
    if (key in result) reportDuplicate(reader, result, key);
    result[key] = convert(reader);
    reader.path.pop();
  }
  for (const source of merged) mergeInto(result, source, reader);
  return result;
}

function isMergeKey({ text, events, at }: Reader): boolean {
  const event = events[at];
  if (event?.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return false;
  const { valueStart, valueEnd } = event;
  return valueEnd - valueStart === 2 && text.startsWith('<<', valueStart);
}

/** Members of merged maps give way to those written out; of a list of maps the first one wins. */
function mergeInto(target: JsonObject, source: JsonValue, reader: Reader): void {
  for (const map of Array.isArray(source) ? source : [source]) {
    if (typeof map !== 'object' || map === null || Array.isArray(map)) {
      throw fail(reader, 'merges something that is not a map');
    }
    for (const key of Object.keys(map)) if (!(key in target)) target[key] = map[key];
  }
}

function keyText(key: JsonValue, reader: Reader): string {
  if (typeof key === 'string') return key;
  if (key === null || typeof key === 'object') throw fail(reader, 'has a key that is not a scalar');
  return String(key);
}

function reportDuplicate(reader: Reader, object: JsonObject, key: string): void {
  if (reader.duplicates.length >= limits.fieldProblemsMax) return;
  const keys = reader.repeated.get(object) ?? [];
  keys.push(key);
  reader.repeated.set(object, keys);
  reader.duplicates.push({ kind: 'duplicate', path: pathText(reader.path) });
}

function fail(reader: Reader, why: string): StatusError {
  const path = pathText(reader.path);
  return badRequest(`the YAML body cannot be read: ${path === '' ? 'it' : path} ${why}`);
}

// Table and PartialObjectMetadata forms of any resource. A row but for its ages, or a partial
// object, is made once per item; tables and lists are concatenations, as those of whole objects.
import { AgeCell } from '../api/age-cell.ts';
import type { TableColumns } from '../api/type-info.ts';
import { withoutAnnotations } from '../api/convert-fields.ts';
import type { JsonObject } from '../api/type-info.ts';
import { humanAge } from '../base/human-age.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject } from './codec.ts';
import { envelope } from './frame.ts';
import type { ListMeta } from './frame.ts';
import { stringify } from './json.ts';
import { sentText } from './raw-fields.ts';

/** What a row holds of its object. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** The query parameter `includeObject`. @throws StatusError 400 for an unknown value. */
export function parseIncludeObject(value: string | null | undefined): IncludeObject {
  switch (value ?? '') {
    case '':
    case 'Metadata':
      return 'Metadata';
    case 'None':
      return 'None';
    case 'Object':
      return 'Object';
    default:
      throw badRequest(
        `includeObject ${JSON.stringify(value)} is not known: use None, Metadata or Object`,
      );
  }
}

/**
 * The object reduced to its metadata, without the annotations that are `hidden`. Its `apiVersion`,
 * here and below, is that of the group of metadata which was asked for.
 */
export function partialObject(
  object: Readonly<ApiObject>,
  apiVersion: string,
  hidden: readonly string[] = [],
): JsonObject {
  const { annotations } = object.metadata ?? {};
  const isHidden = hidden.some((name) => annotations?.[name] !== undefined);
  const { metadata = {} } = isHidden ? withoutAnnotations(object, hidden) : object;
  return { kind: 'PartialObjectMetadata', apiVersion, metadata };
}

export const partialObjectBytes = (
  object: Readonly<ApiObject>,
  apiVersion: string,
  hidden: readonly string[] = [],
): Uint8Array => Buffer.from(stringify(partialObject(object, apiVersion, hidden)));

/** Opens a list of partial objects; `listSeparator` and `listClose` of frame.ts do the rest. */
export const partialListOpen = (metadata: ListMeta, apiVersion: string): Uint8Array =>
  Buffer.from(`${envelope('PartialObjectMetadataList', apiVersion, metadata)},"items":[`);

export interface RowForm {
  readonly columns: TableColumns;
  readonly include: IncludeObject;
  /** Annotations that metadata by itself is without. */
  readonly hidden?: readonly string[];
}

export interface RowSource {
  /** What the cells show, where the row holds another version of it. */
  readonly stored?: Readonly<ApiObject>;
  /** The object as it is sent. */
  readonly json?: () => Uint8Array;
}

/**
 * A row whose ages are still open, to be kept as bytes: how many there are, then of each its place
 * in the row and the moment that it counts from, then the row.
 */
export function openRow(
  object: Readonly<ApiObject>,
  form: RowForm,
  apiVersion: string,
  { stored = object, json }: RowSource = {},
): Uint8Array {
  const { columns } = form;
  const ages: { readonly position: number; readonly sinceMs: number }[] = [];
  let text = '{"cells":[';
  let separator = '';
  for (const cell of columns.cells(stored)) {
    text += separator;
    separator = ',';
    if (cell instanceof AgeCell) {
      text += JSON.stringify(cell.before).slice(0, -1);
      ages.push({ position: Buffer.byteLength(text), sinceMs: cell.sinceMs });
      text += JSON.stringify(cell.after).slice(1);
    } else text += stringify(cell);
  }
  const conditions = columns.conditions?.(stored);
  if (conditions !== undefined) text += `],"conditions":[${conditions.map(stringify).join()}`;
  text += `],"object":${heldText(object, form, apiVersion, json)}}`;
  const head = countBytes + ages.length * ageBytes;
  const bytes = Buffer.allocUnsafe(head + Buffer.byteLength(text));
  bytes.writeUInt32LE(ages.length, 0);
  for (const [index, { position, sinceMs }] of ages.entries()) {
    bytes.writeUInt32LE(position, countBytes + index * ageBytes);
    bytes.writeDoubleLE(sinceMs, countBytes + index * ageBytes + positionBytes);
  }
  bytes.write(text, head, 'utf8');
  return bytes;
}

const countBytes = 4;
const positionBytes = 4;
const ageBytes = positionBytes + 8;

/**
 * Rows as they are at some time: entries of a list that are copied with their ages, side by side in
 * few arrays, since an object for each row outlives collections while the answer is written.
 */
export class TimedRows {
  readonly #nowMs: number;
  readonly #rows: Buffer[] = [];
  readonly #lengths: number[] = [];
  /** Those of all rows, and where each row's begin. */
  readonly #ages: string[] = [];
  readonly #agesAt: number[] = [];

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  /** `row`: what `openRow` made. */
  add(row: Uint8Array): void {
    // Kept rows are Buffers: no view of each is made.
    const open = Buffer.isBuffer(row) ? row : Buffer.from(row.buffer, row.byteOffset, row.length);
    const head = headOf(open);
    let length = open.length - head;
    this.#agesAt.push(this.#ages.length);
    for (let at = countBytes; at < head; at += ageBytes) {
      const age = humanAge(this.#nowMs - open.readDoubleLE(at + positionBytes));
      this.#ages.push(age);
      length += age.length;
    }
    this.#rows.push(open);
    this.#lengths.push(length);
  }

  get count(): number {
    return this.#rows.length;
  }

  lengthAt(index: number): number {
    return this.#lengths[index] ?? 0;
  }

  /** Copies the row to `at` of a buffer with room for it. */
  copyTo(index: number, target: Buffer, at: number): void {
    const open = this.#rows[index];
    if (open === undefined) return;
    const head = headOf(open);
    let age = this.#agesAt[index] ?? 0;
    let from = head;
    let to = at;
    for (let place = countBytes; place < head; place += ageBytes) {
      const position = head + open.readUInt32LE(place);
      to += open.copy(target, to, from, position);
      // A few ASCII letters: less than the call of a native function.
      const text = this.#ages[age++] ?? '';
      for (let letter = 0; letter < text.length; letter++) target[to++] = text.charCodeAt(letter);
      from = position;
    }
    open.copy(target, to, from);
  }

  bytesAt(index: number): Uint8Array {
    const closed = Buffer.allocUnsafe(this.lengthAt(index));
    this.copyTo(index, closed, 0);
    return closed;
  }
}

const headOf = (open: Buffer): number => countBytes + open.readUInt32LE(0) * ageBytes;

/** One row by itself. */
export function closedRow(row: Uint8Array, nowMs: number): Uint8Array {
  const rows = new TimedRows(nowMs);
  rows.add(row);
  return rows.bytesAt(0);
}

/** `headers` false leaves the columns out: a watch sends them with its first event only. */
export interface TableHeaders {
  readonly columns: TableColumns;
  readonly headers: boolean;
}

/**
 * Opens a Table up to the bracket of its rows; `listSeparator` and `listClose` of frame.ts do the
 * rest.
 */
export function tableOpen(metadata: ListMeta, table: TableHeaders, apiVersion: string): Uint8Array {
  const definitions = table.headers ? JSON.stringify(table.columns.definitions) : 'null';
  const head = envelope('Table', apiVersion, metadata);
  return Buffer.from(`${head},"columnDefinitions":${definitions},"rows":[`);
}

/** A whole Table of one row: one object, or one event of a watch. */
export function tableBytes(
  row: Uint8Array,
  metadata: ListMeta,
  table: TableHeaders,
  apiVersion: string,
): Uint8Array {
  return Buffer.concat([tableOpen(metadata, table, apiVersion), row, tableEnd]);
}

const tableEnd = Buffer.from(']}');

function heldText(
  object: Readonly<ApiObject>,
  { include, hidden }: RowForm,
  apiVersion: string,
  json: RowSource['json'],
): string {
  switch (include) {
    case 'None':
      return 'null';
    case 'Metadata':
      return stringify(partialObject(object, apiVersion, hidden));
    case 'Object':
      return json === undefined ? sentText(object) : Buffer.from(json()).toString();
  }
}

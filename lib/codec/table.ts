// Table and PartialObjectMetadata forms of any resource. A row, but for its ages, or a partial
// object is made once per item; tables and lists are concatenations, as those of whole objects.
import { AgeCell } from '../api/age-cell.ts';
import type { TableColumns } from '../api/type-info.ts';
import { withoutAnnotations } from '../api/convert-fields.ts';
import type { JsonObject } from '../api/type-info.ts';
import { humanAge, humanAgeUntilMs } from '../base/human-age.ts';
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

/** A row of a Table, with its ages open until somebody asks for it at some time. */
export function tableRow(
  object: Readonly<ApiObject>,
  form: RowForm,
  apiVersion: string,
  { stored = object, json }: RowSource = {},
): TableRow {
  const { columns } = form;
  const ages: Age[] = [];
  let text = '{"cells":[';
  let separator = '';
  for (const cell of columns.cells(stored)) {
    text += separator;
    separator = ',';
    if (cell instanceof AgeCell) {
      text += JSON.stringify(cell.before).slice(0, -1);
      ages.push({ at: Buffer.byteLength(text), length: 0, sinceMs: cell.sinceMs });
      text += JSON.stringify(cell.after).slice(1);
    } else text += stringify(cell);
  }
  const conditions = columns.conditions?.(stored);
  if (conditions !== undefined) text += `],"conditions":[${conditions.map(stringify).join()}`;
  text += `],"object":${heldText(object, form, apiVersion, json)}}`;
  return new TableRow(Buffer.from(text), ages);
}

/** Where the bytes of a row show an age, in so many ASCII letters, and of when. */
interface Age {
  at: number;
  length: number;
  readonly sinceMs: number;
}

/** Objects and their numbers. */
const rowOverheadBytes = 160;
const ageOverheadBytes = 100;

/** A row that is kept: bytes that are made again, of themselves, when an age in them is another. */
export class TableRow {
  /** What it costs in memory. */
  readonly byteLength: number;
  readonly #ages: readonly Age[];
  #bytes: Buffer;
  /** When the bytes hold. */
  #fromMs: number;
  #untilMs = Infinity;

  constructor(open: Buffer, ages: readonly Age[]) {
    this.byteLength = open.length + rowOverheadBytes + ages.length * ageOverheadBytes;
    this.#bytes = open;
    this.#ages = ages;
    this.#fromMs = ages.length === 0 ? -Infinity : Infinity;
  }

  /** The row as it is then. The bytes stay as they are. */
  bytesAt(nowMs: number): Uint8Array {
    if (nowMs < this.#fromMs || nowMs >= this.#untilMs) this.#renew(nowMs);
    return this.#bytes;
  }

  #renew(nowMs: number): void {
    const shown = this.#bytes;
    const texts = this.#ages.map(({ sinceMs }) => humanAge(nowMs - sinceMs));
    const length = this.#ages.reduce(
      (sum, age, index) => sum + (texts[index]?.length ?? 0) - age.length,
      shown.length,
    );
    const bytes = Buffer.allocUnsafe(length);
    let from = 0;
    let to = 0;
    let untilMs = Infinity;
    for (const [index, age] of this.#ages.entries()) {
      to += shown.copy(bytes, to, from, age.at);
      from = age.at + age.length;
      age.at = to;
      age.length = bytes.write(texts[index] ?? '', to, 'latin1');
      to += age.length;
      untilMs = Math.min(untilMs, age.sinceMs + humanAgeUntilMs(nowMs - age.sinceMs));
    }
    shown.copy(bytes, to, from);
    this.#bytes = bytes;
    this.#fromMs = nowMs;
    this.#untilMs = untilMs;
  }
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

// Table and PartialObjectMetadata forms of any resource, with the two default columns of specification 1.
// A row or a partial object is made once per item; tables and lists are concatenations, as those of whole objects.
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject } from './codec.ts';
import { envelope, listMetaObject } from './frame.ts';
import type { ListMeta } from './frame.ts';
import { stringify } from './json.ts';

/** What a row holds of its object. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0: always shown; larger: in wide output only. */
  readonly priority: number;
}

/** Columns of a resource and what fills them; the cells of an object stand in the columns' order. */
export interface TableColumns {
  readonly definitions: readonly TableColumn[];
  cells(object: Readonly<ApiObject>): JsonValue[];
}

/** Of resources without columns of their own. */
export const defaultColumns: TableColumns = {
  definitions: [
    column(
      'Name',
      'string',
      'name',
      'Name of the object, unique for its kind within its namespace.',
    ),
    column('Created At', 'date', '', 'When the object was created.'),
  ],
  cells: ({ metadata }) => [metadata?.name ?? '', metadata?.creationTimestamp ?? null],
};

function column(name: string, type: string, format: string, description: string): TableColumn {
  return { name, type, format, description, priority: 0 };
}

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

/** The object reduced to its metadata. */
export function partialObject(object: Readonly<ApiObject>, profile: NamingProfile): JsonObject {
  const apiVersion = metaVersion(profile);
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata ?? {} };
}

export const partialObjectBytes = (
  object: Readonly<ApiObject>,
  profile: NamingProfile,
): Uint8Array => Buffer.from(stringify(partialObject(object, profile)));

/** Opens a list of partial objects; `listSeparator` and `listClose` of frame.ts do the rest. */
export const partialListOpen = (metadata: ListMeta, profile: NamingProfile): Uint8Array =>
  Buffer.from(`${envelope('PartialObjectMetadataList', metaVersion(profile), metadata)},"items":[`);

/** The row of one object, which names its kind and version itself. */
export function tableRow(
  object: Readonly<ApiObject>,
  form: { readonly columns: TableColumns; readonly include: IncludeObject },
  profile: NamingProfile,
): JsonObject {
  return { cells: form.columns.cells(object), object: included(object, form.include, profile) };
}

export const tableRowBytes = (
  object: Readonly<ApiObject>,
  form: { readonly columns: TableColumns; readonly include: IncludeObject },
  profile: NamingProfile,
): Uint8Array => Buffer.from(stringify(tableRow(object, form, profile)));

/** `headers` false leaves the columns out: a watch sends them with its first event only. */
export interface TableHeaders {
  readonly columns: TableColumns;
  readonly headers: boolean;
}

/** Opens a Table up to the bracket of its rows; `listSeparator` and `listClose` of frame.ts do the rest. */
export function tableOpen(
  metadata: ListMeta,
  table: TableHeaders,
  profile: NamingProfile,
): Uint8Array {
  const definitions = table.headers ? JSON.stringify(table.columns.definitions) : 'null';
  const head = envelope('Table', metaVersion(profile), metadata);
  return Buffer.from(`${head},"columnDefinitions":${definitions},"rows":[`);
}

/** A whole Table of the given rows, for encodings other than JSON. */
export function tableObject(
  rows: readonly JsonObject[],
  metadata: ListMeta,
  table: TableHeaders,
  profile: NamingProfile,
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: metaVersion(profile),
    metadata: listMetaObject(metadata),
    columnDefinitions: table.headers
      ? table.columns.definitions.map((definition) => ({ ...definition }))
      : null,
    rows: [...rows],
  };
}

/** A whole Table of one row that is bytes already: one object, or one event of a watch. */
export function tableBytes(
  row: Uint8Array,
  metadata: ListMeta,
  table: TableHeaders,
  profile: NamingProfile,
): Uint8Array {
  return Buffer.concat([tableOpen(metadata, table, profile), row, tableEnd]);
}

const tableEnd = Buffer.from(']}');

const metaVersion = (profile: NamingProfile): string => `${profile.metaGroup}/v1`;

function included(
  object: Readonly<ApiObject>,
  include: IncludeObject,
  profile: NamingProfile,
): JsonValue {
  switch (include) {
    case 'None':
      return null;
    case 'Metadata':
      return partialObject(object, profile);
    case 'Object':
      return object;
  }
}

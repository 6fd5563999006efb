// What a Table shows of a kind: columns and what fills them. Ages are cells of their own, so that
// everything else of a row can be kept while time passes.
import { valueIn } from './json-access.ts';
import { AgeCell } from './age-cell.ts';
import type { Cell, JsonObject, JsonValue, TableColumn, TableColumns } from './type-info.ts';

export type Fill = (object: Readonly<JsonObject>) => Cell;

export interface FilledColumn {
  readonly definition: TableColumn;
  readonly fill: Fill;
}

type ColumnType = 'string' | 'integer' | 'boolean' | 'date';

export function column(
  name: string,
  type: ColumnType,
  fill: Fill,
  description: string,
): FilledColumn {
  return { definition: { name, type, format: '', description, priority: 0 }, fill };
}

/** Shown in wide output only. */
export const wide = ({ definition, fill }: FilledColumn): FilledColumn => ({
  definition: { ...definition, priority: 1 },
  fill,
});

/** The column that names objects. */
export const naming = ({ definition, fill }: FilledColumn): FilledColumn => ({
  definition: { ...definition, format: 'name' },
  fill,
});

export const tableOf = (
  columns: readonly FilledColumn[],
  more: Pick<TableColumns, 'conditions'> = {},
): TableColumns => ({
  definitions: columns.map(({ definition }) => definition),
  cells: (object) => columns.map(({ fill }) => fill(object)),
  ...more,
});

/** The value at a dotted path of names; undefined where something on the way is absent. */
export const at = (object: Readonly<JsonObject>, path: string): JsonValue | undefined =>
  valueIn(object, path.split('.'));

/** A text, or a number as text; `otherwise` when it is absent or empty. */
export function text(path: string, otherwise = ''): Fill {
  return (object) => {
    const value = at(object, path);
    const isText = typeof value === 'string' || typeof value === 'number';
    return isText && value !== '' ? String(value) : otherwise;
  };
}

/** A number; `otherwise` when it is absent. */
export function number(path: string, otherwise: Cell = 0): Fill {
  return (object) => {
    const value = at(object, path);
    if (typeof value === 'bigint') return value;
    return typeof value === 'number' ? value : otherwise;
  };
}

export function flag(path: string, otherwise = false): Fill {
  return (object) => {
    const value = at(object, path);
    return typeof value === 'boolean' ? value : otherwise;
  };
}

/** How many elements a list has. */
export function count(path: string): Fill {
  return (object) => {
    const value = at(object, path);
    return Array.isArray(value) ? value.length : 0;
  };
}

function texts(object: Readonly<JsonObject>, path: string): readonly string[] {
  const value = at(object, path);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export function joined(path: string, otherwise: string): Fill {
  return (object) => texts(object, path).join(',') || otherwise;
}

/** The time since the moment at `path`. */
export function since(path: string, otherwise = '<unknown>'): Fill {
  return (object) => ageOf(at(object, path)) ?? otherwise;
}

/** undefined: no time. */
export function ageOf(time: JsonValue | undefined, before = '', after = ''): AgeCell | undefined {
  const moment = timeOf(time);
  return moment === undefined ? undefined : new AgeCell(moment, before, after);
}

export function timeOf(time: JsonValue | undefined): number | undefined {
  const moment = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

/** `a,b,c + 2 more...` */
export function firstOf(all: readonly string[], shownCount: number, separator = ','): string {
  const rest = all.length - shownCount;
  const shown = all.slice(0, shownCount).join(separator);
  return rest > 0 ? `${shown} + ${String(rest)} more...` : shown;
}

export const name = naming(
  column(
    'Name',
    'string',
    text('metadata.name'),
    'Name of the object, unique for its kind within its namespace.',
  ),
);
export const age = column(
  'Age',
  'string',
  since('metadata.creationTimestamp'),
  'Time since the object was created.',
);

/** Of built-in kinds without columns of their own. */
export const defaultColumns: TableColumns = tableOf([
  name,
  column(
    'Created At',
    'date',
    (object) => at(object, 'metadata.creationTimestamp') ?? null,
    'When the object was created.',
  ),
]);

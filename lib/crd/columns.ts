// The columns of a custom resource: the name, and what its definition shows beside it. A path is
// parsed when a Table is asked for, not when the definition comes.
import { createHash } from 'node:crypto';
import { AgeCell } from '../api/age-cell.ts';
import { name, tableOf, timeOf } from '../api/column.ts';
import type { FilledColumn } from '../api/column.ts';
import { goText } from '../api/go-text.ts';
import { numberAt, recordAt, textAt } from '../api/json-access.ts';
import { sortedText } from '../api/raw-json.ts';
import type { Cell, JsonObject, JsonValue, TableColumns } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { canonicalTime } from '../codec/value-forms.ts';
import { findValues } from './json-path.ts';
import type { JsonPath, PathBudget } from './json-path.ts';
import { parseJsonPath } from './parse-json-path.ts';

/** `given`: as a version has them; none: the age. */
export function columnsOf(given: readonly JsonObject[]): TableColumns {
  const columns: Column[] = [];
  for (const one of given.length === 0 ? [age] : given) {
    const path = parseJsonPath(textAt(one, 'jsonPath'));
    if (path === undefined) break; // What follows a path that is none is not shown either.
    columns.push({ ...definitionOf(one), path });
  }
  const table = tableOf([
    name,
    ...columns.map(({ definition }) => ({ definition, fill: nothing })),
  ]);
  const digest = createHash('sha256').update(sortedText([...given]));
  return {
    ...table,
    cells(object) {
      const budget = { steps: limits.columnStepsMax };
      const shown: Cell[] = [textAt(recordAt(object, 'metadata'), 'name')];
      for (const { definition, path } of columns) {
        shown.push(cellOf(definition.type, firstOf(path, object, budget)));
      }
      return shown;
    },
    variant: digest.digest('base64url').slice(0, 16),
  };
}

interface Column extends Pick<FilledColumn, 'definition'> {
  readonly path: JsonPath;
}

const nothing = (): null => null;
const age: JsonObject = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
};

function definitionOf(column: JsonObject): Pick<FilledColumn, 'definition'> {
  const path = textAt(column, 'jsonPath');
  const usual = `Custom resource definition column (in JSONPath format): ${path}`;
  return {
    definition: {
      name: textAt(column, 'name'),
      type: textAt(column, 'type'),
      format: textAt(column, 'format'),
      description: textAt(column, 'description') || usual,
      priority: numberAt(column, 'priority') ?? 0,
    },
  };
}

/** Of several results the first counts; null: there is none. */
const firstOf = (path: JsonPath, object: Readonly<JsonObject>, budget: PathBudget): JsonValue =>
  findValues(path, object, budget)?.[0] ?? null;

function cellOf(type: string, value: JsonValue): Cell {
  if (value === null) return null;
  switch (type) {
    case 'string':
      return textOf(value);
    case 'integer':
      if (typeof value === 'bigint') return value;
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value) : null;
    default:
      return null;
  }
}

const textOf = (value: JsonValue): string =>
  typeof value === 'object' ? sortedText(value) : goText(value);

/** The zero time is no time. */
function ageOf(text: string): Cell {
  const time = text === '' ? null : canonicalTime(text);
  if (time === undefined) return '<invalid>';
  const moment = time === null ? undefined : timeOf(time);
  return moment === undefined ? '<unknown>' : new AgeCell(moment);
}

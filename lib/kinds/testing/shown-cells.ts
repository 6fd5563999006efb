// Cells of a kind as a test reads them: at one fixed time, ages as `~` and minutes. For suites.
import { builtInScheme } from '../built-in-kinds.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { AgeCell } from '../../api/age-cell.ts';
import { kindColumns } from '../built-in-kinds.ts';

export const profile = namingProfile('kubernetes');
export const scheme = builtInScheme({ profile });
export const columnsOf = kindColumns(profile);

const nowMs = Date.parse('2024-05-02T00:00:00Z');
export const dayAgo = '2024-05-01T00:00:00Z';
export const minuteAgo = '2024-05-01T23:59:00Z';
/** How an age of a day is shown. */
export const day = '~1440m';
/** Of every object that has none of its own. */
export const metadata = { name: 'a', namespace: 'n', creationTimestamp: dayAgo };

export function cellsOf(id: string, object: JsonObject): unknown[] {
  const { cells } = columnsOf(scheme.type(id));
  return cells({ metadata, ...object }).map((cell) =>
    cell instanceof AgeCell
      ? `${cell.before}~${String((nowMs - cell.sinceMs) / 60_000)}m${cell.after}`
      : cell,
  );
}

/** A condition of a status. */
export const holds = (type: string, status = 'True', more: object = {}): JsonObject => ({
  type,
  status,
  ...more,
});

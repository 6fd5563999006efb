import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { defaultColumns } from '../api/column.ts';
import { columnsOf, profile, scheme } from './testing/shown-cells.ts';

test('every kind fills its columns from an object without any field', () => {
  for (const { type } of scheme.resources) {
    const { definitions, cells } = columnsOf(type);
    // Addresses show an age without a column, as clients know it.
    const ages = type.id.endsWith('.IPAddress') ? 1 : 0;
    expect(cells({})).toHaveLength(definitions.length + ages);
  }
});

const file = join(import.meta.dirname, '../../../shared/api-facts/columns.json');
interface FactColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly priority: number;
}
interface FactKind {
  readonly kind: string;
  readonly groupVersions: readonly string[];
  readonly columns: readonly FactColumn[];
}

(existsSync(file) ? describe : describe.skip)('the tables of facts', () => {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{"kinds":[]}';
  const all = (JSON.parse(profile.resolve(text)) as { kinds: FactKind[] }).kinds;
  const kinds = all.filter(({ groupVersions }) => !groupVersions.includes('custom resources'));
  test.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (kind, facts) => {
    const tables = facts.groupVersions.map((groupVersion) => {
      const slash = groupVersion.indexOf('/');
      const group = slash < 0 ? '' : groupVersion.slice(0, slash);
      const type = scheme.kind({ group, version: groupVersion.slice(slash + 1), kind });
      if (type === undefined) throw new Error(`${groupVersion} ${kind} is not known`);
      return columnsOf(type);
    });
    const expected = facts.columns.map(({ name, type, format, priority }) => ({
      name,
      type,
      format: format ?? '',
      priority,
    }));
    for (const { definitions } of tables) {
      expect(
        definitions.map(({ name, type, format, priority }) => ({ name, type, format, priority })),
      ).toEqual(expected);
    }
  });
  test('leave no kind with columns of its own out', () => {
    const named = new Set(kinds.map(({ kind }) => kind));
    const own = scheme.resources.filter(({ type }) => columnsOf(type) !== defaultColumns);
    expect(own.map(({ kind }) => kind.kind).filter((kind) => !named.has(kind))).toEqual([]);
  });
});

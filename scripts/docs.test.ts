import { describe, expect, test } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { effectiveGates } from '../lib/config/gate-effects.ts';
import { absentFlags } from '../lib/config/absent-flags.ts';
import { flagTable } from '../lib/config/flags.ts';
import { metricTable } from '../lib/telemetry/metric-table.ts';
import { limits } from '../lib/base/limits.ts';
import { statusReasons } from '../lib/base/status-reasons.ts';
import { limitRows, pages } from './docs.ts';

const root = join(import.meta.dirname, '..');
const textOf = (name: string): string =>
  pages().find(({ path }) => path === `docs/${name}.md`)?.text ?? '';

test.each(pages())('$path says what its table says: else `npm run docs`', ({ path, text }) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});

describe('pages have a row for', () => {
  test('every gate with an effect', () => {
    for (const name of Object.keys(effectiveGates)) {
      expect(textOf('feature-gates')).toContain(`| \`${name}\` |`);
    }
  });
  test('every flag', () => {
    for (const name of Object.keys({ ...flagTable, ...absentFlags })) {
      expect(textOf('flags')).toContain(`\`--${name}\``);
    }
  });
  test('every metric', () => {
    for (const name of Object.keys(metricTable)) expect(textOf('metrics')).toContain(`\`${name}\``);
  });
  test('every limit, with a sentence', () => {
    expect(limitRows().map(({ name }) => name)).toEqual(Object.keys(limits));
    for (const { section, why } of limitRows()) {
      expect([section, why]).toEqual([expect.stringMatching(/./), expect.stringMatching(/\.$/)]);
    }
  });
  test('every reason', () => {
    for (const reason of Object.keys(statusReasons).filter((name) => name !== '')) {
      expect(textOf('errors')).toContain(`| \`${reason}\` |`);
    }
  });
});

describe('tables have no row that the product does not use:', () => {
  const product = ['lib', 'cmd']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (name) => `${folder}/${name}`,
      ),
    )
    .filter((path) => path.endsWith('.ts') && !/\.(test|suite)\.ts$|\/testing\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const without = (table: string): string =>
    product.flatMap(({ path, text }) => (path === table ? [] : [text])).join('\n');

  test('limits', () => {
    const code = without('lib/base/limits.ts');
    const unused = Object.keys(limits).filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
    expect(unused).toEqual([]);
  });
  test('reasons; and each comes with a code of its row', () => {
    const code = without('lib/base/status-reasons.ts');
    const made = [...code.matchAll(/new StatusError\(\s*(\d+),\s*'(\w*)'/g)].map(
      ([, status, reason = '']) => `${status ?? ''} ${reason}`,
    );
    const listed = Object.entries(statusReasons).flatMap(([reason, { codes }]) =>
      codes.map((status) => `${String(status)} ${reason}`),
    );
    expect([...new Set(made)].sort()).toEqual(listed.sort());
  });
  test('metrics', () => {
    const code = without('lib/telemetry/metric-table.ts');
    const unused = Object.keys(metricTable).filter((name) => !code.includes(name));
    expect(unused).toEqual([]);
  });
  test('flags', () => {
    const code = without('lib/config/flags.ts');
    const unused = Object.keys(flagTable).filter(
      (name) => !code.includes(`'${name}'`) && !code.includes(`flags.${name}`),
    );
    expect(unused).toEqual([]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { effectiveGates } from '../lib/config/gate-effects.ts';
import { absentFlags } from '../lib/config/absent-flags.ts';
import { flagTable } from '../lib/config/flags.ts';
import { metricTable } from '../lib/telemetry/metric-table.ts';
import { pages } from './docs.ts';

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
});

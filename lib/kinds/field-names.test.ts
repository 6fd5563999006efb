// Names by which rules read objects are names of fields: docs/adr/0025.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import { builtInScheme } from './built-in-kinds.ts';

// Keys of `data` are the user's.
const accessor = /\b(?:isSet|[a-z]\w*At)\(\s*(?!data,)(?:[^,'"`()]|\([^()]*\))+,\s*'([^']*)'/g;

/** Names that accessors are called with, which no field has. */
function strayNames(files: readonly { readonly path: string; readonly text: string }[]): string[] {
  const scheme = builtInScheme({ profile: namingProfile('svc') });
  const types = [...scheme.packages.values()].flatMap((owner) => owner.types);
  const known = new Set(types.flatMap((type) => [...type.fieldByJsonName.keys()]));
  known.add('kind').add('apiVersion');
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(accessor)].flatMap(([, names = '']) =>
      names
        .split('.')
        .filter((name) => !known.has(name))
        .map((name) => `${path}: ${name}`),
    ),
  );
}

test('every name that a rule reads is the name of a field', () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.test\.ts$|testing\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(import.meta.dirname, path), 'utf8') }));
  expect(files.flatMap(({ text }) => [...text.matchAll(accessor)]).length).toBeGreaterThan(500);
  expect(strayNames(files)).toEqual([]);
});

test('a name that no type has is found', () => {
  const text = "if (textAt(spec, 'stategy') === '') return textAt(recordAt(object, 'spec'), 'xy');";
  expect(strayNames([{ path: 'a.ts', text }])).toEqual(['a.ts: stategy', 'a.ts: xy']);
});

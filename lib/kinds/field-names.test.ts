// Names by which rules read objects are names of fields: docs/adr/0025.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import { builtInScheme } from './built-in-kinds.ts';

// Keys of `data` are the user's.
const accessor = /\b(?:isSet|[a-z]\w*At)\(\s*(?!data,)(?:[^,'"`()]|\([^()]*\))+,\s*'([^']*)'/g;
const checks = 'part|elements|required\\w*|optional|atLeast|inRange|max\\w+|unique|immutable';
/** Methods of PartChecks, which have the name first; those of FieldErrors have a path. */
const method = new RegExp(`(?<!errors)\\.(?:${checks})\\('([^']*)'`, 'g');

const namesIn = (text: string): string[] =>
  [accessor, method].flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name));

/** Names that accessors are called with, which no field has. */
function strayNames(files: readonly { readonly path: string; readonly text: string }[]): string[] {
  const scheme = builtInScheme({ profile: namingProfile('svc') });
  const types = [...scheme.packages.values()].flatMap((owner) => owner.types);
  const known = new Set(types.flatMap((type) => [...type.fieldByJsonName.keys()]));
  known.add('kind').add('apiVersion');
  return files.flatMap(({ path, text }) =>
    namesIn(text).flatMap((names) =>
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
  expect(files.flatMap(({ text }) => namesIn(text)).length).toBeGreaterThan(500);
  expect(strayNames(files)).toEqual([]);
});

test('a name that no type has is found', () => {
  const text = "if (textAt(spec, 'stategy') === '') return textAt(recordAt(object, 'spec'), 'xy');";
  expect(strayNames([{ path: 'a.ts', text }])).toEqual(['a.ts: stategy', 'a.ts: xy']);
  const checks = "partOf(write, 'spec')?.part('xy')?.required('name'); errors.required('xz');";
  expect(strayNames([{ path: 'b.ts', text: checks }])).toEqual(['b.ts: xy']);
});

// Every fact of admission that is known by an id is claimed in the title of a test somewhere.
import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const file = join(root, '../shared/api-facts/admission.json');
const facts = existsSync(file) ? readFileSync(file, 'utf8') : '';
const ids = [...facts.matchAll(/"id": "([a-z]\.[^"]+)"/g)].map(([, id = '']) => id);

const isSuite = (path: string): boolean => /\.(test|e2e|suite)\.ts$/.test(path);

const suites = ['lib', 'cmd', 'e2e', 'scripts']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(isSuite)
      .map((path) => join(root, folder, path)),
  )
  .filter((path) => path !== import.meta.filename)
  .map((path) => readFileSync(path, 'utf8'));

/** An id ends where no further part of one follows. */
const claims = (id: string): boolean => {
  const escaped = id.replaceAll('.', '\\.');
  const pattern = new RegExp(`(?<![\\w.-])${escaped}(?![\\w-]|\\.\\w)`);
  return suites.some((text) => pattern.test(text));
};

describe('facts of admission', () => {
  test('each is claimed by a test', () => {
    expect(ids.filter((id) => !claims(id))).toEqual([]);
  });
});

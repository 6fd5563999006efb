// The tree is tidy, and each check finds what is planted for it.
import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { columnsMax, fileLinesMax, functionLinesMax, tidyFindings } from './tidy.ts';
import type { SourceFile } from './tidy.ts';

const root = join(import.meta.dirname, '..');
const searched = ['lib', 'cmd', 'scripts', 'e2e', 'bench', 'deploy', 'docs', '.'];
const textFile = /\.([cm]?[jt]s|proto|md|ya?ml)$/;

function readTree(): SourceFile[] {
  const paths = searched.flatMap((folder) => {
    const recursive = folder !== '.';
    const entries = existingEntries(join(root, folder), recursive);
    return recursive ? entries.map((entry) => `${folder}/${entry}`) : entries;
  });
  return paths
    .filter((path) => textFile.test(path) && !/(^|\/)(node_modules|\.svc[^/]*)\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

function existingEntries(folder: string, recursive: boolean): string[] {
  try {
    return readdirSync(folder, { recursive, encoding: 'utf8' });
  } catch {
    return []; // Not every folder exists in every checkout.
  }
}

test('the repository is tidy', () => {
  const lines = tidyFindings(readTree()).map(
    ({ path, line, message }) => `${path}${line > 0 ? `:${line}` : ''}  ${message}`,
  );
  expect(lines).toEqual([]);
});

describe('what a planted file is found for', () => {
  const header = '// What it is.\n';
  const uses = { path: 'cmd/uses.ts', text: `${header}import '../lib/base/planted.ts';\n` };
  const findingsIn = (text: string, path = 'lib/base/planted.ts'): string[] =>
    tidyFindings([uses, { path, text }]).map(({ line, message }) => `${line}: ${message}`);
  const statements = (count: number): string => 'f();\n'.repeat(count);
  const split = (...parts: string[]): string => parts.join('');

  test('nothing, when it is tidy', () => {
    expect(findingsIn(`${header}const a = 1;\n`)).toEqual([]);
  });

  test.each<[claim: string, text: string, finding: RegExp]>([
    ['a file too long', header + statements(fileLinesMax), /^0: 401 lines/],
    ['no header', 'const a = 1;\n', /^0: starts with 0 lines/],
    ['a header too long', '// a\n// b\n// c\n// d\nf();\n', /^0: starts with 4 lines/],
    [
      'a function too long',
      `${header}function f() {\n${statements(functionLinesMax)}}\n`,
      /^2: function of 72 lines/,
    ],
    ['a line too long', `${header}// ${'x'.repeat(columnsMax)}\n`, /^2: 103 columns/],
    ['a barrel', `${header}export * from './a.ts';\n`, /^0: only passes exports on/],
    ['a class named by a banned word', `${header}class WatchManager {}\n`, /WatchManager is not/],
    ['a function named by a banned word', `${header}function utilOf() {}\n`, /utilOf is not used/],
    ['a vendor spelling', `${header}f('a.k8s.io');\n`, /^2: a spelling of one naming profile/],
    ['a system namespace', `${header}f('kube-system');\n`, /^2: a spelling of one naming/],
    ['the default spelling', `${header}f('apps.svc.io');\n`, /^2: a spelling of one naming/],
    ['a leftover note', `${header}// ${split('TO', 'DO')}: later\n`, /^2: a leftover note/],
    ['a workplace path', `${header}f('${split('/wor', 'k/')}x');\n`, /^2: a path of one workplace/],
  ])('%s', (_claim, text, finding) => {
    expect(findingsIn(text)).toEqual([expect.stringMatching(finding)]);
  });

  test.each([
    'lib/base/string-util.ts',
    'lib/base/utils/strings.ts',
    'lib/base/helpers.ts',
    'lib/base/lease-manager.ts',
    'lib/base/types.ts',
    'lib/base/index.ts',
    'lib/base/common.ts',
  ])('the file name %s', (path) => {
    const named = { path: 'cmd/b.ts', text: `${header}import '../${path}';\n` };
    const messages = tidyFindings([named, { path, text: `${header}f();\n` }]).map((f) => f.message);
    expect(messages).toEqual([expect.stringMatching(/^file name not used here/)]);
  });

  test('a file that only its test imports is an orphan', () => {
    const lonely = { path: 'lib/base/lonely.ts', text: `${header}f();\n` };
    const its = { path: 'lib/base/lonely.test.ts', text: `${header}import './lonely.ts';\n` };
    expect(tidyFindings([lonely, its])).toEqual([
      { path: lonely.path, line: 0, message: expect.stringMatching(/nothing but tests/) },
    ]);
  });

  const exported = {
    path: 'lib/base/planted.ts',
    text: `${header}export function planted() {}\n`,
  };
  const using = { path: exported.path, text: `${exported.text}planted();\n` };
  const importsIt = "import { a, planted as b } from '../lib/base/planted.ts';\n";
  test.each<[claim: string, files: SourceFile[], finding: RegExp]>([
    ['nobody', [uses, using], /^nobody imports planted: keep/],
    [
      'only a test imports, without need in its own file',
      [uses, exported, { path: 'cmd/uses.test.ts', text: importsIt }],
      /^only tests need planted: remove/,
    ],
  ])('an exported value that %s', (_claim, files, finding) => {
    expect(tidyFindings(files)).toEqual([
      { path: exported.path, line: 2, message: expect.stringMatching(finding) },
    ]);
  });
  test.each<[claim: string, files: SourceFile[]]>([
    ['another file imports', [exported, { path: 'cmd/b.ts', text: header + importsIt }]],
    [
      'another file passes on whole',
      [
        exported,
        { path: 'cmd/b.ts', text: `${header}f();\nexport * from '../${exported.path}';\n` },
      ],
    ],
    ['its own file and a test use', [uses, using, { path: 'cmd/b.test.ts', text: importsIt }]],
  ])('but not an exported value that %s', (_claim, files) => {
    expect(tidyFindings(files)).toEqual([]);
  });

  test('a test that keeps others from running', () => {
    const text = `${header}test.only('x', f);\n`;
    expect(findingsIn(text, 'lib/base/planted.test.ts')).toEqual([
      expect.stringMatching(/^2: a test that keeps/),
    ]);
  });

  test.each<[claim: string, path: string, text: string]>([
    [
      'a long table',
      'lib/base/planted.ts',
      `${header}const rows = [\n${"  ['a', 1],\n".repeat(fileLinesMax)}] as const;\n`,
    ],
    [
      'a long list of tests',
      'lib/base/planted.test.ts',
      `${header}describe('a', () => {\n  test('b', f);\n${statements(functionLinesMax)}});\n`,
    ],
    ['generated code', 'lib/api/gen/planted.d.ts', statements(fileLinesMax + 1)],
    ['test data', 'lib/base/testdata/planted.ts', statements(fileLinesMax + 1)],
    ['the naming profile', 'lib/api/vendor.ts', `${header}import './x.ts';\nf('k8s.io');\n`],
    [
      'names of the API',
      'lib/base/planted.ts',
      `${header}const fieldManager = requestEntityTooLarge();\n`,
    ],
  ])('but not: %s', (_claim, path, text) => {
    const named = { path: 'cmd/b.ts', text: `${header}import '../${path}';\n` };
    expect(tidyFindings([named, { path, text }])).toEqual([]);
  });
});

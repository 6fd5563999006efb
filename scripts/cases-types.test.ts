// The runner of golden files: it passes on files that the codecs wrote, and fails when one byte of
// a value differs.
import { afterEach, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInScheme } from '../lib/kinds/built-in-kinds.ts';
import { namingProfile } from '../lib/api/vendor.ts';
import { jsonCodec, parseData, stringify } from '../lib/codec/json.ts';
import { createProtobufCodec } from '../lib/codec/protobuf.ts';
import { yamlCodec } from '../lib/codec/yaml.ts';
import { runCases } from './cases-types.ts';

const naming = namingProfile('kubernetes');
const type = builtInScheme({ profile: naming }).type('core/v1.ConfigMap');
const object = {
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'golden', labels: { tier: 'front' } },
  data: { key: 'precious' },
};
const folders: string[] = [];

function goldenFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'golden-'));
  folders.push(folder);
  const put = (extension: string, bytes: Uint8Array): void =>
    writeFileSync(join(folder, `core.v1.ConfigMap.${extension}`), bytes);
  const json = parseData(jsonCodec.encode(object, type));
  put('json', Buffer.from(stringify(json, 2)));
  put('yaml', yamlCodec.encode(object, type));
  put('pb', createProtobufCodec(naming.protobufMediaType).encode(object, type));
  return folder;
}

function run(folder: string): { readonly lines: string[]; readonly failed: number } {
  const lines: string[] = [];
  const { failed } = runCases(folder, (line) => void lines.push(line));
  return { lines, failed };
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test('files as they should be pass, and the last line counts them', () => {
  const { lines, failed } = run(goldenFolder());
  expect([lines.at(-1), failed]).toEqual(['3 passed, 0 failed', 0]);
});

test.each(['json', 'yaml', 'pb'])('one byte of a value in %s fails', (extension) => {
  const folder = goldenFolder();
  const file = join(folder, `core.v1.ConfigMap.${extension}`);
  const bytes = readFileSync(file);
  const at = bytes.indexOf('precious');
  bytes[at] = 'P'.charCodeAt(0);
  writeFileSync(file, bytes);
  const { lines, failed } = run(folder);
  expect(failed).toBeGreaterThan(0);
  expect(lines.some((line) => line.startsWith('FAIL core.v1.ConfigMap.'))).toBe(true);
  expect(lines.at(-1)).toMatch(/^\d passed, [1-3] failed$/);
});

test.each<[string, (text: string) => string]>([
  [
    'members in another order',
    (text) => text.replace(/("kind": .*,)\n(.*"apiVersion": .*,)/, '$2\n$1'),
  ],
  ['an unknown field', (text) => text.replace('"metadata"', '"extra": 1, "metadata"')],
  ['text that is no JSON', () => '{'],
])('JSON with %s fails', (_name, change) => {
  const folder = goldenFolder();
  const file = join(folder, 'core.v1.ConfigMap.json');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
  expect(run(folder).failed).toBeGreaterThan(0);
});

test('a kind that is unknown fails, and so does a kind without one of its encodings', () => {
  const folder = goldenFolder();
  writeFileSync(join(folder, 'core.v1.NoSuchKind.json'), '{}');
  expect(run(folder).lines.at(-1)).toBe('3 passed, 1 failed');
  rmSync(join(folder, 'core.v1.ConfigMap.pb'));
  expect(run(folder).lines.at(-1)).toBe('0 passed, 3 failed');
});

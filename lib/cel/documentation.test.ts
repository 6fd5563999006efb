// docs/expressions.md tells the truth: every example gives what it says, costs what it says, and is
// refused by the version before the one it names.
import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dynType } from './model/cel-type.ts';
import { Environment } from './environment.ts';
import { toJson } from './testing/to-json.ts';
import { authorizerTypes, authorizerValue } from './library/authorizer.ts';
import { languageOf } from './library/libraries.ts';
import { compileErrors, naming, programOf } from './testing/evaluate.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/expressions.md'), 'utf8');
const object = JSON.parse(/```json\n([^]*?)```/.exec(page)?.[1] ?? '') as unknown;

interface Row {
  readonly what: string;
  readonly example: string;
  readonly gives: string;
  readonly costs: number;
  readonly since: string;
}

const rows: readonly Row[] = page
  .split('\n')
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|')))
  .filter((cells) => cells.length === 7 && /^`.*`$/.test(cells[2] ?? ''))
  .map(([, what = '', example = '', gives = '', costs, since = '']) => ({
    what,
    example: example.slice(1, -1),
    gives: gives.slice(1, -1),
    costs: Number(costs),
    since,
  }));

function environmentOf(version: number): Environment {
  return new Environment({
    naming,
    version,
    jsonPatch: true,
    variables: [
      { name: 'object', type: dynType },
      {
        name: 'authorizer',
        type: authorizerTypes(naming).authorizer,
        value: authorizerValue(naming),
      },
    ],
  });
}

const environments = Array.from({ length: 36 }, (_, version) => environmentOf(version));
const inVersion = (version: number): Environment => environments[version] as Environment;
const authorizer = { decide: () => ({ decision: 'allow', reason: 'because', error: '' }) as const };

test('there are examples', () => {
  expect(rows.length).toBeGreaterThan(150);
});

test.each(rows)('$what: $example', ({ example, gives, costs, since }) => {
  const result = programOf(example, inVersion(35)).evaluate({ object }, { authorizer });
  const value = result.kind === 'value' ? toJson(result.value) : result;
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? Number(part) : part,
  );
  expect(text).toBe(gives);
  expect(result).toMatchObject({ cost: costs });
  const first = since === 'always' ? 0 : Number(since.replace('1.', ''));
  expect(compileErrors(example, inVersion(first))).toEqual([]);
  if (first > 0) expect(compileErrors(example, inVersion(first - 1))).not.toEqual([]);
});

describe('nothing is missing', () => {
  const language = languageOf({
    naming,
    version: 'stored',
    authorizerSelectors: true,
    jsonPatch: true,
    deviceSelectors: undefined,
  });
  const names = [...language.functions.keys(), ...language.macros.keys()];

  test.each(names.filter((name) => /^[\w.]+$/.test(name)))('%s', (name) => {
    expect(rows.some(({ example }) => example.includes(`${name}(`))).toBe(true);
  });
});

// Large YAML bodies: what the thread makes of them, and that they keep nobody waiting.
import { afterAll, describe, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { StatusError } from '../base/status.ts';
import { parseData } from './json.ts';
import { YamlBodies } from './yaml-bodies.ts';
import { yamlAsJson } from './yaml-json.ts';

const bodies = new YamlBodies();
const { signal } = new AbortController();
afterAll(() => bodies.close());

const bytes = (text: string): Uint8Array => Buffer.from(text);
const read = (text: string, end = signal): Promise<Uint8Array> => bodies.asJson(bytes(text), end);
const padding = `# ${'x'.repeat(limits.yamlTurnBytesMax)}\n`;
const failure = async (run: Promise<unknown>): Promise<string> => {
  try {
    await run;
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.code)} ${error.message}`;
    throw error;
  }
  throw new Error('nothing was thrown');
};

test('a short body stays as it is', async () => {
  const body = bytes('a: 1');
  expect(await bodies.asJson(body, signal)).toBe(body);
});

test.each([
  [
    'a mapping',
    'a: yes\nb: [010, 9223372036854775807, ~]\n',
    '{"a":true,"b":[8,9223372036854775807,null]}',
  ],
  ['names of users', '__proto__: {a: 1}\n', '{"__proto__":{"a":1}}'],
  [
    'keys that come again are there again',
    'a: 1\nb: {c: [{d: 1, d: 2}]}\na: 3\n',
    '{"a":null,"a":3,"b":{"c":[{"d":null,"d":2}]}}',
  ],
])('%s as JSON', async (_claim, text, json) => {
  expect(Buffer.from(yamlAsJson(bytes(text))).toString()).toBe(json);
  expect(Buffer.from(await read(padding + text)).toString()).toBe(json);
});

test('JSON is left alone, and may be as long as any body', async () => {
  const json = `{"a":"${'x'.repeat(limits.requestBodyBytesMax - 8)}"}`;
  expect(json.length).toBe(limits.requestBodyBytesMax);
  expect(Buffer.from(await read(json)).equals(Buffer.from(json))).toBe(true);
});

test('a body of the largest size is read, whatever its shape', async () => {
  const { requestBodyBytesMax: size } = limits;
  const line = 'k: v\n';
  const list = `l:\n${'- a\n'.repeat(size / 4 - 2)}`;
  const flow = `l: [${'a,'.repeat(size / 2 - 10)}a]`;
  const block = `l: |\n${'  some text\n'.repeat(Math.floor(size / 12) - 1)}`;
  for (const text of [list, flow, block, line + '#'.repeat(size - line.length)]) {
    expect(text.length).toBeLessThanOrEqual(size);
    expect(text.length).toBeGreaterThan(size * 0.99);
    const value = parseData(await read(text)) as { l?: unknown[] };
    expect(Object.keys(value)).toHaveLength(1);
  }
}, 60_000);

describe('what is refused', () => {
  test.each([
    ['malformed', 'a: "', '400 the body is not valid YAML'],
    ['several documents', 'a: 1\n---\nb: 1\n', '400 the body holds more than one YAML document'],
    ['too deep', `a: ${'['.repeat(500)}${']'.repeat(500)}`, '400 the body nests deeper'],
    ['no object', '- a\n', '400 the YAML body cannot be read: it must be an object'],
  ])('%s', async (_claim, text, message) => {
    expect(await failure(read(padding + text))).toContain(message);
  });

  test('JSON that is too deep', async () => {
    const json = `{"a":"${'x'.repeat(limits.yamlTurnBytesMax)}","b":${'['.repeat(200)}${']'.repeat(200)}}`;
    expect(await failure(read(json))).toContain('400 the body nests deeper');
  });

  test('more bodies at once than may wait', async () => {
    const all = Array.from({ length: limits.yamlQueueMax + 2 }, () => read(`${padding}a: 1`));
    const results = await Promise.allSettled(all);
    const refused = results.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(await failure(all.at(-1) ?? Promise.resolve())).toContain('429 ');
  });
});

test('other turns go on while a body is read', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  count();
  await read(`l:\n${'- - - a\n'.repeat(100_000)}`);
  isDone = true;
  expect(turns).toBeGreaterThan(10);
});

test('who leaves is not waited for, and the next one is read', async () => {
  const leaving = new AbortController();
  const first = read(`${padding}a: 1`);
  const left = read(`${padding}a: 2`, leaving.signal);
  leaving.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(read(`${padding}a: 4`, leaving.signal)).rejects.toThrow('left');
  await first;
  expect(Buffer.from(await read(`${padding}a: 3`)).toString()).toBe('{"a":3}');
});

// The fuzzer finds what it is there for, and says how to repeat it.
import { describe, expect, test } from '@jest/globals';
import { badRequest, internalError } from '../lib/base/status.ts';
import { admissionTarget } from './fuzz/admission-target.ts';
import { applyTarget } from './fuzz/apply-target.ts';
import { decoderTarget } from './fuzz/decoder-target.ts';
import type { DecoderName } from './fuzz/decoder-target.ts';
import type { FuzzTarget } from './fuzz/fuzz-target.ts';
import { nodeTarget } from './fuzz/node-target.ts';
import { fuzz } from './fuzz.ts';

const target = (run: FuzzTarget['run']): FuzzTarget => ({
  name: 'planted',
  refusals: [400],
  input: (random) => Uint8Array.of(random.below(256)),
  run,
});
const even = (input: Uint8Array): boolean => (input[0] ?? 0) % 2 === 0;

test('inputs are the same for the same seed', async () => {
  const inputs = async (seed: number): Promise<number[]> => {
    const seen: number[] = [];
    await fuzz(
      target((input) => void seen.push(input[0] ?? -1)),
      50,
      seed,
    );
    return seen;
  };
  expect(await inputs(5)).toEqual(await inputs(5));
  expect(await inputs(5)).not.toEqual(await inputs(6));
});

test('refusals are counted, and are no findings', async () => {
  const result = await fuzz(
    target((input) => {
      if (even(input)) throw badRequest('no');
      return undefined;
    }),
    200,
    1,
  );
  expect(result.findings).toEqual([]);
  expect(result.accepted + result.refused).toBe(200);
  expect(Math.min(result.accepted, result.refused)).toBeGreaterThan(50);
});

describe('found', () => {
  test.each<[string, FuzzTarget['run'], RegExp]>([
    [
      'another failure than a refusal',
      (input) => {
        if (even(input)) throw new TypeError('planted');
        return undefined;
      },
      /TypeError: planted/,
    ],
    [
      'a code that says it is the server’s fault',
      () => {
        throw internalError('planted');
      },
      /planted/,
    ],
    ['a wrong result', (input) => () => (even(input) ? 'is wrong' : undefined), /is wrong/],
    ['a result that turns out wrong', () => () => Promise.resolve('is wrong'), /is wrong/],
    [
      'a long turn',
      () => {
        const { user } = process.threadCpuUsage();
        while (process.threadCpuUsage().user - user < 60_000);
        return undefined;
      },
      /takes \d+ ms for 1 bytes/,
    ],
  ])('%s', async (_claim, run, message) => {
    const { findings } = await fuzz(target(run), 20, 1);
    expect(findings[0]).toMatch(message);
    expect(findings[0]).toMatch(/npm run fuzz -- planted 1 \d+$/);
  });
});

test.each<DecoderName>(['json', 'yaml', 'protobuf', 'cbor'])(
  '%s bodies are read or refused (seeded; many more with npm run fuzz)',
  async (name) => {
    const result = await fuzz(decoderTarget(name), 1_500, 42);
    expect(result.findings).toEqual([]);
    expect(result.accepted).toBeGreaterThan(100);
    expect(result.refused).toBeGreaterThan(100);
  },
);

test('what nodes need is what an evaluator of every pod and volume says (seeded)', async () => {
  expect(await fuzz(nodeTarget, 3_000, 42)).toMatchObject({ accepted: 3_000, findings: [] });
});

test('writes pass the built-in admission plugins, or are refused (seeded)', async () => {
  expect(await fuzz(admissionTarget, 1_000, 42)).toMatchObject({ findings: [] });
});

test('objects with several owners are what the rules say (seeded)', async () => {
  expect(await fuzz(applyTarget, 30, 42)).toMatchObject({ accepted: 30, findings: [] });
});

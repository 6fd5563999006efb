// A tenth of the recorded answers of the reference, in both namings: defaults, validation, updates,
// versions, Tables, deletions, warnings. `npm run cases:diff -- FOLDER` plays a whole folder.
import { expect, test } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import { playFolder } from '../scripts/cases-diff.ts';

const folder = fileURLToPath(new URL('recorded', import.meta.url));

test.each(['kubernetes', 'svc'] as const)('in %s names', async (naming) => {
  const { passed, failed } = await playFolder(folder, { naming });
  expect(failed).toEqual([]);
  expect(passed).toBe(1_000);
});

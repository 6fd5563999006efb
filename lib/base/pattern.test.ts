import { expect, test } from '@jest/globals';
import { cutOut, heldBytes, mega } from './testing/held-bytes.ts';
import { compilePattern } from './pattern.ts';

test('a remembered pattern does not hold the expression that it stood in', async () => {
  const held = await heldBytes(() => {
    for (let index = 0; index < 64; index++) compilePattern(cutOut(index));
  });
  expect(held).toBeLessThan(8 * mega);
});

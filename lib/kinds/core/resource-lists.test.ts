import { expect, test } from '@jest/globals';
import { cutOut, heldBytes, mega } from '../../base/testing/held-bytes.ts';
import { nanoOf } from './resource-lists.ts';

test('a remembered amount does not hold the body that it stood in', async () => {
  const held = await heldBytes(() => {
    for (let index = 0; index < 64; index++) nanoOf(cutOut(index));
  });
  expect(held).toBeLessThan(8 * mega);
});

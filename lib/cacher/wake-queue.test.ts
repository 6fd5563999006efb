// Tests of when watchers are woken after a wake that kept the loop busy.
import { expect, test } from '@jest/globals';
import { WakeQueue } from './wake-queue.ts';
import { Bucket } from './watch-index.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('who others decide by is woken at once, while the rest waits for more', async () => {
  const queue = new WakeQueue(() => undefined);
  const bucket = new Bucket(0, () => undefined);
  const woken: string[] = [];
  const busy = (): void => {
    const endMs = performance.now() + 20;
    while (performance.now() < endMs) continue;
  };
  bucket.wait({ wake: busy });
  queue.add([bucket], 1);
  await turn();
  await turn();
  const ordinary = new Promise<void>((resolve) => {
    bucket.wait({
      wake: () => {
        woken.push('ordinary');
        resolve();
      },
    });
  });
  bucket.wait({ isPrompt: true, wake: () => woken.push('prompt') });
  queue.add([bucket], 2);
  await turn();
  expect(woken).toEqual(['prompt']);
  await ordinary;
  expect(woken).toEqual(['prompt', 'ordinary']);
});

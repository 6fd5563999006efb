// Preloaded into a replica with --expose-gc: at SIGUSR2 it collects its garbage and prints what it
// holds then. Only the soak loads it.
'use strict';

const { gc } = globalThis;
if (gc === undefined) throw new Error('start the process with --expose-gc');

process.on('SIGUSR2', async () => {
  // Pages go back to the system some time after the collection.
  for (let round = 0; round < 3; round++) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  process.stdout.write(`held ${String(heapUsed + external)} ${String(rss)}\n`);
});

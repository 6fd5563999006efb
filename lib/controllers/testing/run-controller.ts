// Controllers that run while a test works.
import type { Controller } from '../controller.ts';

/** @returns what stops it, and resolves when nothing of it runs any more. */
export function runController(controller: Pick<Controller, 'run'>): () => Promise<void> {
  const ending = new AbortController();
  const running = controller.run(ending.signal);
  return async () => {
    ending.abort(new Error('the controller is stopped'));
    await running;
  };
}

/** Runs it as long as `work` does. */
export async function during<T>(
  controller: Pick<Controller, 'run'>,
  work: () => Promise<T>,
): Promise<T> {
  const stop = runController(controller);
  try {
    return await work();
  } finally {
    await stop();
  }
}

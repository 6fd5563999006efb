// The end of a wait at shutdown: whatever the wait is for, the process goes on.

/** Resolves when `work` has settled, or after `patienceMs`. */
export async function deadlineOf(work: Promise<unknown>, patienceMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patienceMs)));
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}

// How much work a test may make of what must be linear, whatever else the machine does.

/** Much more than any linear work takes; what is not linear takes hours. */
const secondsMax = 20;

/** What `run` gives. @throws Error where it took more time of the processor than that. */
export function inLinearTime<T>(run: () => T): T {
  const before = process.cpuUsage();
  const result = run();
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1_000_000;
  if (seconds > secondsMax) throw new Error(`took ${seconds.toFixed(1)} s of the processor`);
  return result;
}

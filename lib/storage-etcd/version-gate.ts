// Which etcd versions can be used at all, and which answer progress requests in step with the
// events of the stream: earlier ones may report a revision before its events (etcd#15220) or
// nothing at all (etcd#17507).

/** True from 3.4.31 on, except for 3.5.0 to 3.5.12. What cannot be parsed is not trusted. */
export function supportsProgressRequests(version: string): boolean {
  const parsed = parse(version);
  if (parsed === undefined) return false;
  const { number, isPrerelease } = parsed;
  // A pre-release comes before its release: 3.5.13-rc.0 may lack the fix.
  const from = (minimum: readonly number[]): boolean =>
    isPrerelease ? compare(number, minimum) > 0 : compare(number, minimum) >= 0;
  return from([3, 4, 31]) && (compare(number, [3, 5, 0]) < 0 || from([3, 5, 13]));
}

/** Before 3.4 watches come in one piece only and no progress can be asked for. */
export function isTooOld(version: string): boolean {
  const parsed = parse(version);
  return parsed !== undefined && compare(parsed.number, [3, 4, 0]) < 0;
}

function parse(version: string): { number: readonly number[]; isPrerelease: boolean } | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.exec(version);
  if (match === null) return undefined;
  const number = [match[1], match[2], match[3]].map(Number);
  return { number, isPrerelease: match[4] !== undefined };
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < left.length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

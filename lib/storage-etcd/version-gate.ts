// Which etcd versions answer progress requests in step with the events of the stream.
// Earlier ones may report a revision before its events (etcd#15220) or nothing at all (etcd#17507).

/** True from 3.4.31 on, except for 3.5.0 to 3.5.12. What cannot be parsed is not trusted. */
export function supportsProgressRequests(version: string): boolean {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.exec(version);
  if (match === null) return false;
  const number = [match[1], match[2], match[3]].map(Number);
  // A pre-release comes before its release: 3.5.13-rc.0 may lack the fix.
  const from = (minimum: readonly number[]): boolean =>
    match[4] === undefined ? compare(number, minimum) >= 0 : compare(number, minimum) > 0;
  return from([3, 4, 31]) && (compare(number, [3, 5, 0]) < 0 || from([3, 5, 13]));
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < left.length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

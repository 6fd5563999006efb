// The order of a group's versions where nobody states another: v2, v1, v1beta2, v1beta1, v1alpha1,
// then names of any other form in the order of the alphabet.

const stages = ['alpha', 'beta', ''];
const form = /^v([1-9]\d{0,8})(?:(alpha|beta)([1-9]\d{0,8}))?$/;

/** Below 0: `one` comes first. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [form.exec(one), form.exec(other)];
  if (left === null || right === null) {
    if (left !== null) return -1;
    if (right !== null) return 1;
    return one < other ? -1 : Number(one > other);
  }
  return (
    stageOf(right) - stageOf(left) ||
    numberAt(right, 1) - numberAt(left, 1) ||
    numberAt(right, 3) - numberAt(left, 3)
  );
}

const stageOf = (match: RegExpExecArray): number => stages.indexOf(match[2] ?? '');
const numberAt = (match: RegExpExecArray, group: number): number => Number(match[group] ?? 0);

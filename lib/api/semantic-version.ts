// Versions by the rules of semver.org 2.0.0: reading, comparing, and what is wrong with a text.

export interface SemanticVersion {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly preRelease: readonly string[];
  readonly build: readonly string[];
}

const maxNumber = 2n ** 64n - 1n;

/** The version, or what is wrong with the text. */
export function parseSemanticVersion(text: string): SemanticVersion | string {
  if (text === '') return 'Version string empty';
  const [major, minor, ...others] = text.split('.');
  if (major === undefined || minor === undefined || others.length === 0) {
    return 'No Major.Minor.Patch elements found';
  }
  const rest = others.join('.');
  const plus = rest.indexOf('+');
  const build = plus < 0 ? [] : rest.slice(plus + 1).split('.');
  const core = plus < 0 ? rest : rest.slice(0, plus);
  const dash = core.indexOf('-');
  const preRelease = dash < 0 ? [] : core.slice(dash + 1).split('.');
  const patch = dash < 0 ? core : core.slice(0, dash);
  const numbers: bigint[] = [];
  for (const [part, name] of [
    [major, 'Major'],
    [minor, 'Minor'],
    [patch, 'Patch'],
  ] as const) {
    const value = parseNumber(part, name);
    if (typeof value === 'string') return value;
    numbers.push(value);
  }
  const problem = identifierProblem(preRelease, build);
  if (problem !== undefined) return problem;
  const [a = 0n, b = 0n, c = 0n] = numbers;
  return { numbers: [a, b, c], preRelease, build };
}

/** Negative: `left` comes first. Build metadata does not count. */
export function compareSemanticVersions(left: SemanticVersion, right: SemanticVersion): number {
  for (let index = 0; index < 3; index++) {
    const [a = 0n, b = 0n] = [left.numbers[index], right.numbers[index]];
    if (a !== b) return a < b ? -1 : 1;
  }
  if (left.preRelease.length === 0 || right.preRelease.length === 0) {
    return Math.sign(right.preRelease.length - left.preRelease.length);
  }
  for (let index = 0; index < Math.min(left.preRelease.length, right.preRelease.length); index++) {
    const order = compareIdentifiers(left.preRelease[index] ?? '', right.preRelease[index] ?? '');
    if (order !== 0) return order;
  }
  return Math.sign(left.preRelease.length - right.preRelease.length);
}

/** The number, or what is wrong with it. */
function parseNumber(text: string, name: string): bigint | string {
  if (!/^\d*$/.test(text))
    return `Invalid character(s) found in ${name.toLowerCase()} number ${JSON.stringify(text)}`;
  if (/^0\d/.test(text))
    return `${name} number must not contain leading zeroes ${JSON.stringify(text)}`;
  const quoted = JSON.stringify(text);
  if (text === '') return `strconv.ParseUint: parsing ${quoted}: invalid syntax`;
  const value = BigInt(text);
  return value > maxNumber ? `strconv.ParseUint: parsing ${quoted}: value out of range` : value;
}

function identifierProblem(
  preRelease: readonly string[],
  build: readonly string[],
): string | undefined {
  for (const part of preRelease) {
    if (part === '') return 'Prerelease is empty';
    if (/^0\d+$/.test(part)) {
      return `Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`;
    }
    if (!/^[0-9A-Za-z-]+$/.test(part))
      return `Invalid character(s) found in prerelease ${JSON.stringify(part)}`;
  }
  for (const part of build) {
    if (part === '') return 'Build meta data is empty';
    if (!/^[0-9A-Za-z-]+$/.test(part))
      return `Invalid character(s) found in build meta data ${JSON.stringify(part)}`;
  }
  return undefined;
}

function compareIdentifiers(left: string, right: string): number {
  const [leftNumber, rightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (leftNumber !== rightNumber) return leftNumber ? -1 : 1;
  if (left === right) return 0;
  if (leftNumber) return BigInt(left) < BigInt(right) ? -1 : 1;
  return left < right ? -1 : 1;
}

// semver(): versions by the rules of semver.org 2.0.0; with normalization also `v1.2` and
// `01.02.03`.
import type { NamingProfile } from '../../api/vendor.ts';
import { boolType, intType, stringType, structType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { FunctionDeclaration, Implementation, Library } from '../model/declarations.ts';
import { CelError, toInt } from '../model/value.ts';
import type { OpaqueValue, Value } from '../model/value.ts';
import { arg, declare, global, member, unit } from './declare.ts';
import { parsingCosts } from './quantity.ts';

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly preRelease: readonly string[];
  readonly build: readonly string[];
}

class SemverValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName: string;
  readonly version: Version;
  constructor(typeName: string, version: Version) {
    this.typeName = typeName;
    this.version = version;
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compareVersions(this.version, other.version) === 0;
  }
  toText(): string {
    const { numbers, preRelease, build } = this.version;
    const suffix = (mark: string, parts: readonly string[]): string =>
      parts.length === 0 ? '' : mark + parts.join('.');
    return numbers.join('.') + suffix('-', preRelease) + suffix('+', build);
  }
}

const maxNumber = 2n ** 64n - 1n;

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

/** The version, or what is wrong with the text. */
function parseVersion(text: string): Version | string {
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

function normalized(text: string): string | undefined {
  const parts = text.replace(/^v/, '').split('.');
  const three = parts.length > 3 ? [parts[0], parts[1], parts.slice(2).join('.')] : parts;
  const stripped = three.map((part = '') => part.replace(/^0+(?=\d)/, ''));
  if (stripped.length < 3 && /[+-]/.test(stripped.at(-1) ?? '')) return undefined;
  while (stripped.length < 3) stripped.push('0');
  return stripped.join('.');
}

function parse(args: readonly Value[]): Version | string {
  const text = arg(args, 0) as string;
  if (args.length < 2 || arg(args, 1) !== true) return parseVersion(text);
  const normal = normalized(text);
  return normal === undefined
    ? 'short version cannot contain PreRelease/Build meta data'
    : parseVersion(normal);
}

function compareVersions(left: Version, right: Version): number {
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

function compareIdentifiers(left: string, right: string): number {
  const [leftNumber, rightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
  if (leftNumber !== rightNumber) return leftNumber ? -1 : 1;
  if (left === right) return 0;
  if (leftNumber) return BigInt(left) < BigInt(right) ? -1 : 1;
  return left < right ? -1 : 1;
}

const at = (args: readonly Value[], index: number): Version =>
  (arg(args, index) as SemverValue).version;
const order = (args: readonly Value[]): number => compareVersions(at(args, 0), at(args, 1));

export function semverLibrary(naming: NamingProfile): Library {
  const type: CelType = { ...structType(naming.resolve('{kubernetes}.Semver')), equality: 'fixed' };
  const semver: Implementation = (args) => {
    const version = parse(args);
    return typeof version === 'string'
      ? new CelError(version)
      : new SemverValue(type.name, version);
  };
  const isSemver: Implementation = (args) => typeof parse(args) !== 'string';
  const number = (name: string, index: 0 | 1 | 2): FunctionDeclaration =>
    declare(
      name,
      [
        member(`semver_${name}`, [[type], intType], (args) =>
          toInt(BigInt.asIntN(64, at(args, 0).numbers[index])),
        ),
      ],
      unit,
    );
  const comparison = (
    name: string,
    id: string,
    result: CelType,
    call: Implementation,
  ): FunctionDeclaration => declare(name, [member(id, [[type, type], result], call)], unit);
  return {
    name: '{kubernetes}.Semver',
    since: 33,
    types: [type],
    functions: [
      declare('semver', [
        global('string_to_semver', [[stringType], type], semver, parsingCosts),
        global('string_bool_to_semver', [[stringType, boolType], type], semver, parsingCosts),
      ]),
      declare('isSemver', [
        global('is_semver_string', [[stringType], boolType], isSemver, parsingCosts),
        global('is_semver_string_bool', [[stringType, boolType], boolType], isSemver, parsingCosts),
      ]),
      comparison('isGreaterThan', 'semver_is_greater_than', boolType, (args) => order(args) > 0),
      comparison('isLessThan', 'semver_is_less_than', boolType, (args) => order(args) < 0),
      comparison('compareTo', 'semver_compare_to', intType, order),
      number('major', 0),
      number('minor', 1),
      number('patch', 2),
    ],
  };
}

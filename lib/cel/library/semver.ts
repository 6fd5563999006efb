// semver(): versions by the rules of semver.org 2.0.0; with normalization also `v1.2` and
// `01.02.03`.
import { compareSemanticVersions, parseSemanticVersion } from '../../api/semantic-version.ts';
import type { SemanticVersion } from '../../api/semantic-version.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { boolType, intType, stringType, structType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { FunctionDeclaration, Implementation, Library } from '../model/declarations.ts';
import { CelError, toInt } from '../model/value.ts';
import type { OpaqueValue, Value } from '../model/value.ts';
import { arg, declare, global, member, unit } from './declare.ts';
import { parsingCosts } from './quantity.ts';

class SemverValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName: string;
  readonly version: SemanticVersion;
  constructor(typeName: string, version: SemanticVersion) {
    this.typeName = typeName;
    this.version = version;
  }
  equals(other: OpaqueValue): boolean {
    return (
      other instanceof SemverValue && compareSemanticVersions(this.version, other.version) === 0
    );
  }
  toText(): string {
    const { numbers, preRelease, build } = this.version;
    const suffix = (mark: string, parts: readonly string[]): string =>
      parts.length === 0 ? '' : mark + parts.join('.');
    return numbers.join('.') + suffix('-', preRelease) + suffix('+', build);
  }
}

function normalized(text: string): string | undefined {
  const parts = text.replace(/^v/, '').split('.');
  const three = parts.length > 3 ? [parts[0], parts[1], parts.slice(2).join('.')] : parts;
  const stripped = three.map((part = '') => part.replace(/^0+(?=\d)/, ''));
  if (stripped.length < 3 && /[+-]/.test(stripped.at(-1) ?? '')) return undefined;
  while (stripped.length < 3) stripped.push('0');
  return stripped.join('.');
}

function parse(args: readonly Value[]): SemanticVersion | string {
  const text = arg(args, 0) as string;
  if (args.length < 2 || arg(args, 1) !== true) return parseSemanticVersion(text);
  const normal = normalized(text);
  return normal === undefined
    ? 'short version cannot contain PreRelease/Build meta data'
    : parseSemanticVersion(normal);
}

const at = (args: readonly Value[], index: number): SemanticVersion =>
  (arg(args, index) as SemverValue).version;
const order = (args: readonly Value[]): number => compareSemanticVersions(at(args, 0), at(args, 1));

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

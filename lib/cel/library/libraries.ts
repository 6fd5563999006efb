// Which functions, macros and types a compatibility version has. Expressions that are already
// stored know all versions.
import type { NamingProfile } from '../../api/vendor.ts';
import type { CelType } from '../model/cel-type.ts';
import type { FunctionDeclaration, Library } from '../model/declarations.ts';
import { standardMacros } from '../syntax/macros.ts';
import type { Macro } from '../model/macro.ts';
import { authorizerLibrary, authorizerSelectorsLibrary } from './authorizer.ts';
import { conversionFunctions } from './conversions.ts';
import { deviceLibraries } from './device-selectors.ts';
import type { DeviceSelectorFeatures } from './device-selectors.ts';
import { formatStringLibrary } from './format-string.ts';
import { jsonPatchLibrary } from './json-patch.ts';
import { listTransformsLibrary } from './list-transforms.ts';
import { listsLibrary } from './lists.ts';
import { namedFormatLibrary } from './named-format.ts';
import { cidrLibrary, ipLibrary } from './network.ts';
import { optionalsLibrary, twoVariableLibrary } from './optionals.ts';
import { quantityLibrary } from './quantity.ts';
import { regexLibrary } from './regex.ts';
import { semverLibrary } from './semver.ts';
import { setsLibrary } from './sets.ts';
import { standardFunctions } from './standard-functions.ts';
import { indexFunctions, operatorFunctions } from './standard-operators.ts';
import { stringsLibrary } from './strings.ts';
import { urlLibrary } from './url.ts';

/** What an environment may use, chosen by version and features. */
export interface LanguageSelection {
  readonly naming: NamingProfile;
  /** Minor of the compatibility version 1.x; `stored`: everything. */
  readonly version: number | 'stored';
  /** fieldSelector() and labelSelector() of the authorizer. */
  readonly authorizerSelectors: boolean;
  /** jsonpatch.escapeKey(), where patches are written. */
  readonly jsonPatch: boolean;
  /** What only selectors of devices have. */
  readonly deviceSelectors: DeviceSelectorFeatures | undefined;
}

export interface Language {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly macros: ReadonlyMap<string, readonly Macro[]>;
  readonly types: readonly CelType[];
  readonly hasOptionals: boolean;
  /** Whether constants are checked before evaluation (since 1.29). */
  readonly validatesLiterals: boolean;
}

/** All versioned libraries. */
export function allLibraries(naming: NamingProfile): readonly Library[] {
  return [
    stringsLibrary,
    listsLibrary,
    regexLibrary,
    urlLibrary(naming),
    authorizerLibrary(naming),
    optionalsLibrary,
    quantityLibrary(naming),
    formatStringLibrary,
    setsLibrary,
    ipLibrary,
    cidrLibrary,
    namedFormatLibrary(naming),
    authorizerSelectorsLibrary(naming),
    twoVariableLibrary,
    semverLibrary(naming),
    listTransformsLibrary,
    jsonPatchLibrary,
  ];
}

const numericComparisonSince = 28;
const optionalsSince = 28;
const validationSince = 29;

const languages = new WeakMap<NamingProfile, Map<string, Language>>();

/** The language of a selection; made once for each. */
export function languageOf(selection: LanguageSelection): Language {
  const { naming, version, authorizerSelectors, jsonPatch, deviceSelectors } = selection;
  const known = languages.get(naming) ?? new Map<string, Language>();
  languages.set(naming, known);
  const key = JSON.stringify([version, authorizerSelectors, jsonPatch, deviceSelectors]);
  const language = known.get(key) ?? buildLanguage(selection);
  known.set(key, language);
  return language;
}

function buildLanguage(selection: LanguageSelection): Language {
  const minor = selection.version === 'stored' ? Infinity : selection.version;
  const libraries = allLibraries(selection.naming).filter((library) => {
    if (library.name === '{kubernetes}.authzSelectors' && !selection.authorizerSelectors)
      return false;
    if (library.name === '{kubernetes}.jsonpatch' && !selection.jsonPatch) return false;
    return library.since <= minor && (library.until === undefined || minor < library.until);
  });
  if (selection.deviceSelectors !== undefined) {
    libraries.push(...deviceLibraries(selection.deviceSelectors));
  }
  const hasOptionals = minor >= optionalsSince;
  const declared = [
    ...operatorFunctions(minor >= numericComparisonSince),
    ...indexFunctions(hasOptionals),
    ...conversionFunctions,
    ...standardFunctions,
    ...libraries.flatMap((library) => library.functions ?? []),
  ];
  return {
    functions: mergeFunctions(declared),
    macros: groupMacros([
      ...standardMacros,
      ...libraries.flatMap((library) => library.macros ?? []),
    ]),
    types: libraries.flatMap((library) => library.types ?? []),
    hasOptionals,
    validatesLiterals: minor >= validationSince,
  };
}

/** Overloads of one name from several libraries become one function. */
function mergeFunctions(
  declared: readonly FunctionDeclaration[],
): ReadonlyMap<string, FunctionDeclaration> {
  const merged = new Map<string, FunctionDeclaration>();
  for (const next of declared) {
    const known = merged.get(next.name);
    const overloads = [...(known?.overloads ?? []), ...next.overloads];
    merged.set(next.name, { ...next, ...known, overloads });
  }
  return merged;
}

function groupMacros(macros: readonly Macro[]): ReadonlyMap<string, readonly Macro[]> {
  const grouped = new Map<string, readonly Macro[]>();
  for (const macro of macros) grouped.set(macro.name, [...(grouped.get(macro.name) ?? []), macro]);
  return grouped;
}

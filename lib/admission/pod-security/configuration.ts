// The configuration of the plugin: what namespaces without labels ask for, and who is exempt.
import { FieldErrors, childPath } from '../../api/field-errors.ts';
import { asRecord, isSet, textAt, valueAt } from '../../api/json-access.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import { laxestPolicy, levelOf, levelProblem, modes } from './policy.ts';
import { versionOf, versionProblem } from './policy.ts';
import type { LevelVersion, Mode, Policy } from './policy.ts';

export interface PodSecurityConfiguration {
  readonly defaults: Policy;
  readonly exemptions: {
    readonly usernames: ReadonlySet<string>;
    readonly namespaces: ReadonlySet<string>;
    readonly runtimeClasses: ReadonlySet<string>;
  };
}

const nobody: ReadonlySet<string> = new Set();

/** What holds where nothing is configured. */
const defaultConfiguration: PodSecurityConfiguration = {
  defaults: laxestPolicy,
  exemptions: { usernames: nobody, namespaces: nobody, runtimeClasses: nobody },
};

const kind = 'PodSecurityConfiguration';
const versions = ['v1', 'v1beta1', 'v1alpha1'];

/**
 * `object`: a PodSecurityConfiguration of any version, decoded; undefined or null: there is none.
 * @throws Error whose message names each wrong field.
 */
export function parsePodSecurityConfiguration(
  object: unknown,
  naming: NamingProfile,
): PodSecurityConfiguration {
  if (object === undefined || object === null) return defaultConfiguration;
  const errors = new FieldErrors();
  // What is decoded has the members of JSON; the shape of each is looked at below.
  const given = asRecord(object as JsonObject);
  if (given === undefined) errors.typeInvalid('', object, `must be a ${kind}`);
  checkKind(given, errors, naming);
  const defaults = recordIn(given, 'defaults', errors);
  const exemptions = recordIn(given, 'exemptions', errors);
  checkMembers(given, '', ['apiVersion', 'kind', 'defaults', 'exemptions'], errors);
  const known = modes.flatMap((mode) => [mode, versionMember(mode)]);
  checkMembers(defaults, 'defaults', known, errors);
  checkMembers(
    exemptions,
    'exemptions',
    exemptionRules.map(([name]) => name),
    errors,
  );
  const askedOf = (mode: Mode): LevelVersion => levelVersionIn(defaults, mode, errors);
  const policy = { enforce: askedOf('enforce'), audit: askedOf('audit'), warn: askedOf('warn') };
  const [usernames = nobody, namespaces = nobody, runtimeClasses = nobody] = exemptionRules.map(
    ([name, problemsOf]) => textsIn(exemptions, name, problemsOf, errors),
  );
  if (errors.list.length > 0) throw new Error(problemsText(errors));
  return { defaults: policy, exemptions: { usernames, namespaces, runtimeClasses } };
}

const exemptionRules: readonly (readonly [string, (text: string) => readonly string[]])[] = [
  ['usernames', () => []],
  ['namespaces', dns1123LabelProblems],
  ['runtimeClasses', dns1123SubdomainProblems],
];

type Given = Readonly<JsonObject> | undefined;

function checkKind(given: Given, errors: FieldErrors, naming: NamingProfile): void {
  const group = naming.resolve('pod-security.admission.config.{v}');
  const known = versions.map((version) => `${group}/${version}`);
  const apiVersion = textAt(given, 'apiVersion');
  if (!known.includes(apiVersion)) errors.notListed('apiVersion', apiVersion, known);
  if (textAt(given, 'kind') !== kind) errors.notListed('kind', textAt(given, 'kind'), [kind]);
}

function checkMembers(
  given: Given,
  path: string,
  known: readonly string[],
  errors: FieldErrors,
): void {
  for (const name of Object.keys(given ?? {})) {
    if (!known.includes(name)) errors.forbidden(childPath(path, name), 'unknown field');
  }
}

/** Absent and null are empty. */
function recordIn(given: Given, name: string, errors: FieldErrors): Given {
  if (!isSet(given, name)) return undefined;
  const value = valueAt(given, name);
  const record = asRecord(value);
  if (record === undefined) errors.typeInvalid(name, value, 'must be an object');
  return record;
}

const versionMember = (mode: Mode): string => `${mode}-version`;

function levelVersionIn(given: Given, mode: Mode, errors: FieldErrors): LevelVersion {
  const read = <T>(member: string, parse: (text: string) => T | undefined, detail: string) => {
    const value = valueAt(given, member) ?? '';
    if (value === '') return undefined;
    const parsed = typeof value === 'string' ? parse(value) : undefined;
    if (parsed === undefined) errors.invalid(`defaults.${member}`, value, detail);
    return parsed;
  };
  const { level, version } = laxestPolicy[mode];
  return {
    level: read(mode, levelOf, levelProblem) ?? level,
    version: read(versionMember(mode), versionOf, versionProblem) ?? version,
  };
}

function textsIn(
  given: Given,
  name: string,
  problemsOf: (text: string) => readonly string[],
  errors: FieldErrors,
): ReadonlySet<string> {
  const value = valueAt(given, name) ?? [];
  const path = `exemptions.${name}`;
  const texts = new Set<string>();
  if (!Array.isArray(value)) {
    errors.typeInvalid(path, value, 'must be a list of strings');
    return texts;
  }
  for (const [index, text] of value.entries()) {
    const at = `${path}[${String(index)}]`;
    if (typeof text !== 'string') errors.typeInvalid(at, text, 'must be a string');
    else if (text === '') errors.required(at);
    else if (texts.has(text)) errors.duplicate(at, text);
    else {
      errors.problems(at, text, problemsOf(text));
      texts.add(text);
    }
  }
  return texts;
}

const problemsText = ({ list }: FieldErrors): string =>
  list
    .map((error) => `${error.field === '' ? kind : error.field}: ${fieldErrorMessage(error)}`)
    .join('; ');

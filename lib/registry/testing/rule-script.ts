// Scripts of validation: an object, changes to it, and every failure that they bring. One line a
// case: `[operation] claim | changes | failures`; `~c`, `~v` stand for the first container, volume.
// Failures may be left to `npm test -- -u`, which writes them.
import { kindNameOf } from '../../api/kind-rules.ts';
import { admissionregistrationKinds } from '../../kinds/admissionregistration/kinds.ts';
import { apiextensionsKinds } from '../../kinds/apiextensions/kinds.ts';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import type { Scheme } from '../../api/scheme.ts';
import type { JsonObject, JsonValue, ResourceInfo } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { validateObjectMeta } from '../../api/meta.ts';
import { StatusError } from '../../base/status.ts';
import type { FieldError, StatusCause } from '../../base/status.ts';
import { featureGates } from '../../config/gates.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { jsonCodec } from '../../codec/json.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { cloneJson } from '../../api/json-value.ts';
import { atOnce } from '../../base/steps.ts';
import { kindStrategies } from '../../kinds/built-in-kinds.ts';
import type { WriteContext } from '../../kinds/strategy.ts';
import { objectRules } from '../validation.ts';

export interface ScriptCase {
  /** Index of its line in the script. */
  readonly line: number;
  /** `apps/deployments`, `pods`. */
  readonly resource: string;
  /** The kind as the rules name it. */
  readonly kind: string;
  readonly base: string;
  readonly isBaseValid: boolean;
  readonly operation: Operation;
  /** Path and rule that the case is about. */
  readonly claim: string;
  readonly changes: readonly string[];
  /** `spec.replicas Invalid`, in order; `ok`: none. */
  readonly expected: string;
}

const operations = {
  create: '',
  update: '',
  status: 'status',
  approval: 'approval',
  ephemeralcontainers: 'ephemeralcontainers',
  resize: 'resize',
} as const;
type Operation = keyof typeof operations;

export function parseScript(text: string): readonly ScriptCase[] {
  const cases: ScriptCase[] = [];
  let section: Pick<ScriptCase, 'resource' | 'kind' | 'base' | 'isBaseValid'> | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('//')) continue;
    const head = /^= (\S+) (.*?)( \*)?$/.exec(line);
    if (head !== null) {
      const [, resource = '', kind = '', star] = head;
      section = { resource, kind, base: '', isBaseValid: star === undefined };
    } else if (line.startsWith('{') && section !== undefined) section = { ...section, base: line };
    else if (section !== undefined) {
      cases.push({ line: index, ...section, ...parseLine(line) });
    }
  }
  return cases;
}

/** The script with the failures that `run` finds; a line whose case has them already stays. */
export function rewriteScript(text: string, run: (test: ScriptCase) => string = runCase): string {
  const lines = text.split('\n');
  for (const one of parseScript(text)) {
    const found = run(one);
    if (found === one.expected) continue;
    const [said = '', changes = ''] = (lines[one.line] ?? '').split(separator);
    lines[one.line] = [said, changes, found].join(separator);
  }
  return lines.join('\n');
}

const separator = ' | ';

function parseLine(line: string): Pick<ScriptCase, 'operation' | 'claim' | 'changes' | 'expected'> {
  const [said = '', changes = '', expected = ''] = line.split(separator);
  const mark = /^\[(\w+)\] (.*)$/.exec(said);
  const operation = mark?.[1] ?? 'create';
  if (!Object.hasOwn(operations, operation)) throw new Error(`unknown operation in: ${line}`);
  return {
    operation: operation as Operation,
    claim: mark?.[2] ?? said,
    changes: changes.split(' ; ').map((one) => one.trim()),
    expected: expected.trim(),
  };
}

const naming = namingProfile('svc');
let scheme: Scheme | undefined;

/** Every kind, also of versions that are off by default. */
export function everyKind(): Scheme {
  scheme ??= builtInScheme({ profile: naming, runtimeConfig: new Map([['api/all', true]]) });
  return scheme;
}

export function resourceNamed(name: string): ResourceInfo {
  const [resource = '', group = ''] = naming.resolve(name).split('/').reverse();
  const found = everyKind().storedResources.find(
    (one) => one.group === group && one.resource === resource,
  );
  if (found === undefined) throw new Error(`no resource ${name}`);
  return found;
}

const kindsInSteps = new Map(
  [...apiextensionsKinds, ...admissionregistrationKinds].map((kind) => [kind.name, kind]),
);

/** Failures of a case, each `field Reason`. */
export function runCase(test: ScriptCase): string {
  const resource = resourceNamed(test.resource);
  const changes = test.changes.filter((one) => one !== '').map((one) => naming.resolve(one));
  const gates = changes.flatMap((one): [string, string][] => {
    const match = /^([+-])(\w+)$/.exec(one);
    return match === null ? [] : [[match[2] ?? '', String(match[1] === '+')]];
  });
  const enabled = featureGates(new Map(gates));
  const strategy = kindStrategies({ naming, eventTtlSeconds: 1 })(resource);
  const rules = objectRules(resource, strategy, {
    isOn: (gate) => enabled.isEnabled(gate),
    onMismatch: (_resource, difference) => {
      throw new Error(difference);
    },
  });
  const context = contextOf(test, changes, resource);
  const validate = (object: ApiObject, before: ApiObject | undefined): readonly FieldError[] => {
    const found = [...rules.validate(object, before, context)];
    const errors = new FieldErrors(found);
    const { subresource, apiVersion } = context;
    const write = { object, old: before, subresource, apiVersion, naming, errors };
    const inSteps = kindsInSteps.get(kindNameOf(resource.type.id))?.validateInSteps;
    if (inSteps !== undefined) {
      atOnce(inSteps({ ...write, isOn: (gate) => enabled.isEnabled(gate) }));
    }
    return [...found, ...errors.list];
  };
  const make = (from: JsonObject, isNew: boolean): ApiObject => {
    const { object } = jsonCodec.decode(Buffer.from(JSON.stringify(from)), resource.type);
    everyKind().defaults.apply(object, resource.type);
    if (isNew) rules.prepare(object, undefined, context);
    return object;
  };
  const base = JSON.parse(naming.resolve(test.base)) as JsonObject;
  if (test.operation === 'create') {
    for (const one of changes) change(base, one);
    const object = make(base, true);
    rules.dropDisabled(object, undefined);
    return failuresOf(() => [...metaErrors(object, resource), ...validate(object, undefined)]);
  }
  for (const one of changes) if (one.startsWith('old:')) change(base, one.slice(4));
  const old = make(base, strategyKeepsStatus(base));
  const next = JSON.parse(JSON.stringify(old)) as JsonObject;
  for (const one of changes) if (!one.startsWith('old:')) change(next, one);
  const object = make(next, false);
  rules.dropDisabled(object, old);
  return failuresOf(() => validate(object, cloneJson(old)));
}

/** What a rule that ends all others throws counts as what is found. */
function failuresOf(find: () => readonly FieldError[]): string {
  try {
    return shown(find());
  } catch (error) {
    const causes = error instanceof StatusError ? error.details?.causes : undefined;
    if (causes === undefined) throw error;
    return shown(causes);
  }
}

/** A stored status that a case states is kept as it is. */
const strategyKeepsStatus = (base: JsonObject): boolean => base['status'] === undefined;

function contextOf(
  { operation }: ScriptCase,
  changes: readonly string[],
  resource: ResourceInfo,
): WriteContext {
  const version = changes.find((one) => one.startsWith('version:'))?.slice('version:'.length);
  const stored = resource.group === '' ? 'v1' : `${resource.group}/${resource.version}`;
  return {
    user: { name: 'tester', uid: '', groups: [], extra: {} },
    dryRun: false,
    fieldManager: '',
    subresource: operations[operation],
    warnings: [],
    nowMs: 0,
    apiVersion: version ?? stored,
  };
}

function metaErrors(object: ApiObject, resource: ResourceInfo): readonly FieldError[] {
  const { namespaced, nameRule } = resource;
  const meta = (object.metadata ?? {}) as JsonObject;
  return validateObjectMeta(meta, { namespaced, nameRule, profile: naming, object });
}

const shown = (errors: readonly Pick<StatusCause, 'field' | 'reason'>[]): string =>
  errors
    .map(({ field = '', reason = '' }) => `${field} ${reason.replace(/^FieldValue/, '')}`.trim())
    .join(', ') || 'ok';

/** `@N@` stands for N letters, `@N:TEXT@` for N copies of a text with commas between. */
const filled = (text: string): string =>
  text
    .replaceAll(/@(\d+)@/g, (_, count: string) => 'x'.repeat(Number(count)))
    .replaceAll(/@(\d+):(.*?)@/g, (_, count: string, one: string) =>
      Array.from({ length: Number(count) }, (_one, at) => one.replaceAll('#', String(at))).join(
        ',',
      ),
    );

/** `path/to/0/member=JSON`; `-` removes; `~1` is a slash in a name. */
function change(object: JsonObject, text: string): void {
  if (/^[+-]\w+$/.test(text) || text.startsWith('version:')) return;
  const equals = text.indexOf('=');
  const path = text
    .slice(0, equals)
    .replace(/^~c/, 'spec/containers/0')
    .replace(/^~v/, 'spec/volumes/0')
    .split('/')
    .map((part) => part.replaceAll('~1', '/'));
  const last = path.pop() ?? '';
  let holder: JsonObject = object;
  for (const part of path) {
    const next = holder[part];
    holder = (typeof next === 'object' && next !== null ? next : (holder[part] = {})) as JsonObject;
  }
  const value = text.slice(equals + 1);
  if (value === '-') Reflect.deleteProperty(holder, last);
  else holder[last] = JSON.parse(filled(value)) as JsonValue;
}

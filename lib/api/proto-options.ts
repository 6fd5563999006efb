// Checks options of the .proto files against options.proto; an unknown or mistyped one throws.
// Checked options have one shape: camelCase names, arrays where repeated, placeholders resolved.
import protobuf from 'protobufjs';

export type Options = Readonly<Record<string, unknown>>;
export type OptionTarget = 'File' | 'Message' | 'Field';

interface OptionSpec {
  /** Name in the checked record. */
  readonly name: string;
  readonly repeated: boolean;
  readonly kind: 'bool' | 'string' | 'number' | ReadonlyMap<string, string> | MessageSpec;
}
interface MessageSpec {
  readonly fields: ReadonlyMap<string, OptionSpec>;
}

/** `check(target, written, where)`: the record, or an Error that names `where` and the option. */
export interface OptionChecker {
  check(target: OptionTarget, written: readonly Options[] | null, where: string): Options;
}

const camelCase = (name: string): string =>
  name.toLowerCase().replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

// Options of the language itself that we use, by target.
const builtIn: Readonly<Record<OptionTarget, readonly (readonly [string, OptionSpec])[]>> = {
  File: [],
  Message: [],
  Field: [
    ['json_name', { name: 'jsonName', repeated: false, kind: 'string' }],
    ['deprecated', { name: 'deprecated', repeated: false, kind: 'bool' }],
  ],
};

function specOf(field: protobuf.Field, root: protobuf.Root): OptionSpec {
  const shape = { name: camelCase(field.name), repeated: field.repeated };
  if (field.type === 'bool' || field.type === 'string') return { ...shape, kind: field.type };
  if (field.type === 'int32') return { ...shape, kind: 'number' };
  const type = root.lookup(field.type);
  if (type instanceof protobuf.Enum) {
    const values = Object.keys(type.values).filter((value) => value !== 'UNSET');
    return { ...shape, kind: new Map(values.map((value) => [value, camelCase(value)])) };
  }
  if (type instanceof protobuf.Type) {
    const fields = type.fieldsArray.map((inner) => [inner.name, specOf(inner, root)] as const);
    return { ...shape, kind: { fields: new Map(fields) } };
  }
  throw new Error(`options.proto: ${field.name} has an unknown type ${field.type}`);
}

function checkValue(spec: OptionSpec, value: unknown, resolve: (text: string) => string): unknown {
  const { kind } = spec;
  if (kind === 'string') {
    if (typeof value !== 'string') throw new TypeError('must be a string');
    return resolve(value);
  }
  if (kind === 'bool' || kind === 'number') {
    if (typeof value !== (kind === 'bool' ? 'boolean' : 'number'))
      throw new TypeError(`must be a ${kind}`);
    return value;
  }
  if (kind instanceof Map) {
    const choices = kind as ReadonlyMap<string, string>;
    const known = typeof value === 'string' ? choices.get(value) : undefined;
    if (known === undefined)
      throw new TypeError(`must be one of ${[...choices.keys()].join(', ')}`);
    return known;
  }
  if (typeof value !== 'object' || value === null) throw new TypeError('must be a message');
  const record: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    add(record, (kind as MessageSpec).fields.get(key), key, inner, resolve);
  }
  return record;
}

function add(
  record: Record<string, unknown>,
  spec: OptionSpec | undefined,
  key: string,
  value: unknown,
  resolve: (text: string) => string,
): void {
  if (spec === undefined) throw new TypeError(`${key} is not an option`);
  try {
    if (!spec.repeated) {
      if (Object.hasOwn(record, spec.name)) throw new TypeError('is given twice');
      record[spec.name] = checkValue(spec, value, resolve);
      return;
    }
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    const list = (record[spec.name] ??= []) as unknown[];
    for (const one of values) list.push(checkValue(spec, one, resolve));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`${key}: ${reason}`, { cause: error });
  }
}

export function createOptionChecker(
  vocabulary: string,
  resolve: (text: string) => string,
): OptionChecker {
  const { root } = protobuf.parse(vocabulary, new protobuf.Root(), { keepCase: true });
  const specs: Record<OptionTarget, Map<string, OptionSpec>> = {
    File: new Map(builtIn.File),
    Message: new Map(builtIn.Message),
    Field: new Map(builtIn.Field),
  };
  for (const field of root.nestedArray) {
    if (!(field instanceof protobuf.Field)) continue;
    const target = /^google\.protobuf\.(File|Message|Field)Options$/.exec(field.extend ?? '')?.[1];
    if (target === undefined) throw new Error(`options.proto: ${field.name} extends nothing known`);
    specs[target as OptionTarget].set(`(${field.name})`, specOf(field, root));
  }
  return {
    check(target, written, where) {
      const record: Record<string, unknown> = {};
      for (const option of written ?? []) {
        for (const [key, value] of Object.entries(option)) {
          try {
            add(record, specs[target].get(key), key, value, resolve);
          } catch (error) {
            const reason = error instanceof Error ? error.message : String(error);
            throw new Error(`${where}: ${reason}`, { cause: error });
          }
        }
      }
      return record;
    },
  };
}

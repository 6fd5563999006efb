// Reads a configuration document strictly: a field that is misspelt, given twice or of another type
// would not say what somebody meant. Everything that is wrong is collected.
import { asRecord, textAt, valueAt } from '../api/json-access.ts';
import { childPath } from '../api/field-errors.ts';
import { isObject } from '../api/json-value.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { parseDuration } from './value-forms.ts';
import { readYaml } from './yaml-reader.ts';

type Kind = 'string' | 'boolean';

export interface WantedDocument {
  readonly kind: string;
  /** With their group. */
  readonly apiVersions: readonly string[];
}

/** @throws Error that says what the document is instead */
export function checkDocumentKind(document: JsonObject, wanted: WantedDocument): void {
  const [kind, apiVersion] = [textAt(document, 'kind'), textAt(document, 'apiVersion')];
  if (kind === wanted.kind && wanted.apiVersions.includes(apiVersion)) return;
  throw new Error(
    `must be of kind ${wanted.kind} in version ${wanted.apiVersions.join(' or ')}, it is of ` +
      `kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
  );
}

/**
 * @param text YAML or JSON
 * @throws Error when it holds no object, or a field twice
 */
export function readDocument(text: string): JsonObject {
  if (text.trim() === '') throw new Error('the file is empty');
  const { value, duplicates } = readYaml(text);
  if (!isObject(value)) throw new Error('must hold an object');
  throwStrict(duplicates.map(({ path }) => `duplicate field "${path}"`));
  return value;
}

function throwStrict(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`strict decoding error: ${problems.join(', ')}`);
}

/** Reads fields by name; which were never asked for is unknown. */
export class StrictFields {
  readonly #problems: string[];
  readonly #object: JsonObject;
  readonly #path: string;
  readonly #asked = new Set<string>();
  readonly #all: StrictFields[];

  private constructor(
    object: JsonObject,
    path: string,
    shared: { readonly problems: string[]; readonly all: StrictFields[] },
  ) {
    this.#object = object;
    this.#path = path;
    this.#problems = shared.problems;
    this.#all = shared.all;
    this.#all.push(this);
  }

  /**
   * The root of a document.
   * @param text YAML or JSON
   * @throws Error when it is of another kind, or cannot be read
   */
  static read(text: string, wanted: WantedDocument): StrictFields {
    return StrictFields.of(readDocument(text), wanted);
  }

  /** @throws Error when the document is of another kind */
  static of(document: JsonObject, wanted: WantedDocument): StrictFields {
    checkDocumentKind(document, wanted);
    const root = StrictFields.unnamed(document);
    root.text('kind');
    root.text('apiVersion');
    return root;
  }

  /** Of a document that says nothing of its kind. */
  static unnamed(document: JsonObject): StrictFields {
    return new StrictFields(document, '', { problems: [], all: [] });
  }

  /** @throws Error that tells every problem, unknown fields too, in Kubernetes' words */
  finish(): void {
    for (const fields of this.#all) {
      for (const name of Object.keys(fields.#object)) {
        if (fields.#asked.has(name)) continue;
        this.#problems.push(`unknown field "${childPath(fields.#path, name)}"`);
      }
    }
    throwStrict(this.#problems);
  }

  /** Where it is in the document. */
  path(name: string): string {
    return childPath(this.#path, name);
  }

  /** An object that somebody else reads; undefined: it is absent. */
  record(name: string): JsonObject | undefined {
    const value = this.#read(name);
    if (value === undefined || isObject(value)) return value;
    this.#problems.push(`${this.path(name)}: must be an object`);
    return undefined;
  }

  /** '' where it is absent. */
  text(name: string): string {
    return this.optionalText(name) ?? '';
  }

  /** undefined: it is absent. */
  optionalText(name: string): string | undefined {
    return this.#typed<string>(name, 'string');
  }

  /** undefined: it is absent. */
  flag(name: string): boolean | undefined {
    return this.#typed<boolean>(name, 'boolean');
  }

  /** A whole number; undefined: it is absent. */
  integer(name: string): number | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    const number = typeof value === 'bigint' ? Number(value) : value;
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number;
    this.#problems.push(`${this.path(name)}: must be a whole number`);
    return undefined;
  }

  /** Nanoseconds; undefined: it is absent. */
  duration(name: string): bigint | undefined {
    const text = this.#typed<string>(name, 'string');
    if (text === undefined) return undefined;
    const nanos = parseDuration(text);
    if (nanos === undefined) {
      this.#problems.push(
        `${this.path(name)}: ${JSON.stringify(text)} is no duration such as 30s or 5m0s`,
      );
    }
    return nanos;
  }

  /** undefined: it is absent. */
  object(name: string): StrictFields | undefined {
    const value = this.#read(name);
    return value === undefined ? undefined : this.#child(value, this.path(name));
  }

  /** One without fields where it is absent. */
  objectOrEmpty(name: string): StrictFields {
    return this.object(name) ?? this.#child({}, this.path(name));
  }

  objects(name: string): readonly StrictFields[] {
    return this.#list(name).map((value, index) =>
      this.#child(value, `${this.path(name)}[${String(index)}]`),
    );
  }

  texts(name: string): readonly string[] {
    return this.#list(name).map((value, index) => {
      if (typeof value === 'string') return value;
      this.#problems.push(`${this.path(name)}[${String(index)}]: must be a text`);
      return '';
    });
  }

  #child(value: JsonValue, path: string): StrictFields {
    const object = asRecord(value);
    if (object === undefined) this.#problems.push(`${path}: must be an object`);
    return new StrictFields(object ?? {}, path, { problems: this.#problems, all: this.#all });
  }

  #list(name: string): readonly JsonValue[] {
    const value = this.#read(name);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.#problems.push(`${this.path(name)}: must be a list`);
    return [];
  }

  #typed<T extends JsonValue>(name: string, kind: Kind): T | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    if (typeof value === kind) return value as T; // Of the kind that stands for T.
    this.#problems.push(
      `${this.path(name)}: must be ${kind === 'string' ? 'a text' : 'true or false'}`,
    );
    return undefined;
  }

  #read(name: string): JsonValue | undefined {
    this.#asked.add(name);
    return valueAt(this.#object, name);
  }
}

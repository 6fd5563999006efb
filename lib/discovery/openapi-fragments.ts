// What documents are made of: a fragment for each source of paths and schemas, as bytes. Made when
// first asked for, kept while documents are asked for and room is left; its hash is kept for good.
import { createHash } from 'node:crypto';
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { stringify } from '../codec/json.ts';
import { schemaJson, schemaMessage } from './openapi-large.ts';
import { v2PathItem, v2Schema, v3PathItem, v3SchemaOrReference } from './openapi-messages.ts';
import type { OpenModel } from './openapi-models.ts';
import type { WrittenSchema } from './openapi-open.ts';
import type { PathItem } from './openapi-operations.ts';
import { pathItemObject } from './openapi-paths.ts';
import type { OpenApiMedia, PathWriting } from './openapi-paths.ts';
import { encodeEntry, wrapEntry } from './openapi-protobuf.ts';
import { Definitions } from './openapi-schemas.ts';
import type { DefinitionsOptions, OpenApiVersion } from './openapi-schemas.ts';
import { inShortTurns, passTurnOn } from './openapi-steps.ts';

export type OpenApiForm = 'json' | 'protobuf';

export interface Source {
  /** The same object: the same content. */
  readonly key: object;
  readonly items: () => readonly PathItem[];
  readonly media: OpenApiMedia;
  /**
   * Types that its document has beside those that its paths refer to; undefined: no type is written
   * here, what it refers to stands in another fragment.
   */
  readonly types: readonly TypeInfo[] | undefined;
  readonly models: readonly OpenModel[];
  /** Differs where the content does; undefined: its hash is that of the content. */
  readonly inputs?: string;
}

export interface Fragment {
  /** JSON: members, each with a comma before it. Protobuf: entries. */
  readonly paths: Uint8Array;
  readonly schemas: Uint8Array;
}

interface Kept {
  fragment: Fragment | undefined;
  made: Promise<Fragment> | undefined;
  hash: string | undefined;
  usedMs: number;
}

export interface FragmentsOptions {
  readonly definitions: DefinitionsOptions;
  readonly extensionPrefix: string;
  readonly clock: Clock;
}

export class Fragments {
  readonly #options: FragmentsOptions;
  readonly #known = new WeakMap<object, Map<string, Kept>>();
  /** Those that hold bytes, least recently used first. */
  readonly #used = new Set<Kept>();
  #keptBytes = 0;
  #isWatched = false;

  constructor(options: FragmentsOptions) {
    this.#options = options;
  }

  /** Of all fragments that are kept. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  async of(source: Source, version: OpenApiVersion, form: OpenApiForm): Promise<Fragment> {
    const kept = this.#keptOf(source, version, form);
    kept.usedMs = this.#options.clock.monotonicMs();
    if (kept.fragment !== undefined) {
      this.#used.delete(kept);
      this.#used.add(kept);
      return kept.fragment;
    }
    kept.made ??= this.#make(source, version, form, kept);
    return kept.made;
  }

  /** Of the content in JSON. */
  async hashOf(source: Source, version: OpenApiVersion): Promise<string> {
    const kept = this.#keptOf(source, version, 'json');
    if (kept.hash === undefined) await this.of(source, version, 'json');
    return kept.hash ?? '';
  }

  /** What was made of a source that is gone. */
  drop(key: object): void {
    for (const kept of this.#known.get(key)?.values() ?? []) this.#forget(kept);
    this.#known.delete(key);
  }

  #keptOf({ key }: Source, version: OpenApiVersion, form: OpenApiForm): Kept {
    let ofKey = this.#known.get(key);
    if (ofKey === undefined) {
      ofKey = new Map();
      this.#known.set(key, ofKey);
    }
    const name = `${version} ${form}`;
    let kept = ofKey.get(name);
    if (kept === undefined) {
      kept = { fragment: undefined, made: undefined, hash: undefined, usedMs: 0 };
      ofKey.set(name, kept);
    }
    return kept;
  }

  async #make(
    source: Source,
    version: OpenApiVersion,
    form: OpenApiForm,
    kept: Kept,
  ): Promise<Fragment> {
    try {
      const fragment = await makeFragment(source, version, form, this.#options);
      if (form === 'json') kept.hash ??= contentHash(fragment);
      this.#keep(kept, fragment);
      return fragment;
    } finally {
      kept.made = undefined;
    }
  }

  #keep(kept: Kept, fragment: Fragment): void {
    kept.fragment = fragment;
    this.#used.add(kept);
    this.#keptBytes += bytesOf(fragment);
    for (const oldest of this.#used) {
      if (this.#keptBytes <= limits.openapiKeptBytesMax) break;
      this.#forget(oldest);
    }
    this.#watch();
  }

  #forget(kept: Kept): void {
    if (kept.fragment !== undefined) this.#keptBytes -= bytesOf(kept.fragment);
    kept.fragment = undefined;
    this.#used.delete(kept);
  }

  #watch(): void {
    if (this.#isWatched || this.#used.size === 0) return;
    this.#isWatched = true;
    const { clock } = this.#options;
    clock.after(limits.openapiUnusedMs, () => {
      this.#isWatched = false;
      const oldestMs = clock.monotonicMs() - limits.openapiUnusedMs;
      for (const kept of this.#used) {
        if (kept.usedMs > oldestMs) break;
        this.#forget(kept);
      }
      this.#watch();
    });
  }
}

const bytesOf = ({ paths, schemas }: Fragment): number => paths.length + schemas.length;

const contentHash = ({ paths, schemas }: Fragment): string =>
  createHash('sha512').update(paths).update('\0').update(schemas).digest('hex');

async function makeFragment(
  source: Source,
  version: OpenApiVersion,
  form: OpenApiForm,
  options: FragmentsOptions,
): Promise<Fragment> {
  const definitions = new Definitions(version, options.definitions);
  const { extensionPrefix } = options;
  const writing: PathWriting = { definitions, media: source.media, extensionPrefix };
  const { path, schema, model } = form === 'json' ? jsonEntries : protobufEntries(version);
  const paths: Uint8Array[] = [];
  const schemas: Uint8Array[] = [];
  await passTurnOn();
  for (const item of source.items()) {
    paths.push(path(item.path, pathItemObject(writing, item)));
    await passTurnOn();
  }
  if (source.types !== undefined) {
    for (const type of source.types) definitions.refTo(type);
    for (const [name, value] of definitions.schemas()) {
      schemas.push(schema(name, value));
      await passTurnOn();
    }
  }
  for (const { name, schema: schemaOf } of source.models) {
    for (const piece of await model(name, await schemaOf(version))) schemas.push(piece);
    await passTurnOn();
  }
  return { paths: Buffer.concat(paths), schemas: Buffer.concat(schemas) };
}

interface Entries {
  readonly path: (name: string, value: JsonObject) => Uint8Array;
  readonly schema: (name: string, value: JsonObject) => Uint8Array;
  readonly model: (name: string, written: WrittenSchema) => Promise<readonly Uint8Array[]>;
}

const jsonEntry = (name: string, text: string): Buffer =>
  Buffer.from(`,${JSON.stringify(name)}:${text}`);

const jsonEntries: Entries = {
  path: (name, value) => jsonEntry(name, stringify(value)),
  schema: (name, value) => jsonEntry(name, stringify(value)),
  model: async (name, written) => [
    jsonEntry(name, (await inShortTurns(schemaJson(written))).join('')),
  ],
};

const messages = {
  v2: { pathNumber: 2, pathMessage: v2PathItem, schemaMessage: v2Schema },
  v3: { pathNumber: 1, pathMessage: v3PathItem, schemaMessage: v3SchemaOrReference },
} as const;

function protobufEntries(version: OpenApiVersion): Entries {
  const { pathNumber, pathMessage, schemaMessage: message } = messages[version];
  return {
    path: (name, value) => encodeEntry(pathNumber, name, pathMessage, value),
    schema: (name, value) => encodeEntry(1, name, message, value),
    model: async (name, written) =>
      wrapEntry(1, name, await inShortTurns(schemaMessage(message, written))),
  };
}

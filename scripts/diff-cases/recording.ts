// A folder of recorded answers: kinds, base objects, and cases that change a base object or send
// something of their own. Reads the files and spells out their short names.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { JsonObject, JsonValue } from '../../lib/api/type-info.ts';
import { applyDelta, changed } from './changes.ts';
import type { Change, Delta } from './changes.ts';

export interface RecordedKind {
  readonly id: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** `/apis/apps/v1`. */
  readonly prefix: string;
}

export interface BaseObject {
  readonly id: string;
  /** Id of its kind. */
  readonly k: string;
  readonly object: JsonObject;
  /** Written by PUT /status once the object is there. */
  readonly status?: JsonObject;
  /** What the reference stored. */
  readonly real?: JsonObject;
}

export type Headers = Readonly<Record<string, string>>;

/** A PUT has the change of what the request before it answered, others a body. */
export type EarlierRequest =
  | readonly [method: 'PUT', path: string, change?: Change]
  | readonly [method: 'POST' | 'GET' | 'DELETE', path: string, body?: JsonValue];

/** One case as it stands in the files; `t` says which of the members it has. */
export interface RecordedCase {
  readonly id: string;
  /** Category. */
  readonly c: string;
  readonly t: 'create' | 'put' | 'status' | 'back' | 'call' | 'seq';
  readonly k: string;
  /** Id of the base object. */
  readonly b?: string;
  /** What is changed in the base. */
  readonly m?: Change;
  /** Further query. */
  readonly q?: string;
  readonly h?: Headers;
  readonly M?: string;
  readonly p?: string;
  /** The body of a request of its own. */
  readonly o?: JsonValue;
  /** The body of a create that has no base. */
  readonly x?: JsonValue;
  readonly pre?: readonly EarlierRequest[];
  /** What the case stores, to be removed after it. */
  readonly own?: readonly string[];
  /** Whether its name is generated. */
  readonly g?: boolean;
  readonly r: RecordedAnswer;
}

interface RecordedAnswer {
  readonly s: number;
  readonly r?: string;
  readonly C?: readonly (readonly [field: string, reason: string, message: string])[];
  readonly d?: JsonObject;
  readonly m?: string;
  readonly w?: readonly string[];
  /** The whole object. */
  readonly O?: JsonValue;
  /** The object as its difference from the base; with `v` from the changed base. */
  readonly o?: Delta;
  readonly v?: string;
}

export interface Recording {
  readonly kinds: ReadonlyMap<string, RecordedKind>;
  readonly bases: ReadonlyMap<string, BaseObject>;
  readonly cases: readonly RecordedCase[];
}

/** What can be compared of an answer; a Status has a reason, all else is an object. */
export interface Outcome {
  readonly status: number;
  readonly warningCount: number;
  readonly reason?: string;
  /** `field | reason`, each once. */
  readonly causes?: readonly string[];
  readonly details?: JsonValue;
  readonly object?: JsonValue;
}

/** @throws Error for a folder without the files. */
export function readRecording(folder: string): Recording {
  const files = readdirSync(folder).filter((name) => /^cases.*\.jsonl(\.gz)?$/.test(name));
  const byId = <T extends { readonly id: string }>(name: string): ReadonlyMap<string, T> =>
    new Map(readLines<T>(found(folder, name)).map((one) => [one.id, one]));
  return {
    kinds: byId<RecordedKind>('kinds.jsonl'),
    bases: byId<BaseObject>('bases.jsonl'),
    cases: files.sort().flatMap((file) => readLines<RecordedCase>(path.join(folder, file))),
  };
}

/** What the reference answered. */
export function expectedOutcome({ bases }: Recording, one: RecordedCase): Outcome {
  const { s, r, C = [], d, w = [], O } = one.r;
  const head = { status: s, warningCount: w.length };
  if (r !== undefined) {
    const causes = [...new Set(C.map(([field, reason]) => `${field} | ${reason}`))].sort();
    return { ...head, reason: r, causes, details: d ?? {} };
  }
  if (O !== undefined) return { ...head, object: O };
  const real = bases.get(one.b ?? '')?.real ?? {};
  return { ...head, object: applyDelta(one.r.v === 'm' ? changed(real, one.m) : real, one.r.o) };
}

function found(folder: string, name: string): string {
  const files = [path.join(folder, name), path.join(folder, `${name}.gz`)];
  const file = files.find((one) => existsSync(one));
  if (file === undefined) throw new Error(`${folder} has no ${name}`);
  return file;
}

function readLines<T>(file: string): readonly T[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as T);
}

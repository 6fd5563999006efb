// Users of client-side apply who go over to apply on the server: what kubectl noted of its last
// configuration tells that fields which another of its owners owns are its own, and is kept up to
// date, so that the way back is open (KEP-555, Upgrading from client-side apply).
import { isObject, ownMember, without as withoutMembers } from '../api/json-value.ts';
import { recordAt, textAt } from '../api/json-access.ts';
import { annotationBytes } from '../api/meta.ts';
import { sortedText } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { appliedFields } from './applied-fields.ts';
import { compare } from './compare.ts';
import { FieldSet, difference } from './field-set.ts';
import { applyConfiguration } from './ownership.ts';
import type { Applied, ApplyWrite, Conflict } from './ownership.ts';

/** The manager whose users apply on the client, too. */
const kubectl = 'kubectl';

export interface LastAppliedWrite extends ApplyWrite {
  /** Where client-side apply notes its configuration. */
  readonly annotation: string;
}

/** As `applyConfiguration`. */
export async function applyWithLastApplied(
  live: Readonly<JsonObject>,
  configuration: Readonly<JsonObject>,
  write: LastAppliedWrite,
): Promise<Applied | readonly Conflict[]> {
  const result = await applyConfiguration(live, configuration, write);
  if (write.writer.manager !== kubectl || write.writer.subresource !== '') return result;
  if ('object' in result) return withLastApplied(result, configuration, write);
  const own = lastAppliedFields(live, write);
  const foreign = result.filter(({ path }) => !has(own, path));
  if (foreign.length > 0) return foreign;
  const forced = await applyConfiguration(live, configuration, { ...write, force: true });
  return 'object' in forced ? withLastApplied(forced, configuration, write) : forced;
}

/** Fields of the noted configuration that the object still has as noted. */
function lastAppliedFields(
  live: Readonly<JsonObject>,
  { annotation, versions }: LastAppliedWrite,
): FieldSet {
  const shape = versions.shapeIn(versions.apiVersion);
  const noted = parse(textAt(annotationsOf(live), annotation));
  if (shape === undefined || noted?.['apiVersion'] !== versions.apiVersion) return FieldSet.empty;
  const { changed, removed } = compare(noted, live, shape) ?? noDifference;
  return difference(difference(appliedFields(noted, shape), changed), removed);
}

const noDifference = { changed: FieldSet.empty, removed: FieldSet.empty };

function has(set: FieldSet, path: readonly string[]): boolean {
  return path.reduce((below, element) => below.below(element), set).isMember;
}

function parse(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // Nobody's note: it allows nothing.
  }
}

/** The note follows where there is one; one that has no room any more is taken away. */
function withLastApplied(
  result: Applied,
  configuration: Readonly<JsonObject>,
  { annotation }: LastAppliedWrite,
): Applied {
  const annotations = annotationsOf(result.object);
  if (annotations === undefined || ownMember(annotations, annotation) === undefined) return result;
  const noted = `${sortedText(withoutNote(configuration, annotation))}\n`;
  if (annotations[annotation] === noted) return result;
  const kept = { ...annotations, [annotation]: noted };
  const fits = annotationBytes(kept) <= limits.annotationBytesMax;
  const metadata = {
    ...recordAt(result.object, 'metadata'),
    annotations: fits ? kept : withoutMembers(annotations, annotation),
  };
  return { ...result, object: { ...result.object, metadata } };
}

function withoutNote(configuration: Readonly<JsonObject>, annotation: string): JsonObject {
  const annotations = annotationsOf(configuration);
  if (annotations === undefined) return configuration;
  const metadata = recordAt(configuration, 'metadata') ?? {};
  return {
    ...configuration,
    metadata: { ...metadata, annotations: withoutMembers(annotations, annotation) },
  };
}

const annotationsOf = (object: Readonly<JsonObject>): JsonObject | undefined =>
  recordAt(recordAt(object, 'metadata'), 'annotations');

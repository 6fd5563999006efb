// What can be compared of an answer: without what only one server can know (uids, times of the run,
// versions, owners of fields, its user), and what servers choose (addresses, ports).
import type { JsonObject, JsonValue } from '../../lib/api/type-info.ts';
import { listAt, recordAt, recordsAt, textAt } from '../../lib/api/json-access.ts';
import { isObject } from '../../lib/api/json-value.ts';
import type { Outcome } from './recording.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly warnings: readonly string[];
}

const uuid = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const ofServers = ['managedFields', 'resourceVersion', 'selfLink'];
const chosenOfServices = [
  'clusterIP',
  'clusterIPs',
  'ipFamilies',
  'ipFamilyPolicy',
  'healthCheckNodePort',
];
/** Members of the object that others than the request write, by kind. */
const ofOthers: Readonly<Record<string, readonly (readonly [string, string?])[]>> = {
  CustomResourceDefinition: [['status']],
  APIService: [['status']],
  CertificateSigningRequest: [
    ['spec', 'username'],
    ['spec', 'uid'],
    ['spec', 'groups'],
    ['spec', 'extra'],
  ],
};
const ageColumns = /^(age|last seen|first seen|duration|requested|timeadded|$)/i;
const chosenColumns = /^(Cluster-IP|Available|Requestor)$/;

export function observedOutcome(answer: Answer, isGenerated: boolean): Outcome {
  const { status, text, warnings } = answer;
  const head = { status, warningCount: warnings.length };
  const body = parsed(text);
  if (!isObject(body)) return { ...head, object: body };
  if (body['kind'] !== 'Status' || body['apiVersion'] !== 'v1') {
    return normalOutcome({ ...head, object: generatedName(body, isGenerated) });
  }
  const details = recordAt(body, 'details') ?? {};
  const heads = recordsAt(details, 'causes').map((cause) => {
    return `${textAt(cause, 'field')} | ${textAt(cause, 'reason').replace('FieldValue', '')}`;
  });
  return {
    ...head,
    reason: textAt(body, 'reason'),
    causes: [...new Set(heads)].sort(),
    details: normalDetails(details, isGenerated),
  };
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text.slice(0, 300); // a text for people
  }
}

function normalDetails(details: JsonObject, isGenerated: boolean): JsonObject {
  const { name, group, kind, uid, retryAfterSeconds } = details;
  const all = { name: isGenerated ? undefined : name, group, kind, uid, retryAfterSeconds };
  const shown = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    shown.map(([key, value]) => [key, key === 'uid' ? '<uid>' : (value ?? null)]),
  );
}

function generatedName(body: JsonObject, isGenerated: boolean): JsonObject {
  const meta = recordAt(body, 'metadata');
  if (!isGenerated || textAt(meta, 'generateName') === '') return body;
  return { ...body, metadata: { ...meta, name: '<generated>' } };
}

/** Of recorded answers, too: what they hold of their run is forgotten the same way. */
export function normalOutcome(outcome: Outcome): Outcome {
  const { object } = outcome;
  if (!isObject(object)) return outcome;
  const normal = scrubbed(object) as JsonObject;
  for (const one of [normal, ...objectsIn(normal)]) {
    const kind = textAt(one, 'kind') || textAt(normal, 'kind').replace(/List$/, '');
    if (kind === 'Service') forgetChosen(one);
    for (const [name, member] of ofOthers[kind] ?? []) forget(one, name, member);
  }
  if (normal['kind'] === 'Table') forgetOfTables(normal);
  return { ...outcome, object: normal };
}

function forget(object: JsonObject, name: string, member: string | undefined): void {
  const holder = member === undefined ? object : object[name];
  if (isObject(holder)) Reflect.deleteProperty(holder, member ?? name);
}

/** A copy without what only one server can know. */
function scrubbed(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    if (time.test(value) && isOfThisRun(value)) return '<now>';
    return value.replaceAll(uuid, '<uuid>');
  }
  if (Array.isArray(value)) return value.map(scrubbed);
  if (!isObject(value)) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, scrubbed(member ?? null)]),
  );
  const meta = copy['metadata'];
  if (!isObject(meta)) return copy;
  for (const name of ofServers) Reflect.deleteProperty(meta, name);
  // Templates may have one, too, of any text.
  if (typeof meta['uid'] === 'string') meta['uid'] = '<uid>';
  return copy;
}

const isOfThisRun = (text: string): boolean => Math.abs(Date.parse(text) - Date.now()) < 3_600_000;

const objectsIn = (list: JsonObject): readonly JsonObject[] => [
  ...recordsAt(list, 'items'),
  ...recordsAt(list, 'rows').map((row) => recordAt(row, 'object') ?? {}),
];

function forgetChosen(service: JsonObject): void {
  const spec = recordAt(service, 'spec');
  if (spec === undefined) return;
  for (const name of chosenOfServices) Reflect.deleteProperty(spec, name);
  for (const port of recordsAt(spec, 'ports')) delete port['nodePort'];
}

/** Descriptions are free; ages and addresses are the run's. */
function forgetOfTables(table: JsonObject): void {
  const columns = recordsAt(table, 'columnDefinitions');
  for (const column of columns) delete column['description'];
  for (const row of recordsAt(table, 'rows')) {
    row['cells'] = listAt(row, 'cells').map((cell, at) => {
      const name = textAt(columns[at], 'name');
      const isOfService = name === 'Port(s)' && columns.length === 7;
      if (chosenColumns.test(name) || isOfService) return '<chosen>';
      const isAge = typeof cell === 'string' && /^(\d+[smhdy])+$/.test(cell);
      return isAge && ageColumns.test(name) ? '<age>' : cell;
    });
  }
}

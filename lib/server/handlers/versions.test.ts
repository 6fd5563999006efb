// What a client sees that asks for another version than the stored one, in every form.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { createProtobufCodec, protobufPrefix, typeMetaOf } from '../../codec/protobuf.ts';
import { encodeStored } from '../../codec/stored-form.ts';
import { createKeyspace } from '../../storage-etcd/keys.ts';
import { request1 } from '../testing/test-server.ts';
import { WatchServer } from '../testing/watch-server.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const protobuf = createProtobufCodec(naming.protobufMediaType);
const { signal } = new AbortController();
let served: WatchServer;

beforeAll(async () => {
  served = await WatchServer.start();
});
afterAll(() => served.stop());

interface Shown {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly metadata?: { readonly resourceVersion?: string };
}
interface Form {
  readonly form: string;
  readonly accept: string;
  readonly events: (body: Buffer, of: ResourceInfo) => { type: string; object: Shown }[];
}

const linesOf = (body: Buffer): ReturnType<Form['events']> =>
  body
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { type: string; object: Shown });

/** Length, event type (field 1), then the object in its envelope. */
function framesOf(body: Buffer, of: ResourceInfo): ReturnType<Form['events']> {
  if (body.length === 0) return [];
  const end = 4 + body.readUInt32BE();
  const frame = body.subarray(4, end);
  const type = frame.subarray(2, 2 + (frame[1] ?? 0)).toString();
  const { object } = protobuf.decode(frame.subarray(frame.indexOf(protobufPrefix)), of.type);
  return [{ type, object: object as Shown }, ...framesOf(body.subarray(end), of)];
}

const forms: readonly Form[] = [
  { form: 'JSON', accept: 'application/json', events: linesOf },
  { form: 'Protobuf', accept: naming.protobufMediaType, events: framesOf },
  {
    form: 'a Table',
    accept: `application/json;as=Table;v=v1;g=${naming.metaGroup}`,
    events: linesOf,
  },
  {
    form: 'metadata',
    accept: `application/json;as=PartialObjectMetadata;v=v1;g=${naming.metaGroup}`,
    events: linesOf,
  },
];

const rows = scheme.resources
  .filter(({ virtual, storagePrefix }) => !virtual && storagePrefix !== '')
  .map((resource) => ({ resource, storedAs: scheme.storageResource(resource) }))
  .filter(({ resource, storedAs }) => resource !== storedAs)
  .flatMap((pair) => forms.map((form) => ({ ...pair, ...form })))
  .map((row) => ({
    ...row,
    what: `${row.resource.resource} as ${apiVersionOf(row.resource.kind)}`,
  }));

/** Writes an object in its storage version. */
async function put(storedAs: ResourceInfo, name: string, expected = 0): Promise<number> {
  const { kind } = storedAs.kind;
  const metadata = { name, ...placeOf(storedAs), uid: 'u', labels: { after: String(expected) } };
  const object = { kind, apiVersion: apiVersionOf(storedAs.kind), metadata };
  const value = encodeStored(object, storedAs).value;
  const { storage } = served.replica;
  const written = await storage.put(keyOf(storedAs, name), value, { expected }, signal);
  if (!written.ok) throw new Error('nobody else writes here');
  return written.revision;
}
const placeOf = ({ namespaced }: ResourceInfo): { namespace?: string } =>
  namespaced ? { namespace: 'ns' } : {};
const keyOf = (storedAs: ResourceInfo, name: string): string =>
  createKeyspace('/registry').key(storedAs.storagePrefix, placeOf(storedAs).namespace ?? '', name);

test.each(rows)('a watch of $what in $form', async (row) => {
  const { resource, storedAs, accept, events, form } = row;
  const version = apiVersionOf(resource.kind);
  const { storage } = served.replica;
  const start = await storage.currentRevision(signal);
  const query = `watch=1&allowWatchBookmarks=true&resourceVersion=${String(start)}`;
  const path = `/apis/${version}/${resource.resource}?${query}`;
  const body = served.watch(path, { end: { at: 3 }, accept });
  const made = await put(storedAs, 'live');
  const changed = await put(storedAs, 'live', made);
  const gone = await storage.delete(keyOf(storedAs, 'live'), { expected: changed }, signal);
  const deleted = gone.ok ? gone.revision : 0;
  const seen = events(await body, resource);
  const shown = seen.map(({ object }) => Number(object.metadata?.resourceVersion));
  expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);
  expect(shown.slice(0, 3)).toEqual([made, changed, deleted]);
  expect(shown[3]).toBeGreaterThanOrEqual(deleted);
  const isWhole = form === 'JSON' || form === 'Protobuf';
  const named = isWhole ? { kind: resource.kind.kind, apiVersion: version } : {};
  for (const { object } of seen) expect(object).toMatchObject(named);
});

test.each(rows)('the state of $what as a watch in $form', async (row) => {
  const { resource, storedAs, accept, events, form } = row;
  const version = apiVersionOf(resource.kind);
  const name = `state-${form.replace(' ', '-').toLowerCase()}`;
  const made = await put(storedAs, name);
  const query = `fieldSelector=metadata.name%3D${name}&watch=1&allowWatchBookmarks=true`;
  const streaming = `${query}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;
  const path = `/apis/${version}/${resource.resource}?${streaming}`;
  const body = await served.watch(path, { end: { at: 2 }, accept });
  const [state, mark] = events(body, resource);
  expect([state?.type, mark?.type]).toEqual(['ADDED', 'BOOKMARK']);
  expect(state?.object.metadata?.resourceVersion).toBe(String(made));
  if (form === 'a Table') expect(state?.object).toMatchObject({ rows: [{}] });
  else expect(mark?.object.metadata).toMatchObject({ annotations: initialEventsEnd });
});
const initialEventsEnd = { [naming.initialEventsEndAnnotation]: 'true' };

test.each(rows)('an object of $what in $form', async ({ resource, storedAs, accept, form }) => {
  const version = apiVersionOf(resource.kind);
  const name = `one-${form.replace(' ', '-').toLowerCase()}`;
  const revision = await put(storedAs, name);
  const { namespace } = placeOf(storedAs);
  const place = namespace === undefined ? '' : `namespaces/${namespace}/`;
  const path = `/apis/${version}/${place}${resource.resource}/${name}`;
  const { status, body } = await request1(served.server, path, { headers: { accept } });
  expect(status).toBe(200);
  const metadata = { name, resourceVersion: String(revision) };
  if (form === 'Protobuf') {
    expect(typeMetaOf(body, accept)).toEqual({ kind: resource.kind.kind, apiVersion: version });
    expect(protobuf.decode(body, resource.type).object).toMatchObject({ metadata });
    return;
  }
  const object = JSON.parse(body.toString()) as object;
  if (form === 'a Table') expect(object).toMatchObject({ rows: [{ object: { metadata } }] });
  else expect(object).toMatchObject({ metadata });
  const { kind } = resource.kind;
  if (form === 'JSON') expect(object).toMatchObject({ kind, apiVersion: version });
});

test.each(rows)('a list of $what in $form', async ({ resource, storedAs, accept, form }) => {
  const version = apiVersionOf(resource.kind);
  const name = `in-${form.replace(' ', '-').toLowerCase()}`;
  await put(storedAs, name);
  const path = `/apis/${version}/${resource.resource}?fieldSelector=metadata.name%3D${name}`;
  const headers = { accept: accept.replace('as=PartialObjectMetadata', '$&List') };
  const { status, body } = await request1(served.server, path, { headers });
  expect(status).toBe(200);
  if (form === 'Protobuf') {
    const named = { kind: resource.listKind, apiVersion: version };
    expect(typeMetaOf(body, accept)).toEqual(named);
    expect(body.includes(name)).toBe(true);
    return;
  }
  const list = JSON.parse(body.toString()) as object;
  const item = { metadata: { name } };
  if (form === 'a Table') expect(list).toMatchObject({ rows: [{ object: item }] });
  else expect(list).toMatchObject({ items: [item] });
  if (form === 'JSON') expect(list).toMatchObject({ kind: resource.listKind, apiVersion: version });
});

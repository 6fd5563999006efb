import { describe, expect, test } from '@jest/globals';
import { isObject } from '../api/json-value.ts';
import type { JsonObject } from '../api/type-info.ts';
import { FieldSet, without } from './field-set.ts';
import { ownerIdentity } from './owners.ts';
import type { Entry, Owners, Writer } from './owners.ts';
import { applyConfiguration, ownUpdate } from './ownership.ts';
import type { ApplyWrite, ObjectVersions } from './ownership.ts';
import { pathText } from './path-element.ts';
import type { Shape } from './shape.ts';
import { atomic, fields, keyed, mapOf, pathsOf, setOf, shapeWith } from './testing/schemas.ts';
import { struct, text, textOf } from './testing/schemas.ts';

const shape = shapeWith({
  a: text,
  b: text,
  spec: struct({ x: text, y: text, more: struct({ z: text }) }),
  map: mapOf(text),
  maps: mapOf(mapOf(text)),
  set: setOf(text),
  list: keyed(['n'], { n: text, v: text }),
  status: struct({ x: text }),
  deep: struct({ list: keyed(['n'], { n: text, v: text }) }),
});

const inOneVersion = (only: Shape): ObjectVersions => ({
  apiVersion: 'v1',
  shapeIn: (version) => (version === 'v1' ? only : undefined),
  to: () => {
    throw new Error('there is one version');
  },
});

const withoutNull = (_name: string, value: unknown): unknown =>
  value === null ? undefined : value;
const canonical = (object: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(object, withoutNull)) as JsonObject;

interface Given {
  readonly versions?: ObjectVersions;
  readonly ignored?: FieldSet;
  readonly subresource?: string;
}

interface Forced extends Given {
  readonly force?: true;
}

/** An object with its owners, written step by step. */
class Written {
  object: JsonObject = {};
  owners: Owners = new Map();
  #step = 0;
  readonly #given: Given;

  constructor(given: Given = {}) {
    this.#given = given;
  }

  #write(manager: string, operation: Writer['operation'], more: Given): ApplyWrite {
    const given = { ...this.#given, ...more };
    const versions = given.versions ?? inOneVersion(shape);
    const subresource = given.subresource ?? '';
    this.#step += 1;
    return {
      writer: { manager, operation, apiVersion: versions.apiVersion, subresource },
      owners: this.owners,
      versions,
      settable: (stated) => without(stated, given.ignored ?? FieldSet.empty),
      time: `t${String(this.#step)}`,
      force: false,
      canonical,
    };
  }

  /** The fields of conflicts; none: it is applied. */
  async apply(manager: string, configuration: JsonObject, more: Forced = {}): Promise<string> {
    const write = { ...this.#write(manager, 'Apply', more), force: more.force === true };
    const result = await applyConfiguration(this.object, configuration, write);
    if (!('object' in result)) return result.map(({ path }) => pathText(path)).join(' ');
    ({ object: this.object, owners: this.owners } = result);
    return '';
  }

  async update(manager: string, after: JsonObject, more: Given = {}): Promise<void> {
    const change = { before: this.object, after };
    const write = this.#write(manager, 'Update', more);
    this.owners = (await ownUpdate(change, write, () => this.owners)) ?? this.owners;
    this.object = after;
  }

  own(manager: string, set: FieldSet, more: Partial<Entry> = {}): void {
    const writer = { manager, operation: 'Apply', apiVersion: 'v1', subresource: '' } as const;
    const entry: Entry = { ...writer, time: 't', fields: set, ...more };
    this.owners = new Map(this.owners).set(ownerIdentity(entry), entry);
  }

  get text(): string {
    const owners = [...this.owners.values()].map(({ manager, operation, time, fields: owned }) => {
      const name = operation === 'Apply' ? manager : `(${manager})`;
      return `${name} ${String(time)}: ${pathsOf(owned)}`;
    });
    return [textOf(this.object), ...owners].join('\n');
  }
}

describe('an applier', () => {
  test('that states a map without members has it, also where it held some', async () => {
    const it = new Written();
    await it.apply('m', { map: { a: '1' }, spec: { more: { z: '1' } }, list: [{ n: '1' }] });
    await it.apply('m', { map: {}, spec: { more: {} }, list: [] });
    const once = '{"list":[],"map":{},"spec":{"more":{}}}\nm t2: .map .spec.more';
    expect(it.text).toBe(once);
    await it.apply('m', { map: {}, spec: { more: {} }, list: [] });
    expect(it.text).toBe(once);
  });

  test('that states null for what it leaves empty has it go', async () => {
    const it = new Written();
    await it.apply('m', { deep: { list: [{ n: '1', v: 'a' }] } });
    await it.update('u', { deep: { list: [{ n: '1', v: 'b' }] } });
    await it.apply('m', { deep: null });
    expect(it.text).toBe('{}\nm t3: .deep');
    await it.apply('m', { deep: null });
    expect(it.text).toBe('{}\nm t3: .deep');
  });

  test('keeps its time where nothing changes, and gets another where it states less', async () => {
    const it = new Written();
    await it.apply('m', { a: '1', b: '2' });
    await it.apply('n', { a: '1' });
    await it.apply('m', { b: '2', a: '1' });
    expect(it.text).toBe('{"a":"1","b":"2"}\nm t1: .a .b\nn t2: .a');
    await it.apply('m', { b: '2' });
    expect(it.text).toBe('{"a":"1","b":"2"}\nm t4: .b\nn t2: .a');
  });

  test('that shares a field conflicts where it changes it, and nothing is written', async () => {
    const it = new Written();
    await it.apply('m', { a: '1' });
    await it.apply('n', { a: '1', set: ['x'] });
    const before = it.text;
    expect(await it.apply('n', { a: '2', set: ['y'] })).toBe('.a');
    expect(it.text).toBe(before);
    expect(await it.apply('n', { a: '2' }, { force: true })).toBe('');
    expect(it.text).toBe('{"a":"2"}\nn t4: .a');
  });

  test('that gives up everything is no owner any more', async () => {
    const it = new Written();
    await it.apply('m', { a: '1', list: [{ n: '1', v: 'x' }] });
    await it.apply('n', { list: [{ n: '1' }] });
    await it.apply('m', {});
    expect(it.text).toBe('{"list":[{"n":"1"}]}\nn t2: .list[n="1"] .list[n="1"].n');
  });

  test('through a subresource owns what that sets, beside itself', async () => {
    const it = new Written();
    const status = { ignored: fields({ 'f:spec': {} }), subresource: 'status' };
    await it.apply('m', { spec: { x: '1' } });
    await it.apply('m', { spec: { x: '1' }, status: { x: '1' } }, status);
    expect(it.text).toBe('{"spec":{"x":"1"},"status":{"x":"1"}}\nm t1: .spec.x\nm t2: .status.x');
  });

  test('owns nothing of what is nobody’s', async () => {
    const it = new Written();
    const metadata = { name: 'n', namespace: 'x', uid: 'u', labels: { a: 'b' } };
    await it.apply('m', { apiVersion: 'v1', kind: 'K', metadata });
    expect(it.text.split('\n')[1]).toBe('m t1: .metadata.labels.a');
  });
});

describe('an update', () => {
  test.each<[string, JsonObject, JsonObject, string]>([
    ['adds', {}, { a: '1' }, '(u): .a'],
    ['takes what it changes', { a: '1', b: '1' }, { a: '2', b: '1' }, 'm: .b (u): .a'],
    ['takes nothing by removing', { a: '1', b: '1' }, { b: '1' }, 'm: .b'],
    ['adds what holds others', {}, { spec: { x: '1' } }, '(u): .spec .spec.x'],
    [
      'takes nothing by another order',
      { set: ['a', 'b'] },
      { set: ['b', 'a'] },
      'm: .set[="a"] .set[="b"]',
    ],
    [
      'takes elements that it doubles',
      { list: [{ n: '1' }] },
      { list: [{ n: '1' }, { n: '1' }] },
      '(u): .list[n="1"]',
    ],
  ])('%s', async (_what, applied, after, expected) => {
    const it = new Written();
    await it.apply('m', applied);
    await it.update('u', after);
    const owners = it.text.split('\n').slice(1);
    expect(owners.map((line) => line.replace(/ t\d/, '')).join(' ')).toBe(expected);
  });

  test('of nothing leaves the owners as they are', async () => {
    const it = new Written();
    await it.apply('m', { a: '1' });
    const { owners } = it;
    await it.update('u', { a: '1' });
    expect(it.owners).toBe(owners);
  });

  test('keeps what its writer has, with a new time', async () => {
    const it = new Written();
    await it.update('u', { a: '1' });
    await it.update('u', { a: '1', b: '1' });
    expect(it.text).toBe('{"a":"1","b":"1"}\n(u) t2: .a .b');
  });
});

describe('in several versions', () => {
  const shapes: Readonly<Record<string, Shape>> = {
    v1: shapeWith({ old: text, set: setOf(text) }),
    v2: shapeWith({ new: text, set: setOf(text) }),
  };
  const names: Readonly<Record<string, string>> = { v1: 'old', v2: 'new' };
  const rename = (object: Readonly<JsonObject>, version: string): JsonObject => {
    if (!isObject(object['metadata'])) throw new Error('has no name');
    const { old, new: now, ...rest } = object;
    const value = old ?? now;
    return { ...rest, ...(value === undefined ? {} : { [names[version] ?? '']: value }) };
  };
  const at = (apiVersion: string): { readonly versions: ObjectVersions } => ({
    versions: { apiVersion, shapeIn: (version) => shapes[version], to: rename },
  });
  /** The versions' objects have no apiVersion here. */
  const goTo = (it: Written, version: string): void =>
    void (it.object = rename(it.object, version));

  const named = (more: JsonObject): JsonObject => ({ metadata: { name: 'n' }, ...more });
  const told = (it: Written): string => it.text.replace('"metadata":{"name":"n"},', '');
  const start = (): Written => {
    const it = new Written();
    it.object = named({});
    return it;
  };

  test('fields are compared, and given up, as they were stated', async () => {
    const it = start();
    await it.apply('m', { old: '1', set: ['a'] }, at('v1'));
    goTo(it, 'v2');
    expect(await it.apply('n', { new: '2' }, at('v2'))).toBe('.old');
    await it.apply('n', { new: '1' }, at('v2'));
    expect(told(it)).toBe('{"new":"1","set":["a"]}\nm t1: .old .set[="a"]\nn t3: .new');
    await it.apply('m', { set: ['a'] }, at('v2'));
    expect(told(it)).toBe('{"new":"1","set":["a"]}\nm t4: .set[="a"]\nn t3: .new');
    await it.apply('n', {}, at('v2'));
    expect(told(it)).toBe('{"set":["a"]}\nm t4: .set[="a"]');
  });

  test('what is given up in another one is converted with its name', async () => {
    const it = start();
    await it.apply('m', { metadata: { labels: { l: '1' } } }, at('v1'));
    await it.apply('m', { metadata: { annotations: { a: '1' } } }, at('v2'));
    const object = '{"metadata":{"annotations":{"a":"1"},"name":"n"}}';
    expect(it.text).toBe(`${object}\nm t2: .metadata.annotations.a`);
  });

  test('an update takes what was stated in another one', async () => {
    const it = start();
    await it.apply('m', { old: '1', set: ['a'] }, at('v1'));
    goTo(it, 'v2');
    await it.update('u', named({ new: '2', set: ['a'] }), at('v2'));
    expect(told(it)).toBe('{"new":"2","set":["a"]}\nm t1: .set[="a"]\n(u) t2: .new');
  });

  test('who updates in two of them has two entries', async () => {
    const it = start();
    await it.update('u', named({ old: '1' }), at('v1'));
    goTo(it, 'v2');
    await it.update('u', named({ new: '1', set: ['a'] }), at('v2'));
    expect(told(it)).toBe('{"new":"1","set":["a"]}\n(u) t1: .old\n(u) t2: .set .set[="a"]');
  });

  test('owners in one that is gone are gone with it, and what they set stays', async () => {
    const it = start();
    it.object = named({ new: '1' });
    it.own('m', fields({ 'f:older': {} }), { apiVersion: 'v0' });
    expect(await it.apply('n', { new: '2' }, at('v2'))).toBe('');
    expect(told(it)).toBe('{"new":"2"}\nn t1: .new');
    it.own('m', fields({ 'f:older': {} }), { apiVersion: 'v0' });
    await it.apply('m', { set: ['a'] }, at('v2'));
    expect(told(it)).toBe('{"new":"2","set":["a"]}\nn t1: .new\nm t2: .set[="a"]');
    it.own('x', fields({ 'f:older': {} }), { apiVersion: 'v0' });
    await it.update('u', named({ new: '3', set: ['a'] }), at('v2'));
    expect(told(it)).not.toContain('.older');
  });
});

describe('where the schema changes', () => {
  const [whole, parts] = [atomic(mapOf(text)), mapOf(text)].map((map) => shapeWith({ map }));
  const lists = [shapeWith({ list: atomic(setOf(text)) }), shapeWith({ list: setOf(text) })];
  const on = (one: Shape | undefined): Given => ({ versions: inOneVersion(one ?? shape) });

  test('from a whole to parts, others change the parts without conflict', async () => {
    const it = new Written();
    await it.apply('m', { map: { a: '1', b: '1' } }, on(whole));
    expect(it.text).toContain('m t1: .map');
    expect(await it.apply('n', { map: { a: '2' } }, on(parts))).toBe('');
    expect(it.text).toBe('{"map":{"a":"2","b":"1"}}\nm t1: .map\nn t2: .map.a');
  });

  test('from parts to a whole, who owned a part owns the whole', async () => {
    const it = new Written();
    await it.apply('m', { map: { a: '1' } }, on(parts));
    await it.apply('n', { map: { b: '1' } }, on(parts));
    expect(await it.apply('o', { map: { a: '1' } }, on(whole))).toBe('.map .map');
    expect(await it.apply('o', { map: { a: '1' } }, { ...on(whole), force: true })).toBe('');
    expect(it.text).toBe('{"map":{"a":"1"}}\no t4: .map');
  });

  test('lists become wholes, and sets again', async () => {
    const [asWhole, asSet] = lists;
    const it = new Written();
    await it.apply('m', { list: ['a'] }, on(asSet));
    expect(await it.apply('n', { list: ['b'] }, on(asWhole))).toBe('.list');
    await it.update('u', { list: ['a', 'c'] }, on(asWhole));
    expect(it.text).toBe('{"list":["a","c"]}\n(u) t3: .list');
    expect(await it.apply('n', { list: ['b'] }, on(asSet))).toBe('');
    expect(it.text).toBe('{"list":["a","c","b"]}\n(u) t3: .list\nn t4: .list[="b"]');
  });
});

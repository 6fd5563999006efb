// The codecs and the stored form beside JSON.parse and JSON.stringify of the same Pod, in the same
// run. Run: node bench/micro/codec.bench.ts
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';
import { cborCodec } from '../../lib/codec/cbor.ts';
import { jsonCodec, parseCanonical } from '../../lib/codec/json.ts';
import {
  createProtobufCodec,
  envelope,
  listEntry,
  messageOfEntry,
} from '../../lib/codec/protobuf.ts';
import {
  encodeStored,
  openStored,
  schemaGeneration,
  withResourceVersion,
} from '../../lib/codec/stored-form.ts';
import { yamlCodec } from '../../lib/codec/yaml.ts';
import { samplePod } from './sample-pod.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const pods = scheme.resource({ group: '', version: 'v1', resource: 'pods' });
if (pods === undefined) throw new Error('pods are served');

const bodies = Array.from({ length: 64 }, (_, index) =>
  Buffer.from(JSON.stringify(samplePod(index))),
);
const shuffled = bodies.map((body) =>
  Buffer.from(JSON.stringify(sortedKeys(JSON.parse(String(body))))),
);
const texts = bodies.map(String);
const objects = bodies.map((body) => jsonCodec.decode(body, pods.type).object);
const values = objects.map((object) => encodeStored(object, pods).value);
const first = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortedKeys(member)]));
}

/** Median over rounds of CPU microseconds a call: steadier than wall time on a busy machine. */
function measure(run: (index: number) => unknown): number {
  const rounds: number[] = [];
  for (let round = 0; round < 15; round += 1) {
    const started = process.cpuUsage();
    for (let index = 0; index < 2_000; index += 1) run(index);
    const { user, system } = process.cpuUsage(started);
    rounds.push((user + system) / 2_000);
  }
  rounds.sort((one, other) => one - other);
  return rounds[7] ?? NaN;
}

function report(name: string, run: (index: number) => unknown, baseline?: number): number {
  const micros = measure(run);
  const ratio = baseline === undefined ? '' : `  ${(micros / baseline).toFixed(2)}x baseline`;
  console.log(`${name.padEnd(46)} ${micros.toFixed(2).padStart(8)} µs${ratio}`);
  return micros;
}

console.log(
  `Pod of ${String(first(bodies, 0).length)} bytes, schema generation ${schemaGeneration(pods)}`,
);
const parse = report('baseline: JSON.parse of the text', (at) => JSON.parse(first(texts, at)));
const write = report('baseline: JSON.stringify to bytes', (at) =>
  Buffer.from(JSON.stringify(first(objects, at))),
);
report(
  'decode, members in schema order',
  (at) => jsonCodec.decode(first(bodies, at), pods.type),
  parse,
);
report(
  'decode, members in alphabetical order',
  (at) => jsonCodec.decode(first(shuffled, at), pods.type),
  parse,
);
report('encode', (at) => jsonCodec.encode(first(objects, at), pods.type), write);
const disordered = objects.map((object) => sortedKeys(object) as ApiObject);
report(
  'encode, members in alphabetical order',
  (at) => jsonCodec.encode(first(disordered, at), pods.type),
  write,
);
report('encode for storage', (at) => encodeStored(first(objects, at), pods).value, write);
report('open stored and inject resourceVersion', (at) => {
  const opened = openStored(first(values, at));
  if (opened === undefined) throw new Error('opens');
  return withResourceVersion(opened, 123_456 + at);
});
console.log(
  '\nother encodings, of a Pod whose object is decoded already unless a row says otherwise',
);
const protobufCodec = createProtobufCodec('application/protobuf');
const encodings = { protobuf: protobufCodec, cbor: cborCodec, yaml: yamlCodec };
for (const [name, codec] of Object.entries(encodings)) {
  const encoded = objects.map((object) => Buffer.from(codec.encode(object, pods.type)));
  console.log(`${name}: ${String(first(encoded, 0).length)} bytes`);
  report(`${name}: encode`, (at) => codec.encode(first(objects, at), pods.type));
  report(`${name}: encode, decoding the JSON in memory before`, (at) =>
    codec.encode(jsonCodec.decode(first(bodies, at), pods.type).object, pods.type),
  );
  report(`${name}: decode`, (at) => codec.decode(first(encoded, at), pods.type));
}
const elements = objects.map((object) => listEntry(object, pods.type));
const podKind = { kind: 'Pod', apiVersion: 'v1' };
report('protobuf: an element from the JSON in memory', (at) =>
  listEntry(parseCanonical(first(bodies, at)), pods.type),
);
report('protobuf: an object from its element in memory', (at) =>
  envelope(messageOfEntry(first(elements, at)), podKind),
);

const start = performance.now();
for (const resource of scheme.resources) schemaGeneration({ ...resource });
const generationMs = (performance.now() - start).toFixed(2).padStart(8);
console.log(`${'schema generation of all resources'.padEnd(46)} ${generationMs} ms`);

// What the encoding of objects in etcd costs: CPU of a Pod's way into etcd and out of it again, for
// each encoding in the same run. Reads from memory cost the same in all: they are JSON there.
// Run: npm run bench -- micro/stored-media
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { schemeTranscoder } from '../../lib/cacher/transcoder.ts';
import { jsonCodec } from '../../lib/codec/json.ts';
import { createProtobufCodec } from '../../lib/codec/protobuf.ts';
import { encodeStored, openStored, withResourceVersion } from '../../lib/codec/stored-form.ts';
import { createStoredMedia } from '../../lib/codec/stored-media.ts';
import { samplePod } from './sample-pod.ts';

const naming = namingProfile('svc');
const scheme = builtInScheme({ profile: naming });
const pods = scheme.resource({ group: '', version: 'v1', resource: 'pods' });
if (pods === undefined) throw new Error('pods are served');
const { type } = pods;

const podCount = 64;
const bodies = Array.from({ length: podCount }, (_, index) =>
  Buffer.from(JSON.stringify(samplePod(index))),
);
const at = <T>(list: readonly T[], index: number): T => list[index % podCount] as T;

/** Median over rounds of CPU microseconds a call. */
function measure(run: (index: number) => unknown): number {
  const calls = 1_000;
  const rounds = Array.from({ length: 11 }, () => {
    const started = process.cpuUsage();
    for (let index = 0; index < calls; index += 1) run(index);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / calls;
  });
  rounds.sort((one, other) => one - other);
  return rounds[5] ?? NaN;
}

const baseline = new Map<string, number>();
function report(form: string, name: string, run: (index: number) => unknown): void {
  const micros = measure(run);
  const json = baseline.get(name);
  if (json === undefined) baseline.set(name, micros);
  const ratio = json === undefined ? '' : `  ${(micros / json).toFixed(2)}x json`;
  console.log(`${form.padEnd(9)} ${name.padEnd(58)} ${micros.toFixed(1).padStart(8)} µs${ratio}`);
}

const protobuf = createProtobufCodec(naming.protobufMediaType);

for (const form of ['json', 'protobuf', 'cbor'] as const) {
  const media = createStoredMedia(form, naming);
  const transcoder = schemeTranscoder(scheme, media);
  const objects = bodies.map((body) => {
    const { object } = jsonCodec.decode(body, type);
    scheme.defaults.apply(object, type);
    return object;
  });
  const values = objects.map((object) =>
    media.write(object, pods, encodeStored(object, pods).value),
  );
  const bytes = values.reduce((sum, { length }) => sum + length, 0) / podCount;
  console.log(
    `${form.padEnd(9)} ${'stored bytes of a Pod'.padEnd(58)} ${bytes.toFixed(0).padStart(8)}`,
  );
  /** As an item of the cache holds it: JSON, ready to send. */
  const entered = (value: Uint8Array): Uint8Array => {
    const opened = openStored(value) ?? transcoder.decodeForeign(value, pods);
    return withResourceVersion(opened, 1_000_000);
  };
  report(form, 'create: body to etcd and to the answer', (index) => {
    const { object } = jsonCodec.decode(at(bodies, index), type);
    scheme.defaults.apply(object, type);
    const encoded = encodeStored(object, pods);
    media.write(object, pods, encoded.value);
    return withResourceVersion(encoded, 1_000_000);
  });
  report(form, 'watch: event of etcd into the cache', (index) => entered(at(values, index)));
  report(form, 'get, list from etcd, answered in JSON', (index) => entered(at(values, index)));
  report(form, 'get, list from etcd, answered in Protobuf', (index) => {
    const json = entered(at(values, index));
    return protobuf.encode(transcoder.decode(json, pods), type);
  });
}

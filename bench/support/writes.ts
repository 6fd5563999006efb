// The writes that are measured, each as requests for one namespace of one server: by `write` beside
// a bare put, by `former` beside another tree.
import type { JsonObject, ResourceInfo } from '../../lib/api/type-info.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { createProtobufCodec } from '../../lib/codec/protobuf.ts';
import { samplePod } from '../micro/sample-pod.ts';
import { closedLoop, requestBytes } from './http1-client.ts';
import type { Answer, Lane, LoadBounds, LoadResult } from './http1-client.ts';
import { asSent, configMap, eventObject, leaseObject, podIn } from './objects.ts';
import type { Bench } from './server.ts';

/** One case on one server, ready to be run again and again. */
export interface WriteLoad {
  /** Before each run: what it needs to be there. */
  prepare?(): Promise<unknown>;
  run(): Promise<LoadResult>;
}

export interface WriteCase {
  readonly resource: ResourceInfo;
  /** What a bare process puts beside it. */
  readonly sample: JsonObject;
  /** Whether that takes the place of something. */
  readonly isUpdate: boolean;
  /** CPU beside the bare put. */
  readonly atMost: number;
  /** `lanes` keep the bodies of answers. */
  start(lanes: readonly Lane[]): WriteLoad;
}

const namespace = 'bench';
const runBounds: LoadBounds = { durationMs: 4_000, countMax: 1_500 };
/** Of an update: written over and over. */
const standingCount = 500;
const { protobufMediaType } = namingProfile('kubernetes');
const protobuf = createProtobufCodec(protobufMediaType);
const inProtobuf = [`content-type: ${protobufMediaType}`, `accept: ${protobufMediaType}`];

/** By name, in the order of the table of README.md. */
export function writeCases(bench: Bench): Readonly<Record<string, WriteCase>> {
  const base = '/api/v1/namespaces/bench';
  const [maps, pods, events] = ['configmaps', 'pods', 'events'].map((name) => `${base}/${name}`);
  const leases = '/apis/coordination.k8s.io/v1/namespaces/bench/leases';
  const podRecord = bench.resource('pods');
  const mapRecord = bench.resource('configmaps');
  const pod = (index: number): JsonObject => asSent(podIn(samplePod(index), namespace, index));
  const map = (index: number): JsonObject => configMap(namespace, index);
  const ofMaps = { resource: mapRecord, sample: map(0) };
  const ofPods = { resource: podRecord, sample: podIn(samplePod(0), namespace, 0) };
  const lease = (index: number): JsonObject => leaseObject(namespace, index);
  const event = (index: number): JsonObject => eventObject(namespace, index);
  return {
    'CREATE of a ConfigMap': { ...ofMaps, ...creates(maps, map), atMost: 1.6 },
    'UPDATE of a ConfigMap': { ...ofMaps, ...updates(maps, map, relabelled), atMost: 1.6 },
    'CREATE of a Pod': { ...ofPods, ...creates(pods, pod), atMost: 2.5 },
    'UPDATE of a Pod': { ...ofPods, ...updates(pods, pod, relabelled), atMost: 2.5 },
    'CREATE of a Pod in Protobuf': {
      ...ofPods,
      ...creates(pods, pod, podRecord),
      atMost: 2.5,
    },
    'UPDATE of a Pod in Protobuf': {
      ...ofPods,
      ...updates(pods, pod, relabelled, { record: podRecord }),
      atMost: 2.5,
    },
    'DELETE of a ConfigMap': { ...ofMaps, ...deletes(maps, map), atMost: 1.5 },
    'UPDATE of the status of a Pod': {
      ...ofPods,
      ...updates(pods, pod, withStatus, { subresource: '/status' }),
      atMost: 2.5,
    },
    'renewal of a Lease': {
      resource: bench.resource('leases', 'coordination.k8s.io'),
      sample: lease(0),
      ...renewals(leases, lease),
      atMost: 1.6,
    },
    'CREATE of an Event': {
      resource: bench.resource('events'),
      sample: event(0),
      ...creates(events, event),
      atMost: 1.6,
    },
  };
}

type Make = (index: number) => JsonObject;
type Started = Pick<WriteCase, 'isUpdate' | 'start'>;

/** No two cases of a run write under one name. */
let numbersTaken = 0;
function takeNumbers(count: number): number {
  numbersTaken += count;
  return numbersTaken - count;
}

const json = (object: JsonObject): Buffer => Buffer.from(JSON.stringify(object));

/** `record`: in Protobuf. */
const bytesOf = (
  method: string,
  path: string,
  object: JsonObject,
  record?: ResourceInfo,
): Buffer =>
  record === undefined
    ? requestBytes(method, path, json(object))
    : requestBytes(method, path, protobuf.encode(named(object, record), record.type), inProtobuf);

const named = (object: JsonObject, { kind: { kind, version } }: ResourceInfo): JsonObject => ({
  ...object,
  kind,
  apiVersion: version,
});

const nameOf = (object: JsonObject): string => (object['metadata'] as { name: string }).name;

function creates(path: string | undefined, make: Make, record?: ResourceInfo): Started {
  return {
    isUpdate: false,
    start: (lanes) => ({
      run() {
        const first = takeNumbers(runBounds.countMax);
        const next = (index: number): Buffer =>
          bytesOf('POST', String(path), make(first + index), record);
        return closedLoop(lanes, next, runBounds);
      },
    }),
  };
}

/** Objects with these numbers are made once, before the first run. */
function standing(path: string, make: Make, lanes: readonly Lane[]) {
  const first = takeNumbers(standingCount);
  let made: Promise<LoadResult> | undefined;
  const bounds = { durationMs: 60_000, countMax: standingCount };
  const next = (index: number): Buffer => bytesOf('POST', path, make(first + index));
  return { first, prepare: () => (made ??= closedLoop(lanes, next, bounds)) };
}

function updates(
  path: string | undefined,
  make: Make,
  change: (object: JsonObject) => JsonObject,
  { subresource = '', record }: { subresource?: string; record?: ResourceInfo } = {},
): Started {
  return {
    isUpdate: true,
    start(lanes) {
      const { first, prepare } = standing(String(path), make, lanes);
      const next = (index: number): Buffer => {
        const object = change(make(first + (index % standingCount)));
        const target = `${String(path)}/${nameOf(object)}${subresource}`;
        return bytesOf('PUT', target, object, record);
      };
      return { prepare, run: () => closedLoop(lanes, next, runBounds) };
    },
  };
}

function deletes(path: string | undefined, make: Make): Started {
  return {
    isUpdate: true,
    start(lanes) {
      const { countMax } = runBounds;
      let first = 0;
      return {
        prepare() {
          first = takeNumbers(countMax);
          const next = (index: number): Buffer =>
            bytesOf('POST', String(path), make(first + index));
          return closedLoop(lanes, next, { durationMs: 120_000, countMax });
        },
        run: () =>
          closedLoop(
            lanes,
            (index) => requestBytes('DELETE', `${String(path)}/${nameOf(make(first + index))}`),
            runBounds,
          ),
      };
    },
  };
}

/** As nodes do it: each its own, with the version that the answer before had. */
function renewals(path: string, make: Make): Started {
  return {
    isUpdate: true,
    start(lanes) {
      const { first, prepare } = standing(path, make, lanes);
      const versions = new Map<number, string>();
      const next = (_index: number, slot: number): Buffer => {
        const object = make(first + slot);
        const metadata = object['metadata'] as JsonObject;
        const resourceVersion = versions.get(slot);
        const renewTime = new Date().toISOString().replace('Z', '000Z');
        const renewed = {
          ...object,
          metadata: { ...metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
          spec: { ...(object['spec'] as JsonObject), renewTime },
        };
        return resourceVersion === undefined
          ? requestBytes('GET', `${path}/${nameOf(object)}`)
          : bytesOf('PUT', `${path}/${nameOf(object)}`, renewed);
      };
      const answered = ({ body }: Answer, slot: number): void => {
        const [, version] = /"resourceVersion":"(\d+)"/.exec(String(body)) ?? [];
        if (version !== undefined) versions.set(slot, version);
      };
      return { prepare, run: () => closedLoop(lanes, next, runBounds, answered) };
    },
  };
}

function relabelled(object: JsonObject): JsonObject {
  const metadata = object['metadata'] as JsonObject;
  const labels = { app: 'web', round: String(Math.random()) };
  return { ...object, metadata: { ...metadata, labels } };
}

const withStatus = (object: JsonObject): JsonObject => ({
  ...object,
  status: { ...(object['status'] as JsonObject), message: String(Math.random()) },
});

// A collector of traces: OTLP over gRPC on 127.0.0.1, as far as tests look at spans.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

export interface CollectedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** '' where it is the first of its trace here. */
  readonly parentId: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** Trace and span of each link. */
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 0: unset, 2: error. */
  readonly status: number;
}

const proto = `
syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { repeated Span spans = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5;
  int32 kind = 6; fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9;
  repeated Event events = 11; repeated Link links = 13; Status status = 15;
}
message Event { string name = 2; }
message Link { bytes trace_id = 1; bytes span_id = 2; }
message Status { int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message Response {}
`;
const { root } = protobuf.parse(proto);
const [requestType, responseType] = [root.lookupType('Request'), root.lookupType('Response')];

type Value = Readonly<Record<string, unknown>> & {
  readonly arrayValue?: { readonly values?: readonly Value[] };
};
interface KeyValue {
  readonly key: string;
  readonly value: Value;
}
interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly start: string;
  readonly end: string;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly { readonly name: string }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}
interface WireRequest {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Attributes of the process that sent last. */
  resource: Readonly<Record<string, unknown>> = {};
  /** Answers wait for it. */
  until: Promise<void> = Promise.resolve();
  port = 0;
  readonly #server = new Server();

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server.addService(
      {
        export: {
          path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
          requestStream: false,
          responseStream: false,
          requestSerialize: (value: object) => Buffer.from(requestType.encode(value).finish()),
          requestDeserialize: decode,
          responseSerialize: (value: object) => Buffer.from(responseType.encode(value).finish()),
          responseDeserialize: (bytes: Buffer) => responseType.decode(bytes),
        },
      },
      {
        export: (call: { request: WireRequest }, answer: (error: null, value: object) => void) => {
          collector.#take(call.request);
          void collector.until.then(() => answer(null, {}));
        },
      },
    );
    const insecure = ServerCredentials.createInsecure();
    collector.port = await new Promise<number>((resolve, reject) => {
      collector.#server.bindAsync('127.0.0.1:0', insecure, (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    return collector;
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #take({ resourceSpans = [] }: WireRequest): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = record(resource.attributes);
      for (const { spans } of scopeSpans) this.spans.push(...spans.map(collected));
    }
  }
}

const decode = (bytes: Buffer): WireRequest =>
  requestType.toObject(requestType.decode(bytes), { bytes: String, longs: String });

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex');

const collected = (span: WireSpan): CollectedSpan => ({
  name: span.name,
  traceId: hex(span.traceId),
  spanId: hex(span.spanId),
  parentId: hex(span.parentSpanId ?? ''),
  kind: span.kind,
  startNanos: BigInt(span.start),
  endNanos: BigInt(span.end),
  attributes: record(span.attributes),
  events: (span.events ?? []).map(({ name }) => name),
  links: (span.links ?? []).map((link) => ({
    traceId: hex(link.traceId),
    spanId: hex(link.spanId),
  })),
  status: span.status?.code ?? 0,
});

const record = (entries: readonly KeyValue[] = []): Record<string, unknown> =>
  Object.fromEntries(entries.map(({ key, value }) => [key, plain(value)]));

function plain({ arrayValue, intValue, ...rest }: Value): unknown {
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(plain);
  return intValue === undefined ? Object.values(rest)[0] : Number(intValue);
}

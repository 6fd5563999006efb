// Spans of what requests do. There is a Tracing only where `--tracing-config-file` asks for traces;
// whoever may be without one has undefined and does nothing. The span that runs now travels by
// AsyncLocalStorage (ADR 0051); nothing outside of a request has one.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  defaultTextMapGetter,
  defaultTextMapSetter,
  trace,
} from '@opentelemetry/api';
import type { Span, Tracer } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { StatusError } from '../base/status.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';

export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | string[] | undefined>
>;

/** Made only for spans that are recorded. */
export type AttributesOf = () => SpanAttributes;

export interface TracedRequest {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly headers: IncomingHttpHeaders;
  /** Whether the sender's own trace goes on here; else that one is a link of a new one. */
  readonly isTrusted: boolean;
}

/** One request; it is over with `end`. */
export interface RequestSpan {
  /** Whether it is sampled: what follows costs nothing where it is not. */
  readonly isRecorded: boolean;
  note(attributes: SpanAttributes): void;
  /** A part of it that is over; `fromMs` as `TracedRequest.startMs`. */
  addPast(name: string, fromMs: number, toMs: number): void;
  /** All that `run` does, now and later, belongs to it. */
  run<T>(run: () => T): T;
  /** `hasFailed`: by a fault of the server. */
  end(outcome: { readonly hasFailed: boolean }): void;
}

const propagator = new W3CTraceContextPropagator();

export class Tracing {
  readonly #tracer: Tracer;
  readonly #current = new AsyncLocalStorage<Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  openRequest({ name, startMs, headers, isTrusted }: TracedRequest): RequestSpan {
    const sent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const sender = isTrusted ? undefined : trace.getSpanContext(sent);
    const links = sender === undefined ? [] : [{ context: sender }];
    const options = { kind: SpanKind.SERVER, startTime: startMs, links };
    const span = this.#tracer.startSpan(name, options, isTrusted ? sent : ROOT_CONTEXT);
    return {
      isRecorded: span.isRecording(),
      note: (attributes) => void span.setAttributes(attributes),
      addPast: (part, fromMs, toMs) => {
        if (span.isRecording()) this.#start(part, span, { startTime: fromMs }).end(toMs);
      },
      run: (run) => this.#current.run(span, run),
      end({ hasFailed }) {
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  /**
   * What `run` gives, as a span of its own where the present one is recorded. `isCall`: it waits
   * for another process.
   */
  within<T>(name: string, of: AttributesOf, run: () => Promise<T>, isCall?: boolean): Promise<T>;
  within<T>(
    name: string,
    of: AttributesOf,
    run: () => MaybePromise<T>,
    isCall?: boolean,
  ): MaybePromise<T>;
  within<T>(
    name: string,
    of: AttributesOf,
    run: () => MaybePromise<T>,
    isCall = false,
  ): MaybePromise<T> {
    const parent = this.#recorded;
    if (parent === undefined) return run();
    const kind = isCall ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = this.#start(name, parent, { kind, attributes: of() });
    return settled(span, () => this.#current.run(span, run));
  }

  /**
   * What `run` gives. The span is of that which `run` does until it calls `goOn`: what follows
   * belongs to the present span again.
   */
  until<T>(name: string, run: (goOn: <R>(next: () => R) => R) => MaybePromise<T>): MaybePromise<T> {
    const parent = this.#recorded;
    if (parent === undefined) return run((next) => next());
    const span = this.#start(name, parent, {});
    const goOn = <R>(next: () => R): R => {
      span.end();
      return this.#current.run(parent, next);
    };
    return settled(span, () => this.#current.run(span, () => run(goOn)));
  }

  /** A moment of the present span. */
  event(name: string, attributes: SpanAttributes = {}): void {
    this.#recorded?.addEvent(name, attributes);
  }

  /** More of the present span. */
  note(attributes: SpanAttributes): void {
    this.#recorded?.setAttributes(attributes);
  }

  /** What tells another server of the present span, sampled or not; empty outside of requests. */
  headers(): Readonly<Record<string, string>> {
    const span = this.#current.getStore();
    const headers: Record<string, string> = {};
    if (span === undefined || (isSampled(span) && !span.isRecording())) return headers;
    propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
    return headers;
  }

  /**
   * undefined: nothing is recorded. What outlives its request (a connection, a loop that it began)
   * has its span, which is over and takes no more.
   */
  get #recorded(): Span | undefined {
    const span = this.#current.getStore();
    return span?.isRecording() === true ? span : undefined;
  }

  #start(name: string, parent: Span, options: Parameters<Tracer['startSpan']>[1]): Span {
    return this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, parent));
  }
}

const isSampled = (span: Span): boolean =>
  (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;

/** Ends the span when `run` is over, unless it has ended before. */
function settled<T>(span: Span, run: () => MaybePromise<T>): MaybePromise<T> {
  const failed = (error: unknown): never => {
    if (span.isRecording()) fail(span, error);
    throw error;
  };
  const done = (value: T): T => {
    if (span.isRecording()) span.end();
    return value;
  };
  let answer: MaybePromise<T>;
  try {
    answer = run();
  } catch (error) {
    return failed(error);
  }
  return answer instanceof Promise ? answer.then(done, failed) : done(answer);
}

/** By its kind alone: messages may quote what was sent. */
function fail(span: Span, error: unknown): void {
  const kind = error instanceof StatusError ? error.reason : Error.isError(error) ? error.name : '';
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', kind);
  span.end();
}

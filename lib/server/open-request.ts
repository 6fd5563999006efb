// One request from its first byte to its last: the context that filters and handlers share.
import { randomUUID } from 'node:crypto';
import type { ResourceInfo } from '../api/type-info.ts';
import type { RequestAudit } from '../audit/request-audit.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { requestTimeout } from '../base/status.ts';
import type { User } from '../base/user.ts';
import type { WebhookTrail } from '../base/webhook-trail.ts';
import type { ProxyHandler } from '../registry/proxy-entry.ts';
import type { ResourceEntry } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { isApply } from '../codec/negotiate.ts';
import type { Subresource } from '../registry/verb-target.ts';
import type { RequestLabels } from '../telemetry/request-metrics.ts';
import type { RequestSpan } from '../telemetry/tracing.ts';
import type { Connection } from './connections.ts';
import { cut } from './cut.ts';
import { isWrite, parseRequestInfo } from './request-info.ts';
import type { HttpRequest, HttpResponse, RequestContext, RequestInfo } from './request-context.ts';

/** Why a request's signal fired without an error for the client: nobody is there to read one. */
export class RequestEnded extends Error {
  override readonly name = 'RequestEnded';
}
export const clientLeft = new RequestEnded('the client closed the connection');
export const serverDraining = new RequestEnded('the server is shutting down');
export const watchTimedOut = new RequestEnded('the watch reached its timeout');

const auditIdPattern = /^[\w.:-]{1,64}$/;

export interface OpenRequestOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly findEntry: FindEntry;
}

export class OpenRequest implements RequestContext {
  readonly info: RequestInfo;
  store: ResourceStore | undefined;
  proxy: ProxyHandler | undefined;
  subresource: Subresource | undefined;
  body: Buffer | undefined = undefined;
  readonly auditId: string;
  readonly receivedAtMs: number;
  deadlineMs = Infinity;
  slot = -1;
  connection: Connection | undefined = undefined;
  user: User | undefined = undefined;
  impersonator: User | undefined = undefined;
  impersonationConstraint = '';
  readonly warnings: string[] = [];
  audit: RequestAudit | undefined = undefined;
  auditAnnotations: Map<string, string> | undefined = undefined;
  auditEnd: RequestContext['auditEnd'] = undefined;
  arrivedAtMs: number | undefined = undefined;
  span: RequestSpan | undefined = undefined;
  requestBytes = 0;
  responseBytes = 0;
  readonly #response: HttpResponse;
  #streamListeners: (() => void)[] | undefined;
  #isStreaming = false;
  readonly #isApply: boolean;
  readonly #clock: OpenRequestOptions['clock'];
  #webhookTrail: WebhookTrail | undefined;
  readonly #findEntry: FindEntry;
  #labels: RequestLabels | undefined;
  #controller: AbortController | undefined;
  onEnd: ((reason: Error) => void) | undefined = undefined;
  #endedWith: Error | undefined;
  #isOverdue = false;

  constructor(request: HttpRequest, response: HttpResponse, options: OpenRequestOptions) {
    this.#response = response;
    this.#clock = options.clock;
    this.receivedAtMs = options.clock.monotonicMs();
    this.info = parseRequestInfo(request.method ?? 'GET', request.url ?? '/');
    this.#isApply = isApply(request.headers['content-type']);
    this.#findEntry = options.findEntry;
    this.find();
    const given = request.headers['audit-id'];
    const isId = typeof given === 'string' && auditIdPattern.test(given);
    this.auditId = isId ? given : randomUUID();
  }

  find(): void {
    const entry = this.#findEntry(this.info);
    const isProxy = entry !== undefined && 'proxy' in entry;
    this.store = isProxy ? undefined : entry;
    this.proxy = isProxy ? entry.proxy : undefined;
    const { subresource } = this.info;
    this.subresource = subresource === '' ? undefined : this.store?.subresources.get(subresource);
    this.#labels = undefined;
  }

  /** Made on first use: most answers from memory never need it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#endedWith !== undefined) this.#controller.abort(this.#endedWith);
    }
    return this.#controller.signal;
  }

  get webhookTrail(): WebhookTrail {
    this.#webhookTrail ??= {
      leftMs: () => this.deadlineMs - this.#clock.monotonicMs(),
      mutatingMs: 0,
      validatingMs: 0,
      details: this.audit?.takesRequest === true ? this.auditAnnotations : undefined,
    };
    return this.#webhookTrail;
  }

  get webhookMs(): number {
    const { mutatingMs = 0, validatingMs = 0 } = this.#webhookTrail ?? {};
    return mutatingMs + validatingMs;
  }

  get endedWith(): Error | undefined {
    return this.#endedWith;
  }

  end(reason: Error): void {
    if (this.#endedWith !== undefined) return;
    this.#endedWith = reason;
    this.#controller?.abort(reason);
    this.onEnd?.(reason);
  }

  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  startStreaming(untilMs: number): void {
    this.deadlineMs = untilMs;
    this.#isStreaming = true;
    for (const listener of this.#streamListeners ?? []) listener();
  }

  whenStreaming(listener: () => void): void {
    (this.#streamListeners ??= []).push(listener);
  }

  /** First the request is told to end; a client that does not take the end of its answer is cut. */
  expire(nowMs: number): void {
    this.deadlineMs = nowMs + limits.answerGraceMs;
    if (this.#isOverdue) {
      cut(this.#response);
      return;
    }
    this.#isOverdue = true;
    const within = isWrite(this.info) ? 'requested' : 'the allotted';
    const overdue = requestTimeout(`request did not complete within ${within} timeout`);
    this.end(this.isStreaming ? watchTimedOut : overdue);
  }

  get labels(): RequestLabels {
    this.#labels ??= labelsOf(this, this.#isApply);
    return this.#labels;
  }
}

/** What serves the path; undefined: nothing of the resource map does. */
export type FindEntry = (info: RequestInfo) => ResourceEntry | undefined;

const metricVerbs: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['head', 'GET'],
  ['options', 'OPTIONS'],
]);

function metricVerb({ verb }: RequestInfo, isApply: boolean): string {
  if (verb === 'patch' && isApply) return 'APPLY';
  return metricVerbs.get(verb) ?? 'OTHER';
}

/**
 * Names are those of the records, never the client's own: theirs have no bound, and are views of a
 * URL that metrics would keep.
 */
function labelsOf({ info, store, subresource }: OpenRequest, applies: boolean): RequestLabels {
  const verb = subresource?.connect === undefined ? metricVerb(info, applies) : 'CONNECT';
  const dryRun = info.query.get('dryRun') === 'All' ? 'All' : '';
  const isUnknown = info.subresource !== '' && subresource === undefined;
  if (store === undefined || isUnknown) {
    return { verb, group: '', version: '', resource: '', subresource: '', scope: '', dryRun };
  }
  const scope = scopeOf(info);
  const name = subresource?.info.name ?? '';
  const usual = usualLabels(store, name === '' ? verb : `${verb}/${name}`);
  const known = usual[scope];
  if (known !== undefined && dryRun === '') return known;
  const { group, version, resource } = store.resource;
  const labels = { verb, group, version, resource, subresource: name, scope, dryRun };
  if (dryRun === '') usual[scope] = labels;
  return labels;
}

const scopeOf = ({ name, namespace }: RequestInfo): RequestLabels['scope'] =>
  name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster';

/** Of requests that are no dry run, by scope: the same ones each time, known to metrics. */
type LabelsByScope = { [Scope in RequestLabels['scope']]?: RequestLabels };
const labelsByAction = new WeakMap<ResourceInfo, Map<string, LabelsByScope>>();

function usualLabels({ resource }: ResourceStore, action: string): LabelsByScope {
  let byAction = labelsByAction.get(resource);
  if (byAction === undefined) {
    byAction = new Map();
    labelsByAction.set(resource, byAction);
  }
  let byScope = byAction.get(action);
  if (byScope === undefined) {
    byScope = {};
    byAction.set(action, byScope);
  }
  return byScope;
}

// Paths for people and operators: health, metrics, version, and what is served where (discovery).
// The last filter: it answers, or throws 404 and 405.
import express from 'express';
import type { OpenIdDocument } from '../authn/service-account/openid-documents.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { methodNotAllowed, pathNotFound } from '../base/status.ts';
import type { Logger } from '../base/log.ts';
import { negotiateResponse } from '../codec/negotiate.ts';
import { healthEndpoints } from '../telemetry/health.ts';
import type { Health } from '../telemetry/health.ts';
import type { MetricsText } from '../telemetry/metrics.ts';
import type { Filter, HttpRequest, HttpResponse } from './request-context.ts';
import { answerNotServed } from './not-served.ts';
import type { ServesGroup } from './not-served.ts';
import { plainHead, sendBytes, sendNow } from './respond.ts';

/** Encoded, empty or dot segments: no operator path has any. */
const oddPath = /%|\/\/|\/\.{1,2}(\/|$)/;

type OperatorPage = (request: HttpRequest, response: HttpResponse) => MaybePromise<void>;

export interface OperatorPathsOptions {
  readonly health: Health;
  readonly logger: Logger;
  /** Bodies by path: `/metrics` and its like. */
  readonly metrics: ReadonlyMap<string, () => Promise<MetricsText>>;
  /** The body of `/version`. */
  readonly version: Readonly<Record<string, string>>;
  /** Answers the paths of discovery and OpenAPI; false: not one of them. */
  readonly discovery: (request: HttpRequest, response: HttpResponse) => Promise<boolean>;
  /** What clients check service-account tokens by. */
  readonly documents: readonly OpenIdDocument[];
  /** `/statusz` and its like, profiles too, by path. */
  readonly pages: ReadonlyMap<string, OperatorPage>;
  readonly servesGroup: ServesGroup;
  /** Everything that the root of the server lists, in any order. */
  readonly paths: () => readonly string[];
}

const jsonHead = { status: 200, contentType: 'application/json' };

/** Keys of issuers change slowly, and are for everybody. */
const publicHour = { 'cache-control': 'public, max-age=3600' };

export function operatorPaths(options: OperatorPathsOptions): Filter {
  const router = routerOf(options);
  // A router tells of failures only: its work is over with the response.
  return (request, response) =>
    new Promise((resolve, reject) => {
      response.once('close', () => resolve());
      router(request as never, response as never, reject);
    });
}

function routerOf(options: OperatorPathsOptions): express.Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const version = Buffer.from(JSON.stringify(options.version, null, 2));
  router.use((request, _response, next) => {
    // Routed below by the path as received: only one that authorization has read the same way.
    if (oddPath.test(request.url.split('?', 1)[0] ?? '')) throw pathNotFound();
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
    next();
  });
  routeHealth(router, options);
  for (const [path, text] of options.metrics) {
    router.get(path, async (expressRequest, response) => {
      const request = expressRequest as unknown as HttpRequest;
      const { contentType, body } = await text();
      const compress = { compress: true };
      await sendBytes(request, response, { status: 200, contentType }, Buffer.from(body), compress);
    });
  }
  router.get(['/version', '/version/'], (expressRequest, response) => {
    sendNow(expressRequest as unknown as HttpRequest, response, jsonHead, version);
  });
  for (const [path, answer] of options.pages) {
    router.get(path, (request, response) => answer(request as unknown as HttpRequest, response));
  }
  for (const { path, contentType, text } of options.documents) {
    const head = { status: 200, contentType, headers: publicHour };
    const offers = { media: [{ mediaType: contentType, streams: false }], transforms: [] };
    router.get(path, (expressRequest, response) => {
      const request = expressRequest as unknown as HttpRequest;
      negotiateResponse(request.headers.accept, offers); // throws 406
      sendNow(request, response, head, Buffer.from(text));
    });
  }
  router.get(['/', '/index.html'], (expressRequest, response) => {
    const list = JSON.stringify({ paths: [...options.paths()].sort() }, null, 2);
    sendNow(expressRequest as unknown as HttpRequest, response, jsonHead, Buffer.from(list));
  });
  router.use(async (expressRequest, response) => {
    const request = expressRequest as unknown as HttpRequest;
    if (await options.discovery(request, response)) return;
    answerNotServed(request, response, options.servesGroup);
  });
  return router;
}

function routeHealth(router: express.Router, { health, logger }: OperatorPathsOptions): void {
  const { beforeReadyz } = health;
  if (beforeReadyz !== undefined) {
    router.use('/readyz', async (_request, _response, next) => {
      await beforeReadyz();
      next();
    });
  }
  for (const endpoint of healthEndpoints) {
    router.get([`/${endpoint}`, `/${endpoint}/*check`], (expressRequest, response) => {
      const request = expressRequest as unknown as HttpRequest;
      const { query } = request.context.info;
      // The names of some checks have slashes.
      const { check } = expressRequest.params as { check?: readonly string[] };
      const answer =
        check === undefined
          ? health.answer(endpoint, {
              verbose: query.has('verbose'),
              exclude: query.getAll('exclude'),
            })
          : health.answerOne(endpoint, check.join('/'));
      for (const failure of answer.failures) {
        logger.warn('health check failed', {
          endpoint,
          check: failure.name,
          reason: failure.reason,
        });
      }
      sendNow(request, response, plainHead(answer.status), Buffer.from(answer.text));
    });
  }
}

import { describe, expect, test } from '@jest/globals';
import { abortable } from '../base/abort.ts';
import { heldBytes, mega } from '../base/testing/held-bytes.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { widgetResource } from '../codec/testing/sample-types.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Subresource } from '../registry/verb-target.ts';
import type { RequestLabels } from '../telemetry/request-metrics.ts';
import { OpenRequest, clientLeft, serverDraining } from './open-request.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';

const opened = (url = '/api/v1/pods', store?: ResourceStore): OpenRequest =>
  openRequest({ method: 'GET', url, headers: {} }, store);
const openRequest = (request: object, store?: ResourceStore): OpenRequest =>
  new OpenRequest(request as HttpRequest, {} as HttpResponse, {
    clock: { monotonicMs: () => 0 },
    findEntry: () => store,
  });
const forever = new Promise<never>(() => undefined);

describe('the end of a request', () => {
  test('reaches the wait that it is in and its signal, with the first reason', async () => {
    const request = opened();
    const wait = abortable(forever, request);
    request.end(clientLeft);
    request.end(serverDraining);
    await expect(wait).rejects.toBe(clientLeft);
    expect(request.signal.reason).toBe(clientLeft);
  });

  test('reaches a signal that was made before, and waits that begin later', async () => {
    const request = opened();
    const { signal } = request;
    request.end(clientLeft);
    expect(signal.reason).toBe(clientLeft);
    await expect(abortable(forever, request)).rejects.toBe(clientLeft);
  });

  test('is its deadline, too', async () => {
    const request = opened();
    const wait = abortable(forever, request);
    request.expire(1_000);
    await expect(wait).rejects.toMatchObject({ code: 504 });
  });
});

test('a request that streams has another deadline, and says so once', () => {
  const request = opened();
  request.deadlineMs = 1_000;
  const said: string[] = [];
  request.whenStreaming(() => said.push('a'));
  request.whenStreaming(() => said.push('b'));
  expect([request.isStreaming, said]).toEqual([false, []]);
  request.startStreaming(Infinity);
  expect([request.isStreaming, said, request.deadlineMs]).toEqual([true, ['a', 'b'], Infinity]);
});

describe('the labels of a request', () => {
  const resource: ResourceInfo = {
    ...widgetResource,
    group: 'example.kubernetes.io',
    resource: 'long-named-widgets',
  };
  const status = { name: 'long-named-status', kind: resource.kind, verbs: ['get'] };
  const target = { resource, input: resource };
  const exec = { name: 'exec', kind: resource.kind, verbs: ['get', 'create'] };
  const subresources = new Map<string, Subresource>([
    [status.name, { info: status, ...target }],
    [exec.name, { info: exec, ...target, connect: () => Promise.resolve() }],
  ]);
  // What labels are made of.
  const store = { resource, subresources } as unknown as ResourceStore;
  const labelsOf = (url: string, served?: ResourceStore): RequestLabels =>
    opened(url, served).labels;
  const path = `/apis/${resource.group}/v1/namespaces/n/${resource.resource}/x`;
  test.each([
    ['application/merge-patch+json', 'PATCH'],
    ['application/apply-patch+yaml; charset=utf-8', 'APPLY'],
    ['application/apply-patch+cbor', 'APPLY'],
  ])('tell a patch of %s as %s', (contentType, verb) => {
    const headers = { 'content-type': contentType };
    expect(openRequest({ method: 'PATCH', url: path, headers }, store).labels.verb).toBe(verb);
  });

  const none = { group: '', version: '', resource: '', subresource: '', scope: '' };

  test.each([
    [path, store, { group: resource.group, resource: resource.resource, scope: 'resource' }],
    [`${path}/long-named-status`, store, { subresource: 'long-named-status' }],
    [`${path}/exec`, store, { verb: 'CONNECT', subresource: 'exec' }],
    [`${path}?dryRun=All`, store, { dryRun: 'All' }],
    [`${path}/made-up`, store, none],
    [path, undefined, none],
    ['/livez', undefined, none],
  ])('%s: only names of what is served', (url, served, expected) => {
    expect(labelsOf(url, served)).toMatchObject(expected);
  });

  test('do not hold its URL', async () => {
    const kept: RequestLabels[] = [];
    const held = await heldBytes(() => {
      for (let index = 0; index < 32; index++) {
        const pad = `${String(index)}${'x'.repeat(mega)}`;
        kept.push(labelsOf(`${path}/long-named-status?pad=${pad}`, store));
      }
    });
    expect(kept).toHaveLength(32);
    expect(held).toBeLessThan(4 * mega);
  });
});

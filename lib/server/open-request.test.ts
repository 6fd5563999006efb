import { describe, expect, test } from '@jest/globals';
import { abortable } from '../base/abort.ts';
import { OpenRequest, clientLeft, serverDraining } from './open-request.ts';
import type { HttpResponse } from './request-context.ts';

const opened = (): OpenRequest =>
  new OpenRequest('GET', '/api/v1/pods', {
    auditId: undefined,
    nowMs: 0,
    timeoutMs: 1_000,
    response: {} as HttpResponse,
    findStore: () => undefined,
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

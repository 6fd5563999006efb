import { describe, expect, test } from '@jest/globals';
import type { Filter } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { request1, startTestServer } from '../testing/test-server.ts';

const text = { status: 200, contentType: 'text/plain' };

describe('w.deadline, n.writeDeadline: the time of a request', () => {
  const slow: Filter = async ({ context }) => {
    await new Promise((_resolve, reject) => {
      const { signal } = context;
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  };
  const timed = async (line: string): Promise<readonly [code: number, message: string]> => {
    await using server = await startTestServer({ filters: [slow] });
    const [method = '', path = ''] = line.split(' ');
    const { status, body } = await request1(server, path, { method });
    return [status, (JSON.parse(body.toString()) as { message: string }).message];
  };

  test('is what its query asks for, where that is less than the server’s', async () => {
    const overdue = [504, 'Timeout: request did not complete within the allotted timeout'];
    expect(await timed('GET /api/v1/pods?timeout=10ms')).toEqual(overdue);
    expect(await timed('GET /api/v1/pods?timeout=-1s')).toEqual(overdue);
    const written = [504, 'Timeout: request did not complete within requested timeout'];
    expect(await timed('POST /api/v1/namespaces/n/pods?timeout=10ms')).toEqual(written);
  });

  test('is refused where it is none', async () => {
    const refused =
      'invalid timeout specified in the request URL: "soon" is no duration such as 30s';
    expect(await timed('GET /api/v1/pods?timeout=soon')).toEqual([400, refused]);
  });

  test.each([
    ['POST /api/v1/namespaces/n/pods', 34_000],
    ['DELETE /api/v1/namespaces/n/pods?timeout=50s', 34_000],
    ['PATCH /api/v1/namespaces/n/pods/a?timeout=3s', 3_000],
    ['GET /api/v1/namespaces/n/pods', 60_000],
    ['GET /api/v1/namespaces/n/pods?timeout=0s', 60_000],
    ['GET /api/v1/namespaces/n/pods?watch=1&timeout=1s', 60_000],
    ['POST /elsewhere', 60_000],
  ])('%s has %d ms', async (line, ms) => {
    let given = 0;
    const look: Filter = (request, response) => {
      const { deadlineMs, receivedAtMs } = request.context;
      given = Math.round(deadlineMs - receivedAtMs);
      sendNow(request, response, text, Buffer.from(''));
    };
    await using server = await startTestServer({ filters: [look], requestTimeoutMs: 60_000 });
    const [method = '', path = ''] = line.split(' ');
    await request1(server, path, { method });
    expect(given).toBe(ms);
  });
});

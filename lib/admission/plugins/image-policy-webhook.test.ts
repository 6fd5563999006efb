import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import { RawServer, answerText, hookTls } from '../../client/testing/raw-server.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { admissionChain } from '../chain.ts';
import type { AdmissionChain } from '../chain.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { asked } from '../testing/asked.ts';
import { partsOf } from '../testing/cluster.ts';
import { imagePolicyWebhook } from './image-policy-webhook.ts';

let server: RawServer;
let folder: string;
let nowMs: number;
let waitsMs: number[];
const ends: (() => void)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'image-policy-'));
  server = await RawServer.start(() => undefined);
  const { ca } = await hookTls();
  await writeFile(join(folder, 'ca.crt'), ca.cert);
  await writeFile(
    join(folder, 'hook.yaml'),
    `apiVersion: v1
kind: Config
clusters: [{ name: hook, cluster: { server: "${server.url}", certificate-authority: ca.crt } }]
users: [{ name: api, user: { token: secret } }]
contexts: [{ name: c, context: { cluster: hook, user: api } }]
current-context: c
`,
  );
});
afterAll(async () => {
  for (const end of ends) end();
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  [nowMs, waitsMs] = [0, []];
  server.requests.length = 0;
});

/** Back-off takes no time. */
const clock = {
  nowMs: () => nowMs,
  monotonicMs: () => nowMs,
  after(delayMs: number, run: () => void) {
    waitsMs.push(delayMs);
    const timer = setImmediate(run);
    return () => clearImmediate(timer);
  },
};

async function opened(policy: object = {}): Promise<AdmissionChain> {
  const configuration = { imagePolicy: { kubeConfigFile: join(folder, 'hook.yaml'), ...policy } };
  const parts = {
    ...partsOf({ configuration, clock }),
    atEnd: (end: () => void) => ends.push(end),
  };
  return admissionChain([await imagePolicyWebhook(parts)]);
}

const pod = (image = 'a', annotations = {}): ApiObject => ({
  metadata: { name: 'x', annotations },
  spec: {
    containers: [{ name: 'c', image }],
    initContainers: [{ name: 'i', image: 'init' }],
    ephemeralContainers: [{ name: 'e', image: 'debug' }],
  },
});

interface Told {
  readonly outcome: string;
  readonly annotations: Record<string, string>;
}

async function ask(
  chain: AdmissionChain,
  object = pod(),
  change: Partial<AdmissionRequest> = {},
): Promise<Told> {
  const { request, annotations } = asked(change);
  const told = (outcome: string): Told => ({
    outcome,
    annotations: Object.fromEntries(annotations),
  });
  try {
    await chain.validate(request, object, new AbortController().signal);
    return told('admitted');
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return told(`${String(error.code)} ${error.message}`);
  }
}

const answer = (status: object, http = '200 OK'): void =>
  server.answerWith(
    ({ socket }) => void socket.write(answerText(JSON.stringify(status), { status: http })),
  );
const sent = (): unknown => JSON.parse(server.requests.at(-1)?.body ?? 'null');
const allowed = { status: { allowed: true } };
const refused = 'pods "x" is forbidden: ';
const prefix = 'imagepolicywebhook.image-policy.svc.io/';

describe('i.call', () => {
  test('i.call: images, annotations that are meant for it, and the namespace are sent', async () => {
    answer(allowed);
    const annotations = { 'my.image-policy.svc.io/ticket': '1', other: '2' };
    const chain = await opened();
    expect(await ask(chain, pod('a', annotations))).toEqual({
      outcome: 'admitted',
      annotations: {},
    });
    expect(server.requests[0]?.head).toContain('authorization: Bearer secret');
    expect(sent()).toEqual({
      kind: 'ImageReview',
      apiVersion: 'imagepolicy.svc.io/v1alpha1',
      metadata: {},
      spec: {
        containers: [{ image: 'a' }, { image: 'init' }],
        annotations: { 'my.image-policy.svc.io/ticket': '1' },
        namespace: 'a',
      },
      status: { allowed: false },
    });
  });

  test('i.call, p.ImagePolicyWebhook: debugging containers, too (CVE-2023-2727)', async () => {
    answer(allowed);
    const chain = await opened();
    const change = { operation: 'UPDATE' as const, subresource: 'ephemeralcontainers' };
    await ask(chain, pod(), change);
    expect(sent()).toMatchObject({ spec: { containers: [{ image: 'debug' }] } });
    await ask(chain, pod('other'), { operation: 'UPDATE', subresource: 'status' });
    await ask(chain, pod('other'), { operation: 'DELETE' });
    expect(server.requests).toHaveLength(1);
  });

  test('i.call: an answer is kept by its question, as long as its kind is', async () => {
    answer({ status: { allowed: false, reason: 'old' } });
    const chain = await opened({ denyTTL: 5 });
    const first = await ask(chain);
    nowMs = 4_999;
    expect(await ask(chain)).toEqual(first);
    expect(server.requests).toHaveLength(1);
    await ask(chain, pod('b'));
    await ask(chain, pod(), { namespace: 'b' });
    expect(server.requests).toHaveLength(3);
    nowMs = 5_000;
    answer(allowed);
    expect((await ask(chain)).outcome).toBe('admitted');
    nowMs += 299_999;
    expect((await ask(chain)).outcome).toBe('admitted');
    expect(server.requests).toHaveLength(4);
    nowMs += 1;
    await ask(chain);
    expect(server.requests).toHaveLength(5);
  });

  test('i.call: what passes is tried five times, each wait half as long again', async () => {
    answer({}, '500 No');
    const chain = await opened({ retryBackoff: 100 });
    expect((await ask(chain)).outcome).toMatch(/^403 pods "x" is forbidden: .*status 500$/);
    expect(server.requests).toHaveLength(5);
    for (const [at, waitMs] of waitsMs.entries()) {
      const leastMs = 100 * 1.5 ** at;
      expect(waitMs).toBeGreaterThanOrEqual(leastMs);
      expect(waitMs).toBeLessThanOrEqual(leastMs * 1.2);
    }
    expect(waitsMs).toHaveLength(4);
  });

  test.each([
    [{ status: { allowed: false, reason: 'bad image' } }, `denied one or more images: bad image`],
    [{ status: { allowed: false } }, 'one or more images rejected by webhook backend'],
    [{ status: {} }, 'one or more images rejected by webhook backend'],
  ])('p.ImagePolicyWebhook: it answers %j', async (status, text) => {
    answer(status);
    const { outcome } = await ask(await opened());
    expect(outcome).toMatch(new RegExp(`^403 ${refused}.*${text}$`));
  });
});

test('i.audit: what the answer notes is in the audit event, from memory too', async () => {
  answer({ status: { allowed: true, auditAnnotations: { ticket: '7' } } });
  const chain = await opened();
  for (let count = 0; count < 2; count += 1) {
    expect(await ask(chain)).toEqual({
      outcome: 'admitted',
      annotations: { [`${prefix}ticket`]: '7' },
    });
  }
  expect(server.requests).toHaveLength(1);
});

describe('i.failure', () => {
  test.each([
    ['no JSON', () => server.answerWith(({ socket }) => void socket.write(answerText('x')))],
    ['another kind', () => answer({ kind: 'TokenReview', ...allowed })],
    ['another version', () => answer({ apiVersion: 'imagepolicy.svc.io/v2', ...allowed })],
    ['another type', () => answer({ status: { allowed: 'true' } })],
    ['another reason', () => answer({ status: { allowed: false, reason: 1 } })],
    ['notes that are none', () => answer({ status: { auditAnnotations: { a: 1 } } })],
    ['nothing', () => server.answerWith(({ socket }) => void socket.destroy())],
    ['a redirect', () => answer({}, '302 Found')],
    ['an error', () => answer({}, '404 Not Found')],
  ])('i.failure: %s refuses, unless pods are admitted by default', async (_claim, answering) => {
    answering();
    const strict = await ask(await opened({ defaultAllow: false }));
    expect(strict.outcome).toMatch(/^403 pods "x" is forbidden: POST "https:/);
    expect(strict.annotations).toEqual({});
    const lax = await opened({ defaultAllow: true });
    const admitted = { outcome: 'admitted', annotations: { [`${prefix}failed-open`]: 'true' } };
    expect(await ask(lax)).toEqual(admitted);
    answer(allowed); // A failure is not kept.
    expect(await ask(lax)).toEqual({ outcome: 'admitted', annotations: {} });
  });
});

describe('i.config', () => {
  test('i.config: -1 turns keeping off', async () => {
    answer(allowed);
    const chain = await opened({ allowTTL: -1, denyTTL: -1 });
    await ask(chain);
    await ask(chain);
    expect(server.requests).toHaveLength(2);
  });

  const range = (most: number): string => `is not between 1 and ${String(most)}`;
  test.each([
    [undefined, 'there is no configuration of its webhook'],
    [{ imagePolicy: {} }, 'imagePolicy.kubeConfigFile: must be stated'],
    [{ imagePolicies: {} }, 'unknown field "imagePolicies"'],
    [{ imagePolicy: { allowTtl: 1 } }, 'unknown field "imagePolicy.allowTtl"'],
    [{ imagePolicy: { defaultAllow: 'yes' } }, 'imagePolicy.defaultAllow: must be true or false'],
    [{ imagePolicy: { allowTTL: 1801 } }, range(limits.imageReviewTtlSecondsMax)],
    [{ imagePolicy: { denyTTL: -2 } }, range(limits.imageReviewTtlSecondsMax)],
    [{ imagePolicy: { retryBackoff: 300_001 } }, range(limits.imageReviewBackoffMsMax)],
  ])('i.config: %j is refused', async (configuration, message) => {
    const known = configuration === undefined ? {} : { configuration };
    await expect(imagePolicyWebhook(partsOf(known))).rejects.toThrow(message);
  });

  test('i.config: a client configuration that is missing is refused', async () => {
    const configuration = { imagePolicy: { kubeConfigFile: join(folder, 'none') } };
    await expect(imagePolicyWebhook(partsOf({ configuration }))).rejects.toThrow(/none|no such/);
  });
});

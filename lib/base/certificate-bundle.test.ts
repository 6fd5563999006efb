import { describe, expect, jest, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { limits } from './limits.ts';
import { createTestCa } from './testing/certificates.ts';
import type { CaOptions, LeafRequest, TestCa } from './testing/certificates.ts';
import { CertificateBundle } from './certificate-bundle.ts';

const client: LeafRequest = { use: 'clientAuth', commonName: 'a' };
const later = new Date(Date.now() + 3_600_000);
const serverAuth = '1.3.6.1.5.5.7.3.1';
const parsed = (cert: string): X509Certificate => new X509Certificate(cert);

const problemOf = (trusted: string, leaf: string, given: readonly string[] = []) =>
  new CertificateBundle(trusted).verify(parsed(leaf), given.map(parsed), Date.now()).problem;

async function leafOf(ca: TestCa, change: Partial<LeafRequest> = {}): Promise<string> {
  return (await ca.issue({ ...client, ...change })).cert;
}

describe('a path', () => {
  test.each<[claim: string, root: CaOptions, chain: readonly CaOptions[], isGood: boolean]>([
    ['without intermediates', {}, [], true],
    ['of one', {}, [{}], true],
    ['of two', {}, [{}, {}], true],
    ['longer than its root allows', { pathLength: 0 }, [{}], false],
    ['as long as its root allows', { pathLength: 1 }, [{}], true],
    ['longer than an intermediate allows', {}, [{ pathLength: 0 }, {}], false],
    ['over what is no CA', {}, [{ isCa: false }], false],
    ['over a CA that has expired', {}, [{ notAfter: new Date(Date.now() - 1_000) }], false],
    ['over a CA that is not valid yet', {}, [{ notBefore: later }], false],
    ['over a CA for servers alone', {}, [{ usages: [serverAuth] }], false],
    ['from a root that has expired', { notAfter: new Date(Date.now() - 1_000) }, [], false],
    ['from what is no CA', { isCa: false }, [], false],
  ])('%s', async (_claim, rootOptions, chain, isGood) => {
    const root = await createTestCa('root', rootOptions);
    let issuer = root;
    const given: string[] = [];
    for (const [index, options] of chain.entries()) {
      issuer = await issuer.intermediate(`mid-${String(index)}`, options);
      given.push(issuer.cert);
    }
    const leaf = await leafOf(issuer);
    expect(problemOf(root.cert, leaf, given) === undefined).toBe(isGood);
    expect(problemOf(root.cert, leaf, given.toReversed()) === undefined).toBe(isGood);
    if (given.length > 0) expect(problemOf(root.cert, leaf)).toMatch(/no certificate authority/);
  });

  test('ends at any certificate of the bundle: an intermediate, or the very one', async () => {
    const root = await createTestCa('root');
    const mid = await root.intermediate('mid');
    const leaf = await leafOf(mid);
    expect(problemOf(mid.cert, leaf)).toBeUndefined();
    expect(problemOf(leaf, leaf)).toBeUndefined();
    expect(problemOf(leaf, await leafOf(mid))).toBeDefined();
  });

  test('leads over a CA with several certificates to the one that is good', async () => {
    const [root, same] = [await createTestCa('root'), await createTestCa('root')];
    expect(problemOf(`${same.cert}${root.cert}`, await leafOf(root))).toBeUndefined();
    expect(problemOf(same.cert, await leafOf(root))).toBeDefined();
  });

  test('a leaf signs nothing: what it issued is nobody', async () => {
    const root = await createTestCa('root');
    const false_ = await root.intermediate('a', { isCa: false });
    expect(problemOf(root.cert, await leafOf(false_), [false_.cert])).toBeDefined();
  });

  test('a critical extension that nobody knows refuses the certificate', async () => {
    const root = await createTestCa('root');
    const leaf = await leafOf(root, { critical: '1.2.3.4' });
    expect(problemOf(root.cert, leaf)).toBe('the certificate has a critical extension, 1.2.3.4');
  });

  test('is looked for as long as signatures may be checked, whatever is shown', async () => {
    const root = await createTestCa('root');
    const inLoop = await createTestCa('loop');
    const leaf = parsed(await leafOf(inLoop));
    const counted = jest.spyOn(X509Certificate.prototype, 'verify');
    const bundle = new CertificateBundle(root.cert);
    const shown = Array.from({ length: limits.certificatePathLengthMax }, () =>
      parsed(inLoop.cert),
    );
    expect(bundle.verify(leaf, shown, Date.now()).problem).toBeDefined();
    const count = counted.mock.calls.length;
    counted.mockRestore();
    expect(count).toBe(limits.certificatePathChecksMax);
  });
});

test('a verdict holds until a certificate begins or ends to be valid', async () => {
  const root = await createTestCa('root', { notBefore: new Date(0), notAfter: new Date(90_000) });
  const times = { notBefore: new Date(10_000), notAfter: new Date(50_000) };
  const leaf = parsed(await leafOf(root, times));
  const bundle = new CertificateBundle(root.cert);
  const untilMs = [5_000, 10_000, 50_000, 50_001, 90_001].map(
    (at) => bundle.verify(leaf, [], at).untilMs,
  );
  expect(untilMs).toEqual([10_000, 50_001, 50_001, 90_001, Infinity]);
});

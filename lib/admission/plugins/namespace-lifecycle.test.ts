import { describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import { cutOut, heldBytes, mega } from '../../base/testing/held-bytes.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { admissionChain } from '../chain.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import { asked, naming, resourceOf } from '../testing/asked.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';

const signal = new AbortController().signal;
const unasked = new Error('namespaces are not listed');
const unmade: AdmissionPlugin = { name: '', sideEffects: false, handles: () => false };

interface Known {
  readonly memory?: Readonly<Record<string, boolean>>;
  readonly store?: Readonly<Record<string, boolean>>;
}

/** Namespaces by name; true: it is being terminated. */
function chainOf({ memory = {}, store = {} }: Known): {
  ask: (request: Partial<AdmissionRequest>) => Promise<string>;
  lookedUp: string[];
  clock: { ms: number };
} {
  const lookedUp: string[] = [];
  const clock = { ms: 0 };
  const chain = admissionChain([
    namespaceLifecycle({
      objects: () => ({
        view: {
          peek: ({ name }) => itemIn(memory, name),
          list: () => Promise.reject(unasked),
          all: () => [],
        },
        lookUp: ({ name }) => {
          lookedUp.push(name);
          return Promise.resolve(itemIn(store, name));
        },
      }),
      naming,
      clock: { nowMs: () => clock.ms, monotonicMs: () => clock.ms, after: () => () => undefined },
    }) ?? unmade,
  ]);
  const ask = async (change: Partial<AdmissionRequest>): Promise<string> => {
    const { request } = asked({ resource: resourceOf('configmaps'), ...change });
    const object: ApiObject = { metadata: { name: request.name } };
    try {
      if (request.operation === 'DELETE') await chain.beforeDelete(request, signal);
      else await chain.mutate(request, object, signal);
      await chain.validate(request, object, signal);
      return 'admitted';
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      return `${String(error.code)} ${error.details?.causes?.[0]?.reason ?? error.message}`;
    }
  };
  return { ask, lookedUp, clock };
}

function itemIn(all: Readonly<Record<string, boolean>>, name: string): Item | undefined {
  if (!Object.hasOwn(all, name)) return undefined;
  const metadata = {
    name,
    ...(all[name] === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
  };
  // What the plugin reads of an item.
  return { corrupted: false, object: () => ({ metadata }) } as unknown as Item;
}

describe('writes into a namespace', () => {
  test('that exists are admitted from memory', async () => {
    const { ask, lookedUp } = chainOf({ memory: { a: false } });
    expect(await ask({})).toBe('admitted');
    expect(await ask({ operation: 'UPDATE' })).toBe('admitted');
    expect(lookedUp).toEqual([]);
  });

  test('that memory does not know yet are admitted by the store', async () => {
    const { ask, lookedUp } = chainOf({ store: { a: false } });
    expect(await ask({})).toBe('admitted');
    expect(lookedUp).toEqual(['a']);
  });

  test('p.NamespaceLifecycle: that does not exist are 404 of the namespace', async () => {
    const { ask } = chainOf({});
    expect(await ask({})).toBe('404 namespaces "a" not found');
    expect(await ask({ operation: 'UPDATE' })).toBe('404 namespaces "a" not found');
  });

  test('p.NamespaceLifecycle: that ends are refused when they create, and only then', async () => {
    const { ask } = chainOf({ memory: { a: true }, store: { a: true } });
    expect(await ask({})).toBe('403 NamespaceTerminating');
    expect(await ask({ operation: 'UPDATE' })).toBe('admitted');
    expect(await ask({ operation: 'DELETE' })).toBe('admitted');
  });

  test('that ended and were made again are admitted though memory is behind', async () => {
    const { ask, lookedUp } = chainOf({ memory: { a: true }, store: { a: false } });
    expect(await ask({})).toBe('admitted');
    expect(lookedUp).toEqual(['a']);
  });

  test('are not looked at for questions about permissions', async () => {
    const { ask, lookedUp } = chainOf({});
    const resource = resourceOf('localsubjectaccessreviews', 'authorization.{v}');
    expect(await ask({ resource })).toBe('admitted');
    expect(lookedUp).toEqual([]);
  });

  test('whose deletion was just admitted are read from the store for a while', async () => {
    const { ask, clock } = chainOf({ memory: { a: false }, store: { a: true } });
    const deletion = { operation: 'DELETE' as const, resource: resourceOf('namespaces') };
    expect(await ask({ ...deletion, namespace: '', name: 'a', dryRun: true })).toBe('admitted');
    expect(await ask({})).toBe('admitted');
    expect(await ask({ ...deletion, namespace: '', name: 'a' })).toBe('admitted');
    expect(await ask({})).toBe('403 NamespaceTerminating');
    clock.ms += limits.deletedNamespaceLookUpMs;
    expect(await ask({})).toBe('admitted');
  });
});

test('names of deleted namespaces do not hold the URLs of their deletions', async () => {
  const { ask } = chainOf({});
  const deletion = { operation: 'DELETE' as const, resource: resourceOf('namespaces') };
  const held = await heldBytes(async () => {
    for (let index = 0; index < 32; index++) {
      await ask({ ...deletion, namespace: '', name: cutOut(index) });
    }
  });
  expect(held).toBeLessThan(4 * mega);
  expect(await ask({ namespace: cutOut(0) })).toContain('404');
});

describe('cluster-scoped objects', () => {
  const namespaces = { resource: resourceOf('namespaces'), namespace: '' };

  test.each(['default', 'svc-system', 'svc-public'])(
    'namespace %s is not deleted',
    async (name) => {
      const { ask } = chainOf({});
      const answer = await ask({ ...namespaces, operation: 'DELETE', name });
      expect(answer).toMatch(
        /^403 namespaces "[a-z-]+" is forbidden: this namespace may not be deleted$/,
      );
    },
  );

  test('need no namespace', async () => {
    const { ask, lookedUp } = chainOf({});
    expect(await ask({ ...namespaces, name: 'new' })).toBe('admitted');
    expect(await ask({ resource: resourceOf('nodes'), namespace: '', name: 'n' })).toBe('admitted');
    expect(lookedUp).toEqual([]);
  });
});

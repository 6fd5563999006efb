import { describe, expect, test } from '@jest/globals';
import type { Attributes } from '../../authz/authorizer.ts';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import { ownerPermissions } from './owner-permissions.ts';

const owner = (more: object = {}): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'd',
  uid: 'u',
  ...more,
});
const blocking = owner({ blockOwnerDeletion: true });
const owned = (...ownerReferences: readonly object[]): object => ({
  metadata: { namespace: 'a', name: 'x', ownerReferences },
});

/** Verb, group, resource with its subresource, namespace and name. */
const asText = ({ verb, group, resource, subresource, namespace, name }: Attributes): string =>
  `${verb} ${group}/${resource}${subresource && `/${subresource}`} ${namespace}/${name}`;

const ofObject = 'delete apps/replicasets a/x';
const ofOwner = 'update apps/deployments/finalizers a/d';
const ofAll = 'update */*/finalizers /';
const cannotDelete = /cannot set an ownerRef on a resource you can't delete: , <nil>$/;
const cannotBlock =
  /cannot set blockOwnerDeletion .* a resource you can't set finalizers on: , <nil>$/;
const unknownKind = /cannot find RESTMapping for APIVersion example.com\/v1 Kind Other$/;

const ask = async (
  object: object,
  old: object | undefined,
  granted: readonly string[],
  change: object = {},
): Promise<string | undefined> => {
  const allows = (attributes: Attributes): boolean => granted.includes(asText(attributes));
  const resource = resourceOf('replicasets', 'apps');
  const operation = old === undefined ? 'CREATE' : 'UPDATE';
  const write = { resource, operation, old, ...change } as const;
  return (await admit(ownerPermissions, { allows }, object, write)).refused;
};

describe('an update', () => {
  test.each([
    ['that leaves the owners', owned(blocking), owned(blocking), [], undefined],
    ['that makes an owner', owned(owner()), owned(), [], cannotDelete],
    ['that takes one off', owned(), owned(owner()), [], cannotDelete],
    ['by who may delete the object', owned(owner()), owned(), [ofObject], undefined],
    ['that blocks', owned(blocking), owned(owner()), [ofObject], cannotBlock],
    [
      'that blocks, by who may hold the owner',
      owned(blocking),
      owned(owner()),
      [ofObject, ofOwner],
      undefined,
    ],
    [
      'that blocks, by who may hold everything',
      owned(blocking),
      owned(owner()),
      [ofObject, ofAll],
      undefined,
    ],
    ['that blocks no more', owned(owner()), owned(blocking), [ofObject], undefined],
  ])(
    'p.OwnerReferencesPermissionEnforcement: %s',
    async (_claim, object, old, granted, message) => {
      const refused = await ask(object, old, granted);
      if (message === undefined) expect(refused).toBeUndefined();
      else expect(refused).toMatch(message);
    },
  );

  test('of the status of a pod is not judged', async () => {
    const change = { resource: resourceOf('pods'), subresource: 'status' };
    expect(await ask(owned(), owned(owner()), [], change)).toBeUndefined();
  });
});

describe('a create', () => {
  const other = owner({ apiVersion: 'example.com/v1', kind: 'Other', blockOwnerDeletion: true });
  const node = owner({ apiVersion: 'v1', kind: 'Node', name: 'n', blockOwnerDeletion: true });

  test.each([
    ['with an owner', owned(owner()), [], undefined],
    ['that blocks', owned(blocking), [], cannotBlock],
    ['that blocks, by who may hold the owner', owned(blocking), [ofOwner], undefined],
    [
      'that blocks an owner without namespace',
      owned(node),
      ['update /nodes/finalizers /n'],
      undefined,
    ],
    ['that blocks one of two', owned(blocking, node), [ofOwner], cannotBlock],
    ['that blocks what nobody knows', owned(other), [], unknownKind],
  ])('%s', async (_claim, object, granted, message) => {
    const refused = await ask(object, undefined, granted);
    if (message === undefined) expect(refused).toBeUndefined();
    else expect(refused).toMatch(message);
  });
});

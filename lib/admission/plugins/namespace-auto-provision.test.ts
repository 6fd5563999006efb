import { expect, test } from '@jest/globals';
import type { AdmissionRequest } from '../plugin.ts';
import { alreadyExists, serviceUnavailable } from '../../base/status.ts';
import type { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { resourceOf } from '../testing/asked.ts';
import { admit } from '../testing/cluster.ts';
import type { Known } from '../testing/cluster.ts';
import { namespaceAutoProvision } from './namespace-auto-provision.ts';

const a = { namespaces: [{ metadata: { name: 'a' } }] };
const made = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'a' } };

test.each<[claim: string, known: Known, change: Partial<AdmissionRequest>, isMade: boolean]>([
  ['one that is nowhere is made', {}, {}, true],
  ['one that memory has is not', { memory: a }, {}, false],
  ['one that the store has is not', { store: a }, {}, false],
  ['a dry run makes none', {}, { dryRun: true }, false],
  ['an update makes none', {}, { operation: 'UPDATE' }, false],
  ['a deletion makes none', {}, { operation: 'DELETE' }, false],
  ['an object without makes none', {}, { namespace: '', resource: resourceOf('nodes') }, false],
  ['a namespace makes none', {}, { resource: resourceOf('namespaces') }, false],
])('p.NamespaceAutoProvision: %s', async (_claim, known, change, isMade) => {
  const objects: ApiObject[] = [];
  const onCreate = (object: ApiObject): Promise<unknown> =>
    Promise.resolve(void objects.push(object));
  const plugin = await admit(namespaceAutoProvision, { ...known, onCreate }, {}, change);
  expect(plugin).toMatchObject({ refused: undefined, isChanged: false });
  expect(objects).toEqual(isMade ? [made] : []);
});

test.each<[claim: string, error: StatusError, refused: string | undefined]>([
  [
    'one that appears meanwhile is fine',
    alreadyExists({ group: '', resource: 'namespaces' }, 'a'),
    undefined,
  ],
  ['one that cannot be made is not', serviceUnavailable('no'), '503 no'],
])('p.NamespaceAutoProvision: %s', async (_claim, error, refused) => {
  const onCreate = (): Promise<unknown> => Promise.reject(error);
  expect((await admit(namespaceAutoProvision, { onCreate }, {})).refused).toBe(refused);
});

import { describe, expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import type { KindWrite } from '../validator.ts';
import { selfBlockWarnings } from './self-block.ts';

const naming = namingProfile('svc');
const everything = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*'],
};
const service = { namespace: 'hooks', name: 'gate' };
const nameLabel = naming.resolve('{kubernetes}.io/metadata.name');

function warningsOf(changes: object): readonly string[] {
  const webhook = { name: 'a.b.c', clientConfig: { service }, rules: [everything], ...changes };
  const object = { webhooks: [{ clientConfig: { url: 'https://a/' } }, webhook] };
  return selfBlockWarnings({ object, old: undefined, naming } as unknown as KindWrite);
}

describe('u.self-block: a webhook that fails closed', () => {
  test('on what its own service needs: names the selector that avoids it', () => {
    expect(warningsOf({})).toEqual([
      'webhooks[1]: fails closed on the pods, leases and endpointslices of namespace "hooks", ' +
        'where its own service "gate" is: while that is down they are refused, ' +
        'and it cannot come up again; what excludes them: namespaceSelector: ' +
        `{"matchExpressions":[{"key":"${nameLabel}","operator":"NotIn","values":["hooks"]}]}`,
    ]);
  });

  const expression = (key: string, operator: string, ...values: string[]): object => ({
    namespaceSelector: { matchExpressions: [{ key, operator, values }] },
  });
  const rule = (changes: object): object => ({ rules: [{ ...everything, ...changes }] });
  test.each<[what: string, changes: object, resources: string | undefined]>([
    ['on pods alone', rule({ apiGroups: [''], resources: ['pods'] }), 'the pods of'],
    ['on pods with all below', rule({ resources: ['pods/*'] }), 'the pods of'],
    ['on leases', rule({ apiGroups: [naming.resolve('coordination.{v}')] }), 'the leases of'],
    ['in its namespace alone', expression(nameLabel, 'In', 'hooks'), 'pods, leases and'],
    ['but not in its namespace', expression(nameLabel, 'NotIn', 'hooks'), undefined],
    ['in another namespace', expression(nameLabel, 'In', 'other'), undefined],
    ['where a label says so', expression('gate', 'DoesNotExist'), undefined],
    ['on objects with labels', { objectSelector: { matchLabels: { a: 'b' } } }, undefined],
    ['on conditions', { matchConditions: [{ name: 'a', expression: 'false' }] }, undefined],
    ['on deletions', rule({ operations: ['DELETE'] }), undefined],
    ['on what has no namespace', rule({ scope: 'Cluster' }), undefined],
    ['on secrets', rule({ resources: ['secrets', 'pods/status'] }), undefined],
    ['not at all', { failurePolicy: 'Ignore' }, undefined],
    ['at a URL', { clientConfig: { url: 'https://a/' } }, undefined],
  ])('%s', (_what, changes, resources) => {
    const warnings = warningsOf(changes);
    expect(warnings.length).toBe(resources === undefined ? 0 : 1);
    expect(warnings.join()).toContain(resources ?? '');
  });
});

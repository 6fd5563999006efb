import { describe, expect, test } from '@jest/globals';
import type { Item } from '../cacher/resource-view.ts';
import type { JsonObject } from '../api/type-info.ts';
import { concerningRules } from './concerning-rules.ts';
import type { Place } from './concerning-rules.ts';

const item = (name: string, object: JsonObject): Item =>
  ({ name, revision: 7, corrupted: false, object: () => object }) as unknown as Item;
const rule = (resource: string, group = ''): JsonObject => ({
  operations: ['*'],
  apiGroups: [group],
  apiVersions: ['*'],
  resources: [resource],
});
const place: Place = {
  resources: [{ group: '', resource: 'configmaps' }],
  namespace: 'n',
  labels: [{ own: 'yes' }, undefined],
};
const labels = { tier: 'x' };

const ofWebhook = (webhook: JsonObject, isMutating = false): string => {
  const configurations = [item('c', { webhooks: [webhook] })];
  return concerningRules(
    { webhooks: [{ isMutating, configurations }], policies: [] },
    place,
    labels,
  );
};

describe('webhooks that may concern a place', () => {
  test.each<[string, JsonObject, string]>([
    ['of its resource', { rules: [rule('configmaps')] }, 'w0/c@7'],
    ['of a subresource of it', { rules: [rule('configmaps/*')] }, 'w0/c@7'],
    ['of everything', { rules: [rule('*', '*')] }, 'w0/c@7'],
    ['of another resource', { rules: [rule('secrets')] }, ''],
    ['of another group', { rules: [rule('configmaps', 'apps')] }, ''],
    ['without rules', {}, ''],
    [
      'of its namespace',
      { rules: [rule('*')], namespaceSelector: { matchLabels: labels } },
      'w0/c@7',
    ],
    [
      'of another namespace',
      { rules: [rule('*')], namespaceSelector: { matchLabels: { tier: 'y' } } },
      '',
    ],
    [
      'that select the object',
      { rules: [rule('*')], objectSelector: { matchLabels: { own: 'yes' } } },
      'w0/c@7',
    ],
    [
      'that select other objects',
      { rules: [rule('*')], objectSelector: { matchLabels: { own: 'no' } } },
      '',
    ],
    [
      'whose selector cannot be evaluated',
      { rules: [rule('*')], objectSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
      'w0/c@7',
    ],
  ])('%s', (_claim, webhook, found) => {
    expect(ofWebhook(webhook)).toBe(found);
  });

  test('that mutate, whatever they select: others may have taken away the labels since', () => {
    const webhook = { rules: [rule('*')], objectSelector: { matchLabels: { own: 'no' } } };
    expect(ofWebhook(webhook, true)).toBe('w0/c@7');
  });
});

test('policies that may concern a place come with their bindings, and no others', () => {
  const policy = (name: string, resource: string): Item =>
    item(name, { spec: { matchConstraints: { resourceRules: [rule(resource)] } } });
  const binding = (name: string, policyName: string): Item => item(name, { spec: { policyName } });
  const set = {
    isMutating: false,
    policies: [policy('a', 'configmaps'), policy('b', 'secrets')],
    bindings: [binding('x', 'a'), binding('y', 'b'), binding('z', 'a')],
  };
  const found = concerningRules({ webhooks: [], policies: [set] }, place, labels);
  expect(found).toBe('p0/a@7 b0/x@7 b0/z@7');
});

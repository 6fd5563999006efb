import { describe, expect, test } from '@jest/globals';
import { admit } from '../testing/cluster.ts';
import type { Admitted } from '../testing/cluster.ts';
import { podNodeSelector } from './pod-node-selector.ts';

const annotation = 'scheduler.alpha.svc.io/node-selector';
const podNodeSelectorPluginConfig = { clusterDefaultNodeSelector: 'env=all', a: 'env=a, disk=ssd' };

const ask = (
  nodeSelector: object | undefined,
  selector: string | undefined,
  configuration?: object,
): Promise<Admitted> => {
  const annotations = selector === undefined ? {} : { [annotation]: selector };
  const memory = { namespaces: [{ metadata: { name: 'a', annotations } }] };
  const pod = { metadata: { name: 'x' }, spec: nodeSelector === undefined ? {} : { nodeSelector } };
  return admit(podNodeSelector, { memory, ...(configuration && { configuration }) }, pod);
};

describe('a pod', () => {
  const bounded = { podNodeSelectorPluginConfig: { a: 'env=a,disk=ssd' } };

  test.each([
    [undefined, undefined, undefined, {}],
    [undefined, 'env=a', undefined, { nodeSelector: { env: 'a' } }],
    [{ b: 'c' }, 'env=a,d=', undefined, { nodeSelector: { b: 'c', env: 'a', d: '' } }],
    [undefined, '', { podNodeSelectorPluginConfig }, {}],
    [undefined, 'disk=ssd', { podNodeSelectorPluginConfig }, { nodeSelector: { disk: 'ssd' } }],
    [{ env: 'a' }, undefined, bounded, { nodeSelector: { env: 'a' } }],
  ])(
    'p.PodNodeSelector: that selects %j, in a namespace with %j and %j',
    async (given, selector, config, spec) => {
      const { object, refused } = await ask(given, selector, config);
      expect(refused).toBeUndefined();
      expect(object['spec']).toEqual(spec);
    },
  );

  const conflict = 'pod node label selector conflicts with its namespace node label selector';
  const outside = 'pod node label selector labels conflict with its namespace whitelist';

  test.each([
    [{ env: 'b' }, 'env=a', undefined, conflict],
    [{ env: 'b' }, undefined, { podNodeSelectorPluginConfig }, conflict],
    [undefined, undefined, { podNodeSelectorPluginConfig }, outside],
    [{ other: 'x' }, undefined, bounded, outside],
    [undefined, 'env', undefined, `${annotation}: invalid selector: env`],
  ])(
    'that selects %j, in a namespace with %j and %j, is 403',
    async (given, selector, config, text) => {
      const { refused } = await ask(given, selector, config);
      expect(refused).toBe(`403 pods "x" is forbidden: ${text}`);
    },
  );
});

test.each([
  [{ other: {} }, /unknown field "other"/],
  [{ podNodeSelectorPluginConfig: [] }, /podNodeSelectorPluginConfig: must be an object/],
  [{ podNodeSelectorPluginConfig: { a: 1 } }, /podNodeSelectorPluginConfig\.a: must be a text/],
  [{ podNodeSelectorPluginConfig: { a: 'b' } }, /podNodeSelectorPluginConfig\.a: invalid selector/],
])('the configuration %j is refused', async (configuration, message) => {
  await expect(ask(undefined, undefined, configuration)).rejects.toThrow(message);
});

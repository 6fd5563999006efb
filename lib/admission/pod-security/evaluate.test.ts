import { expect, test } from '@jest/globals';
import { checks } from './evaluate.ts';
import { always, findsIn } from './testing/found-in-pods.ts';

findsIn([
  ['lets a hardened pod in', {}, always('')],
  [
    'lists the baseline first, each check in the order of its id',
    {
      spec: { hostPID: true, volumes: [{ name: 'v', hostPath: {} }] },
      containers: [{ name: 'a', ports: [{ hostPort: 80 }] }],
    },
    {
      'baseline:latest':
        'host namespaces (hostPID=true), hostPath volumes (volume "v"), ' +
        'hostPort (container "a" uses hostPort 80)',
      'restricted:latest':
        'host namespaces (hostPID=true), hostPort (container "a" uses hostPort 80), ' +
        'allowPrivilegeEscalation != false (container "a" must set ' +
        'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities ' +
        '(container "a" must set securityContext.capabilities.drop=["ALL"]), restricted volume ' +
        'types (volume "v" uses restricted volume type "hostPath")',
    },
  ],
]);

test('has checks whose versions ascend, and which override what there is', () => {
  const ids = checks.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { versions, overrides, level } of checks) {
    const since = versions.map((version) => version.since);
    expect(since).toEqual([...new Set(since)].sort((one, other) => one - other));
    if (overrides === undefined) continue;
    expect(ids).toContain(overrides);
    expect(level).toBe('restricted');
  }
});

// The priority classes that every cluster has, above all that users may define.

export interface SystemPriorityClass {
  readonly name: string;
  readonly value: number;
  readonly description: string;
}

export const systemPriorityClasses: readonly SystemPriorityClass[] = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another ' +
      'node if necessary.',
  },
];

// Every kind of attack, in the order in which a round runs them.
import { Attacker } from './attacker.ts';
import type { Attack, Victim } from './attacker.ts';
import { bodies } from './bodies.ts';
import { connections } from './connections.ts';
import { heads } from './heads.ts';
import { http2Floods } from './http2-floods.ts';
import { watches } from './watches.ts';

export const attacks: readonly Attack[] = [
  ...bodies,
  ...heads,
  ...connections,
  ...http2Floods,
  ...watches,
];

/**
 * One attack with connections of its own, of which none is left open. Resolves with the answers by
 * status.
 */
export async function runAttack(
  attack: Attack,
  victim: Victim,
  round: number,
): Promise<ReadonlyMap<number, number>> {
  const attacker = new Attacker(victim);
  try {
    await attack.run(attacker, round);
  } finally {
    attacker.leave();
  }
  return attacker.answers;
}

/** The collections that the server lists in its discovery documents. */
export async function collectionsOf(ask: (path: string) => Promise<string>): Promise<string[]> {
  const groups = JSON.parse(await ask('/apis')) as {
    groups: { versions: { groupVersion: string }[] }[];
  };
  const roots = [
    '/api/v1',
    ...groups.groups.flatMap(({ versions }) =>
      versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
    ),
  ];
  const collections: string[] = [];
  for (const root of roots) {
    const { resources } = JSON.parse(await ask(root)) as { resources: { name: string }[] };
    for (const { name } of resources) {
      if (!name.includes('/')) collections.push(`${root}/${name}`);
    }
  }
  return collections;
}

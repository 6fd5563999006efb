// Every kind of attack, in the order in which a round runs them.
import { Attacker } from './attacker.ts';
import type { Attack, Victim } from './attacker.ts';
import { bodies } from './bodies.ts';
import { connections } from './connections.ts';
import { heads } from './heads.ts';
import { http2Floods } from './http2-floods.ts';
import { watches } from './watches.ts';
import { Connection, requestBytes } from '../support/http1-client.ts';

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
export async function servedCollections(port: number): Promise<string[]> {
  const connection = await Connection.open(port, { keepBodies: true });
  const ask = async (path: string): Promise<unknown> => {
    const { body } = await connection.request(requestBytes('GET', path));
    return JSON.parse(body?.toString() ?? '');
  };
  try {
    const { groups } = (await ask('/apis')) as { groups: { versions: ServedVersion[] }[] };
    const served = groups.flatMap(({ versions }) => versions);
    const roots = ['/api/v1', ...served.map(({ groupVersion }) => `/apis/${groupVersion}`)];
    const collections: string[] = [];
    for (const root of roots) {
      const { resources } = (await ask(root)) as { resources: { name: string }[] };
      const names = resources.map(({ name }) => name).filter((name) => !name.includes('/'));
      collections.push(...names.map((name) => `${root}/${name}`));
    }
    return collections;
  } finally {
    connection.close();
  }
}

interface ServedVersion {
  readonly groupVersion: string;
}

// Reads from the log of the store what was written at revisions at which a rule denied it.

import type { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import type { StorageEvent } from '../../lib/storage-etcd/storage.ts';

export interface DeniedWrites {
  readonly findings: readonly string[];
  /** Writes of objects. */
  readonly storedCount: number;
  /** Changes of rules, to deny and to release. */
  readonly changeCount: number;
}

interface Range {
  readonly from: number;
  readonly to: number;
  /** Names below it begin with the label of their lane. */
  readonly objectPrefix: string;
}

const ruleKey =
  /^\/registry\/(?:validatingadmissionpolic|(?:validating|mutating)webhookconfiguration)/;

/** A rule denies a lane while its value holds `"lane":"LABEL"`; nothing does at `from`. */
export async function findingsBetween(
  storage: EtcdStorage,
  { from, to, objectPrefix }: Range,
): Promise<DeniedWrites> {
  /** Lanes that are denied, by the key of the rule. */
  const denied = new Map<string, string>();
  const findings: string[] = [];
  let storedCount = 0;
  let changeCount = 0;
  const take = (event: StorageEvent): void => {
    const key = event.type === 'put' ? event.item.key : event.key;
    if (ruleKey.test(key)) {
      const before = denied.get(key);
      const lane = event.type === 'put' ? laneIn(event.item.value) : undefined;
      if (lane === undefined) denied.delete(key);
      else denied.set(key, lane);
      if (lane !== before) changeCount += 1;
    }
    if (!key.startsWith(objectPrefix)) return;
    storedCount += 1;
    const label = key.slice(objectPrefix.length).split('-')[0] ?? '';
    for (const [rule, lane] of denied) {
      if (lane === label) findings.push(`${rule} denied the ${event.type} of ${key}`);
    }
  };
  const ending = AbortSignal.timeout(60_000);
  for await (const { events, revision } of storage.watch('/registry/', from, ending)) {
    events.forEach(take);
    if (revision >= to) break;
  }
  return { findings, storedCount, changeCount };
}

function laneIn(value: Uint8Array): string | undefined {
  return /"lane":"(l\d+)"/.exec(Buffer.from(value).toString('latin1'))?.[1];
}

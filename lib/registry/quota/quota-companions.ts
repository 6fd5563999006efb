// What quotas add to a write: the object and its charge are one transaction, so that neither is
// ever there without the other. Where a namespace has no quotas, nothing waits and nothing is read.
import { chargesOf, isCounted } from '../../admission/quota/charges.ts';
import type { ChargeParts, QuotaWrite } from '../../admission/quota/charges.ts';
import { measureOf } from '../../admission/quota/usage.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import type { Item } from '../../cacher/resource-view.ts';
import { nameOf } from '../../codec/object-meta.ts';
import type { Commit, Companions, CompanionWrite, Company } from '../companions.ts';
import { QuotaLine } from './quota-line.ts';
import type { QuotaTransactionResult } from './quota-line.ts';
import { QuotaRecords } from './quota-records.ts';
import type { QuotaRecordsOptions } from './quota-records.ts';
import { WaitingWrite } from './waiting-write.ts';

export interface QuotaCompanionsOptions extends QuotaRecordsOptions {
  readonly charging: ChargeParts;
  /** A transaction over quotas ended. */
  readonly observe: (result: QuotaTransactionResult) => void;
}

/** One for all resources of a replica: those of a namespace share its quotas. */
export class QuotaCompanions {
  readonly #options: QuotaCompanionsOptions;
  readonly #records: QuotaRecords;
  /** By namespace; the one that was used last comes last. */
  readonly #lines = new Map<string, QuotaLine>();

  constructor(options: QuotaCompanionsOptions) {
    this.#options = options;
    this.#records = new QuotaRecords(options);
  }

  /** undefined: nothing of this resource is counted. `stored`: in its storage version. */
  of(stored: ResourceInfo): Companions | undefined {
    return measureOf(stored, this.#options.charging.naming) !== undefined
      ? { of: (write) => this.#companyOf(stored, write) }
      : undefined;
  }

  #companyOf(
    resource: ResourceInfo,
    { object, old, context }: CompanionWrite,
  ): Company | undefined {
    if (object === undefined || context === undefined) return undefined;
    const { charging, view } = this.#options;
    const namespace = object.metadata?.namespace ?? '';
    // Not even memory knows: the store has to be asked.
    const quotas = view.epoch === undefined ? undefined : view.all(namespace);
    if (quotas?.length === 0 && charging.limited.length === 0) return undefined;
    const write: QuotaWrite = {
      operation: old === undefined ? 'CREATE' : 'UPDATE',
      resource,
      subresource: context.subresource,
      name: nameOf(object),
      object,
      old: old?.object(),
    };
    if (!isCounted(write, charging)) return undefined;
    if (quotas !== undefined && isFree(write, quotas, charging)) return undefined;
    return { ...nothing, commit: this.#commit(namespace, write) };
  }

  #commit(namespace: string, write: QuotaWrite): Commit {
    return (storage, own, company, signal) => {
      const waiting = new WaitingWrite({ write, own, company, storage, signal });
      if (!waiting.isOver) this.#line(namespace).add(waiting);
      return waiting.answer;
    };
  }

  #line(namespace: string): QuotaLine {
    const known = this.#lines.get(namespace);
    const { charging, observe } = this.#options;
    const line = known ?? new QuotaLine(namespace, { records: this.#records, charging, observe });
    this.#lines.delete(namespace);
    this.#lines.set(namespace, line);
    if (known === undefined) this.#dropIdle();
    return line;
  }

  #dropIdle(): void {
    for (const [namespace, line] of this.#lines) {
      if (this.#lines.size <= limits.quotaLinesKeptMax) return;
      if (line.isIdle) this.#lines.delete(namespace);
    }
  }
}

/** As memory has it: whatever seems not to fit is looked at again. */
function isFree(write: QuotaWrite, quotas: readonly Item[], charging: ChargeParts): boolean {
  const readable = quotas.filter(({ corrupted }) => !corrupted);
  try {
    return (
      chargesOf(
        write,
        readable.map((quota) => quota.object()),
        charging,
      ).length === 0
    );
  } catch {
    return false;
  }
}

/** A charge alone: its keys are chosen when it is sent. */
const nothing: Omit<Company, 'commit'> = {
  conditions: [],
  changes: [],
  lost: () => undefined,
};

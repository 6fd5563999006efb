// The writes of one namespace that quotas limit, at one replica: one transaction is on its way, and
// the next takes all that wait meanwhile. Each is judged by what the quotas say with those before
// it; what no longer fits, or was overtaken, or given up, is answered alone.
import { chargesOf } from '../../admission/quota/charges.ts';
import type { ChargeParts, QuotaWrite } from '../../admission/quota/charges.ts';
import { refusal } from '../../admission/refusal.ts';
import { BeginAnew } from '../../base/begin-anew.ts';
import { limits } from '../../base/limits.ts';
import { StatusError, tooManyRequests } from '../../base/status.ts';
import { isLongTurn, nextTurn } from '../../base/turn.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { nameOf } from '../../codec/object-meta.ts';
import type { Epoch, Revision, Storage, TransactionResult } from '../../storage-etcd/storage.ts';
import { CurrentState, JointTransaction } from './joint-transaction.ts';
import { KnownQuotas } from './known-quotas.ts';
import type { ChargedQuota, QuotaRecords } from './quota-records.ts';
import type { WaitingWrite } from './waiting-write.ts';

const { writeTurnMsMax, quotaWritersInLineMax, quotasOfWriteMax } = limits;

export interface QuotaLineParts {
  readonly records: QuotaRecords;
  readonly charging: ChargeParts;
  readonly observe: (result: QuotaTransactionResult) => void;
}

/** `lost`: something that it depends on had changed, so that nothing was written. */
export type QuotaTransactionResult = 'committed' | 'lost' | 'failed';

/** What the writes of a round are judged by. */
interface Ground {
  readonly storage: Storage;
  readonly epoch: Epoch;
  readonly quotas: readonly Item[];
  /** Read from etcd in this round: by nothing else is anything refused. */
  readonly isProven: boolean;
}

/** What becomes of the writes of a round. */
interface Judged {
  readonly ground: Ground;
  readonly joint: JointTransaction;
  readonly members: WaitingWrite[];
  /** By name: the quotas that the members charge, with all that these do. */
  readonly charged: Map<string, ApiObject>;
  readonly refused: { readonly waiting: WaitingWrite; readonly error: unknown }[];
  /** They began in an epoch that is over. */
  readonly outdated: WaitingWrite[];
  /** For the next round, in their order. */
  readonly later: WaitingWrite[];
}

export class QuotaLine {
  readonly #namespace: string;
  readonly #parts: QuotaLineParts;
  readonly #known: KnownQuotas;
  #waiting: WaitingWrite[] = [];
  #isRunning = false;

  constructor(namespace: string, parts: QuotaLineParts) {
    this.#namespace = namespace;
    this.#parts = parts;
    this.#known = new KnownQuotas(parts.records.view, namespace);
  }

  get isIdle(): boolean {
    return !this.#isRunning;
  }

  /** 429 where too many wait already. */
  add(waiting: WaitingWrite): void {
    if (this.#waiting.length >= quotaWritersInLineMax) {
      waiting.fail(tooManyRequests('too many requests write to this namespace at once', 1));
      return;
    }
    this.#waiting.push(waiting);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  /** Never rejects: what a round throws is the answer of everybody who is in it. */
  async #run(): Promise<void> {
    for (;;) {
      const round = this.#waiting.filter(({ isOver }) => !isOver);
      const [first] = round;
      this.#waiting = [];
      if (first === undefined) break;
      try {
        this.#waiting.unshift(...(await this.#round(first.storage, round)));
      } catch (error) {
        for (const waiting of round) waiting.fail(error);
      }
    }
    this.#isRunning = false;
  }

  /** Those who are to try again, in their order. */
  async #round(storage: Storage, round: readonly WaitingWrite[]): Promise<WaitingWrite[]> {
    const { epoch } = storage;
    const quotas = this.#known.in(epoch);
    const isKnown = quotas !== undefined;
    const ground = isKnown
      ? { storage, epoch, quotas, isProven: false }
      : await this.#read(storage);
    let judged = await this.#judge(round, ground);
    if (judged.refused.length > 0 && !ground.isProven) {
      judged = await this.#judge(round, await this.#read(storage));
    }
    for (const { waiting, error } of judged.refused) void waiting.refuse(error);
    for (const waiting of judged.outdated) void waiting.startOver();
    const survivors = judged.members.length === 0 ? [] : await this.#commit(judged);
    return [...survivors, ...judged.later];
  }

  async #read(storage: Storage): Promise<Ground> {
    const { epoch } = storage;
    const { items, revision } = await this.#parts.records.read(
      storage,
      this.#namespace,
      unending(),
    );
    this.#known.tellAll(items, revision, epoch);
    const quotas = items.filter(({ corrupted }) => !corrupted);
    return { storage, epoch, quotas, isProven: true };
  }

  async #judge(round: readonly WaitingWrite[], ground: Ground): Promise<Judged> {
    const judged: Judged = {
      ...{ ground, joint: new JointTransaction(), charged: new Map() },
      ...{ members: [], refused: [], outdated: [], later: [] },
    };
    let isFull = false;
    for (const waiting of round) {
      if (isLongTurn(writeTurnMsMax)) await nextTurn();
      if (waiting.isOver) continue;
      if (isFull || waiting.storage !== ground.storage) judged.later.push(waiting);
      else isFull = this.#judgeOne(waiting, judged) === 'full';
    }
    return judged;
  }

  #judgeOne(waiting: WaitingWrite, judged: Judged): 'full' | undefined {
    const { ground, joint, members, charged, refused, outdated, later } = judged;
    const { epoch } = waiting.own;
    if (epoch !== undefined && epoch !== ground.epoch) {
      outdated.push(waiting);
      return undefined;
    }
    const [first] = members;
    if (first !== undefined && (this.#isAlone(first) || this.#isAlone(waiting))) {
      later.push(waiting);
      return undefined;
    }
    const verdict = this.#charges(waiting, ground, charged);
    if ('error' in verdict) {
      // Beside others it may only come too late: they may still fail.
      const alone = charged.size === 0 ? verdict : this.#charges(waiting, ground, new Map());
      if ('error' in alone) refused.push({ waiting, error: alone.error });
      else later.push(waiting);
      return undefined;
    }
    const more = [...verdict.charges.keys()].filter((name) => !charged.has(name));
    const room = joint.roomFor(waiting, charged.size + more.length);
    if (room !== 'room') {
      later.push(waiting);
      return room === 'full' ? room : undefined;
    }
    joint.add(waiting);
    members.push(waiting);
    for (const [name, quota] of verdict.charges) charged.set(name, quota);
    return undefined;
  }

  /** No quota is written and charged in one transaction. */
  #isAlone({ own, isSolitary }: WaitingWrite): boolean {
    return isSolitary || this.#parts.records.isKey(own.change.key);
  }

  /** What the write changes, by name of the quota, or why it may not be. */
  #charges(
    waiting: WaitingWrite,
    { quotas }: Ground,
    charged: ReadonlyMap<string, ApiObject>,
  ): { readonly charges: ReadonlyMap<string, ApiObject> } | { readonly error: unknown } {
    const { records, charging } = this.#parts;
    const { write, own } = waiting;
    const judging = quotas
      .filter(({ name }) => records.key(this.#namespace, name) !== own.change.key)
      .map((item) => charged.get(item.name) ?? item.object());
    try {
      const changed = chargesOf(write, judging, charging).map((one) => one.charged);
      if (changed.length > quotasOfWriteMax) throw tooManyQuotas(write, changed.length);
      return { charges: new Map(changed.map((quota) => [nameOf(quota), quota])) };
    } catch (error) {
      return { error };
    }
  }

  /** Those who are to try again. */
  async #commit({ ground, joint, members, charged }: Judged): Promise<WaitingWrite[]> {
    const { storage, epoch, quotas } = ground;
    const { observe } = this.#parts;
    const records = this.#addCharges(joint, quotas, charged);
    const { conditions, changes } = joint;
    const sentIn = storage.epoch;
    let result: TransactionResult;
    try {
      result = await storage.transact({ conditions, changes, epoch }, unending());
    } catch (error) {
      observe('failed');
      return apart(members, error);
    }
    if (result.ok) {
      observe('committed');
      const { revision } = result;
      this.#tellWritten(records, revision, sentIn);
      for (const waiting of members) waiting.end({ ok: true, revision });
      return [];
    }
    observe('lost');
    const found = new CurrentState(conditions, result.current);
    this.#tellFound(quotas, charged, found, sentIn);
    const isEpochOver = storage.epoch !== epoch;
    const survivors: WaitingWrite[] = [];
    for (const waiting of members) {
      if (await waiting.survives(found, { isEpochOver })) survivors.push(waiting);
    }
    return survivors;
  }

  /** What is going to be stored, by name of the quota. */
  #addCharges(
    joint: JointTransaction,
    quotas: readonly Item[],
    charged: ReadonlyMap<string, ApiObject>,
  ): ReadonlyMap<string, ChargedQuota> {
    const records = new Map<string, ChargedQuota>();
    for (const { name, revision } of quotas) {
      const quota = charged.get(name);
      if (quota === undefined) continue;
      const record = this.#parts.records.written(this.#namespace, name, quota);
      const { key, value } = record;
      records.set(name, record);
      joint.addChange({ type: 'put', key, value }, revision);
    }
    return records;
  }

  #tellWritten(records: ReadonlyMap<string, ChargedQuota>, revision: Revision, epoch: Epoch): void {
    for (const [name, { key, value, encoded }] of records) {
      const stored = { key, value, modRevision: revision, createRevision: 0 };
      const item = this.#parts.records.view.itemOf(stored, encoded);
      this.#known.tell(name, { revision, item }, epoch);
    }
  }

  /** `quotas` are those that the transaction was made from. */
  #tellFound(
    quotas: readonly Item[],
    charged: ReadonlyMap<string, ApiObject>,
    found: CurrentState,
    epoch: Epoch,
  ): void {
    const { records } = this.#parts;
    for (const { name, revision } of quotas) {
      if (!charged.has(name)) continue;
      const stored = found.of(records.key(this.#namespace, name));
      const told =
        stored === undefined
          ? { revision, item: undefined }
          : { revision: stored.modRevision, item: records.view.itemOf(stored) };
      this.#known.tell(name, told, epoch);
    }
  }
}

/** Of the transactions of a line: each ends by itself, whoever of its writers gives up. */
const unending = (): AbortSignal => new AbortController().signal;

/**
 * Each by itself, unless nobody would fare better: the failure of one is not that of the others.
 * @returns those who are to try again
 */
function apart(members: readonly WaitingWrite[], error: unknown): WaitingWrite[] {
  const isRefused =
    error instanceof BeginAnew || (error instanceof StatusError && error.code < serverIsAway);
  for (const waiting of members) {
    if (isRefused && members.length > 1) waiting.isSolitary = true;
    else waiting.fail(error);
  }
  return members.filter(({ isOver }) => !isOver);
}

/** 503 and 504, after which the outcome may be unknown. */
const serverIsAway = 503;

const tooManyQuotas = (write: QuotaWrite, count: number): StatusError =>
  refusal(
    write,
    write.object,
    `${String(count)} quotas count it, more than the ${String(quotasOfWriteMax)} ` +
      'that one write can be charged to',
  );

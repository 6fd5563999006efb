// Authorizers by a configuration that changes while requests come: each request is decided wholly
// by the configuration that was in force when it was asked about.
import type { WaitEnd } from '../../base/abort.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { User } from '../../base/user.ts';
import type { Attributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts';
import { unionAuthorizer } from '../union.ts';
import type { AuthorizerConfig } from './configuration.ts';

export interface OpenedAuthorizer {
  readonly authorizer: Authorizer;
  /** It is asked no more; what it is asked already is still answered. */
  readonly close: () => void;
}

/** @throws Error that says why it cannot be used */
export type OpenAuthorizer = (config: AuthorizerConfig) => MaybePromise<OpenedAuthorizer>;

type OpenedByConfig = ReadonlyMap<string, OpenedAuthorizer>;

export class SwitchedAuthorizer implements Authorizer {
  readonly name = 'union';
  readonly #open: OpenAuthorizer;
  #opened: OpenedByConfig;
  #current: Authorizer;
  #types: readonly string[];

  private constructor(open: OpenAuthorizer, opened: OpenedByConfig, types: readonly string[]) {
    this.#open = open;
    this.#opened = opened;
    this.#current = inOrder(opened);
    this.#types = types;
  }

  /** @throws Error of the first that cannot be opened */
  static async start(
    configs: readonly AuthorizerConfig[],
    open: OpenAuthorizer,
  ): Promise<SwitchedAuthorizer> {
    return new SwitchedAuthorizer(open, await openAll(configs, open, new Map()), typesOf(configs));
  }

  /** One at a time. false: nothing would be different. @throws Error: everything stays as it was */
  async replace(configs: readonly AuthorizerConfig[]): Promise<boolean> {
    this.#checkTypes(configs);
    const before = this.#opened;
    if (isSame([...before.keys()], configs.map(keyOf))) return false;
    this.#opened = await openAll(configs, this.#open, before);
    this.#current = inOrder(this.#opened);
    for (const [key, { close }] of before) if (!this.#opened.has(key)) close();
    return true;
  }

  close(): void {
    for (const { close } of this.#opened.values()) close();
  }

  authorize(attributes: Attributes, end: WaitEnd): MaybePromise<Decision> {
    return this.#current.authorize(attributes, end);
  }

  rulesFor(user: User, namespace: string): ResolvedRules {
    return this.#current.rulesFor?.(user, namespace) ?? noRules;
  }

  /** What such an authorizer needs of the cluster is there from the start, or never. */
  #checkTypes(configs: readonly AuthorizerConfig[]): void {
    const types = typesOf(configs);
    const missing = this.#types.filter((type) => !types.includes(type));
    const added = types.filter((type) => !this.#types.includes(type));
    const problems = [
      ...(missing.length === 0 ? [] : [`${missing.join(', ')} cannot be removed`]),
      ...(added.length === 0 ? [] : [`${added.join(', ')} cannot be added`]),
    ];
    if (problems.length === 0) return;
    throw new Error(`authorizers: ${problems.join(' and ')} while the server runs`);
  }
}

const noRules: ResolvedRules = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: false,
  evaluationError: '',
};

const typesOf = (configs: readonly AuthorizerConfig[]): readonly string[] =>
  configs.map(({ type }) => type).filter((type) => type !== 'Webhook');

/** Names are unique, so no two of one configuration are the same. */
const keyOf = (config: AuthorizerConfig): string => JSON.stringify(config);

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((one, index) => one === right[index]);

/** In the order of a Map. */
const inOrder = (opened: OpenedByConfig): Authorizer =>
  unionAuthorizer([...opened.values()].map(({ authorizer }) => authorizer));

/** What has not changed goes on, with all that it remembers. */
async function openAll(
  configs: readonly AuthorizerConfig[],
  open: OpenAuthorizer,
  before: OpenedByConfig,
): Promise<OpenedByConfig> {
  const opened = new Map<string, OpenedAuthorizer>();
  try {
    for (const config of configs) {
      const key = keyOf(config);
      opened.set(key, before.get(key) ?? (await open(config)));
    }
    return opened;
  } catch (error) {
    for (const [key, { close }] of opened) if (!before.has(key)) close();
    throw error;
  }
}

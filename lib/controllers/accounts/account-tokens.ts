// Tokens that lie in Secrets, for clients that cannot ask for others: a Secret of that type gets
// the token of the account that it names, and goes with the account. An account that lists a Secret
// which is gone loses it from its list.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { cloneJson } from '../../api/json-value.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { TokenIssuer } from '../../authn/service-account/token-issuer.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { StatusError } from '../../base/status.ts';
import { follow } from '../../cacher/follow.ts';
import type { Follower } from '../../cacher/follow.ts';
import type { Item, ItemKey, ResourceView, Selection } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting, metaOf } from '../../codec/object-meta.ts';
import type { InternalClient } from '../../registry/internal-client.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { KeyedQueue } from '../controller.ts';
import type { Controller, Outcome, QueueObserver } from '../controller.ts';

export interface AccountTokensOptions {
  readonly secrets: ResourceStore;
  readonly accounts: ResourceStore;
  readonly tokens: TokenIssuer;
  /** PEM: what clients check this server's certificate against. */
  readonly serverCa: string;
  readonly client: InternalClient;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export class AccountTokensController implements Controller {
  readonly name = 'serviceaccount_tokens';
  readonly #options: AccountTokensOptions;
  readonly #type: string;
  readonly #nameAnnotation: string;
  readonly #uidAnnotation: string;
  /** `NAMESPACE/ACCOUNT` → the names of its Secrets. */
  readonly #secretsOf = new Map<string, Set<string>>();
  /** Secrets that are gone → the account that may list them. */
  readonly #goneOf = new Map<string, string>();

  constructor(options: AccountTokensOptions) {
    const domain = options.naming.metadataDomain;
    this.#options = options;
    this.#type = `${domain}/service-account-token`;
    this.#nameAnnotation = `${domain}/service-account.name`;
    this.#uidAnnotation = `${domain}/service-account.uid`;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { secrets, accounts, clock, log, observer } = this.#options;
    const queue = new KeyedQueue({ name: this.name, clock, log, observer }, (key, running) =>
      this.#reconcile(key, running),
    );
    const following = (follower: Follower, view: ResourceView, select: Selection): Promise<void> =>
      follow(follower, { view, select: { ...select, showsUnreadable: true }, log }, signal);
    const addSecretsOf = ({ namespace, name }: Item): void => {
      for (const secret of this.#secretsOf.get(`${namespace}/${name}`) ?? []) {
        queue.add(`${namespace}/${secret}`);
      }
    };
    const ofType = [{ path: 'type', operator: '=', value: this.#type }] as const;
    const noted = (isThere: boolean) => (item: Item) => {
      this.#note(item, isThere);
      queue.add(`${item.namespace}/${item.name}`);
    };
    await Promise.all([
      queue.run(signal),
      following({ present: noted(true), absent: noted(false) }, secrets.view, { fields: ofType }),
      following({ present: addSecretsOf, absent: addSecretsOf }, accounts.view, {}),
    ]);
  }

  /** By the annotation of the last state that was seen; older ones found another account. */
  #note(secret: Item, isThere: boolean): void {
    if (secret.corrupted) return;
    const account = this.#annotation(secret, this.#nameAnnotation);
    const key = `${secret.namespace}/${account}`;
    const names = this.#secretsOf.get(key) ?? new Set();
    if (isThere) {
      this.#secretsOf.set(key, names.add(secret.name));
      this.#goneOf.delete(`${secret.namespace}/${secret.name}`);
      return;
    }
    names.delete(secret.name);
    if (names.size === 0) this.#secretsOf.delete(key);
    this.#goneOf.set(`${secret.namespace}/${secret.name}`, account);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const [namespace = '', name = ''] = key.split('/');
    const item = this.#options.secrets.view.peek({ namespace, name });
    try {
      if (item === undefined) await this.#unlist(key, { namespace, name }, signal);
      else if (this.#isOurs(item)) await this.#settle(item, signal);
    } catch (error) {
      // The Secret, the account or their namespace has changed: an event tells what they are.
      if (!(error instanceof StatusError) || ![404, 409].includes(error.code)) throw error;
    }
    return 'done';
  }

  #isOurs(item: Item): boolean {
    if (item.corrupted || isDeleting(item.object())) return false;
    return textAt(item.object(), 'type') === this.#type;
  }

  #annotation = (item: Item, name: string): string =>
    textAt(recordAt(item.object().metadata, 'annotations'), name);

  /** Fills the Secret, or deletes it where its account is gone. */
  async #settle(secret: Item, signal: AbortSignal): Promise<void> {
    const { accounts, secrets, client } = this.#options;
    const { namespace, name } = secret;
    const key = { namespace, name: this.#annotation(secret, this.#nameAnnotation) };
    const wanted = this.#annotation(secret, this.#uidAnnotation);
    const isMeant = (account: Item | undefined): account is Item =>
      account?.corrupted === false &&
      (wanted === '' || textAt(account.object().metadata, 'uid') === wanted);
    let account = accounts.view.peek(key);
    // Memory may not know the account yet: only what etcd says costs the Secret its life.
    if (!isMeant(account)) account = await accounts.view.get(key, { mode: 'latest' }, signal);
    if (account?.corrupted === true) return;
    if (isMeant(account)) {
      const object = await this.#filled(secret, account);
      const path = { namespace, name, subresource: '' };
      if (object !== undefined) await client.update(secrets, { path, object }, signal);
      return;
    }
    const uid = textAt(secret.object().metadata, 'uid');
    const preconditions = { uid, resourceVersion: undefined };
    const path = { namespace, name, subresource: '' };
    await client.delete(secrets, { path, options: { preconditions } }, signal);
  }

  /** undefined: it has all that it should. */
  async #filled(secret: Item, account: Item): Promise<ApiObject | undefined> {
    const { tokens, serverCa } = this.#options;
    const { namespace, name } = secret;
    const ca = base64(serverCa);
    const data = recordAt(secret.object(), 'data');
    const uid = textAt(account.object().metadata, 'uid');
    const [hasToken, hasNamespace] = [textAt(data, 'token'), textAt(data, 'namespace')];
    const isKnown = this.#annotation(secret, this.#uidAnnotation) === uid;
    const isWhole = hasToken !== '' && hasNamespace !== '' && textAt(data, 'ca.crt') === ca;
    if (isWhole && isKnown) return undefined;
    const claims = { namespace, account: { name: account.name, uid }, secretName: name };
    const token = hasToken === '' ? base64(await tokens.issueLegacy(claims)) : hasToken;
    const object = cloneJson(secret.object()) as ApiObject;
    const own = { 'ca.crt': ca, namespace: hasNamespace || base64(namespace), token };
    object['data'] = { ...data, ...own };
    const annotations = { ...object.metadata?.annotations, [this.#uidAnnotation]: uid };
    metaOf(object).annotations = { ...annotations, [this.#nameAnnotation]: account.name };
    return object;
  }

  /** Takes a Secret that is gone off the list of its account. */
  async #unlist(gone: string, key: ItemKey, signal: AbortSignal): Promise<void> {
    const { accounts, secrets, client } = this.#options;
    const name = this.#goneOf.get(gone);
    if (name === undefined) return;
    const { namespace } = key;
    const account = accounts.view.peek({ namespace, name });
    const isListed = (item: Item | undefined): item is Item =>
      item?.corrupted === false &&
      recordsAt(item.object(), 'secrets').some((listed) => listed['name'] === key.name);
    if (isListed(account) && (await secrets.view.get(key, now, signal)) === undefined) {
      const object = cloneJson(account.object()) as ApiObject;
      object['secrets'] = recordsAt(object, 'secrets').filter((one) => one['name'] !== key.name);
      const path = { namespace, name, subresource: '' };
      await client.update(accounts, { path, object }, signal);
    }
    this.#goneOf.delete(gone);
  }
}

const now = { mode: 'latest' } as const;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

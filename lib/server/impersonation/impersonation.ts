// May one user act as another? Asks the authorizer about each thing that the other user is to be,
// and gives that user. What is refused is refused in the words of the first refusal.
import type { NamingProfile } from '../../api/vendor.ts';
import type { Attributes, Authorizer } from '../../authz/authorizer.ts';
import type { WaitEnd } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { ExpiringMap } from '../../base/expiring-map.ts';
import { limits } from '../../base/limits.ts';
import { StatusError } from '../../base/status.ts';
import type { User } from '../../base/user.ts';
import { anonymousUser, authenticatedGroup, mastersGroup } from '../../base/user.ts';
import { refusal } from '../filters/authorize.ts';
import { extraProblem } from './extra-rules.ts';
import { constrainedModes, impliedGroups, knownName } from './modes.ts';
import type { Asked, ConstrainedMode } from './modes.ts';
import type { WantedUser } from './wanted-user.ts';

export interface ImpersonationOptions {
  readonly authorizer: Authorizer;
  readonly naming: Pick<NamingProfile, 'resolve'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Gate ConstrainedImpersonation; off, `impersonate` is all there is. */
  readonly isConstrained: boolean;
}

export interface Impersonated {
  readonly user: User;
  /** The permission that let somebody be that user, where it lets them do but a part; else ''. */
  readonly constraint: string;
}

type Mode = ConstrainedMode | 'legacy';

export class Impersonation {
  readonly #options: ImpersonationOptions;
  readonly #group: string;
  readonly #nodeNameKey: string;
  readonly #nodeKeysKey: string;
  /** The mode that a user was last allowed in, which is tried first. */
  readonly #lastModes: ExpiringMap<Mode>;

  constructor(options: ImpersonationOptions) {
    const { naming, clock } = options;
    this.#options = options;
    this.#group = naming.resolve('authentication.{v}');
    this.#nodeNameKey = naming.resolve('authentication.{kubernetes}.io/node-name');
    this.#nodeKeysKey = naming.resolve('authentication.{kubernetes}.io/associated-node-keys');
    this.#lastModes = new ExpiringMap({
      countMax: limits.impersonatorsKeptMax,
      nowMs: () => clock.monotonicMs(),
    });
  }

  /** @param request what the sender, who is its user, wants to do. @throws StatusError 403. */
  async as(wanted: WantedUser, request: Attributes, end: WaitEnd): Promise<Impersonated> {
    const requestor = request.user;
    const known = knownName(wanted.name);
    const asked = { wanted, known, requestor, nodeNameKey: this.#nodeNameKey };
    if (!this.#options.isConstrained) return this.#legacy(asked, end);
    let refused: Error | undefined;
    for (const mode of this.#modesFor(asked)) {
      try {
        const user = await (mode === 'legacy'
          ? this.#legacy(asked, end)
          : this.#constrained(mode, asked, request, end));
        this.#lastModes.set(requestor.name, mode, limits.impersonatorsKeptMs);
        return user;
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        refused ??= error;
      }
    }
    throw refused as Error; // 'legacy' is always among them
  }

  #modesFor(asked: Asked): readonly Mode[] {
    const modes: Mode[] = constrainedModes.flatMap(([mode, applies]) =>
      applies(asked) ? [mode] : [],
    );
    modes.push('legacy');
    const last = this.#lastModes.get(asked.requestor.name);
    if (last === undefined || !modes.includes(last)) return modes;
    return [last, ...modes.filter((mode) => mode !== last)];
  }

  async #legacy({ wanted, known, requestor }: Asked, end: WaitEnd): Promise<Impersonated> {
    const verb = 'impersonate';
    const { isConstrained } = this.#options;
    const plain = { user: requestor, verb, group: '' };
    const own = { user: requestor, verb, group: this.#group };
    const { account } = known;
    const who =
      account === undefined
        ? { resource: 'users', name: wanted.name }
        : { resource: 'serviceaccounts', ...account };
    await this.#check({ ...plain, ...who }, end);
    // Which question comes first shows in the text of the refusal alone.
    if (isConstrained) await this.#checkUid(own, wanted, end);
    for (const name of wanted.groups)
      await this.#check({ ...plain, resource: 'groups', name }, end);
    await this.#checkExtra(own, wanted, end);
    if (!isConstrained) await this.#checkUid(own, wanted, end);
    return { user: completed(wanted, impliedGroups(known, false)), constraint: '' };
  }

  async #constrained(
    mode: ConstrainedMode,
    asked: Asked,
    request: Attributes,
    end: WaitEnd,
  ): Promise<Impersonated> {
    const { wanted, known } = asked;
    const isAssociated = mode === 'associated-node';
    const user = isAssociated ? this.#withoutValues(asked.requestor) : asked.requestor;
    const { fieldSelector, labelSelector } = request;
    const on = { ...request, user, fieldSelector, labelSelector };
    await this.#check({ ...on, verb: `impersonate-on:${mode}:${request.verb}` }, end);
    const verb = `impersonate:${mode}`;
    const question = { user, verb, group: this.#group };
    const { account, node } = known;
    if (account !== undefined) {
      await this.#check({ ...question, resource: 'serviceaccounts', ...account }, end);
    } else if (node !== undefined) {
      // Of its own node: of whichever it is on.
      await this.#check({ ...question, resource: 'nodes', name: isAssociated ? '*' : node }, end);
    } else await this.#check({ ...question, resource: 'users', name: wanted.name }, end);
    await this.#checkUid(question, wanted, end);
    await this.#checkGroups(question, wanted, end);
    await this.#checkConstrainedExtra(question, wanted, end);
    return { user: completed(wanted, impliedGroups(known, true)), constraint: verb };
  }

  /** Policy need not know the node: it is the account's own. */
  #withoutValues(requestor: User): User {
    return { ...requestor, extra: { [this.#nodeKeysKey]: Object.keys(requestor.extra).sort() } };
  }

  async #checkUid(question: Question, { uid }: WantedUser, end: WaitEnd): Promise<void> {
    if (uid !== '') await this.#check({ ...question, resource: 'uids', name: uid }, end);
  }

  async #checkGroups(question: Question, { groups }: WantedUser, end: WaitEnd): Promise<void> {
    const about = { ...question, resource: 'groups' };
    if (groups.includes('')) {
      throw refused({ ...about, name: '' }, 'impersonating the empty string group is not allowed');
    }
    if (groups.includes(mastersGroup)) {
      const why = `impersonating the ${mastersGroup} group is not allowed`;
      throw refused({ ...about, name: mastersGroup }, why);
    }
    if (groups.length >= many && (await this.#isAllowed({ ...about, name: '*' }, end))) return;
    for (const name of groups) await this.#check({ ...about, name }, end);
  }

  async #checkConstrainedExtra(
    question: Question,
    wanted: WantedUser,
    end: WaitEnd,
  ): Promise<void> {
    const { extra } = wanted;
    const about = { ...question, resource: 'userextras' };
    const problem = extraProblem(extra);
    if (problem !== undefined) throw refused({ ...about, name: '' }, problem);
    const count = Object.values(extra).reduce((sum, values) => sum + values.length, 0);
    const all = { ...about, subresource: '*', name: '*' };
    if (count >= many && (await this.#isAllowed(all, end))) return;
    await this.#checkExtra(question, wanted, end);
  }

  async #checkExtra(question: Question, { extra }: WantedUser, end: WaitEnd): Promise<void> {
    for (const [subresource, values] of Object.entries(extra)) {
      for (const name of values) {
        await this.#check({ ...question, resource: 'userextras', subresource, name }, end);
      }
    }
  }

  /** @throws StatusError 403. */
  async #check(question: Question, end: WaitEnd): Promise<void> {
    const attributes = attributesOf(question);
    const { effect, reason, error } = await this.#options.authorizer.authorize(attributes, end);
    if (effect === 'allow') return;
    throw refusal(attributes, [error ?? '', reason].filter((text) => text !== '').join(': '));
  }

  async #isAllowed(question: Question, end: WaitEnd): Promise<boolean> {
    const { authorizer } = this.#options;
    return (await authorizer.authorize(attributesOf(question), end)).effect === 'allow';
  }
}

/** So many questions are preceded by one about all of them. */
const many = 4;

type Question = Partial<Attributes> & Pick<Attributes, 'user' | 'verb' | 'group'>;

const attributesOf = (question: Question): Attributes => ({
  isResourceRequest: true,
  version: 'v1',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: undefined,
  labelSelector: undefined,
  path: '',
  ...question,
});

const refused = (question: Question, why: string): StatusError =>
  refusal(attributesOf(question), why);

const [unauthenticatedGroup = ''] = anonymousUser.groups;

/** Everybody is known or nobody; who names one of the two groups decides it. */
function completed(wanted: WantedUser, implied: readonly string[]): User {
  const groups = wanted.groups.length === 0 ? implied : wanted.groups;
  const isNobody = wanted.name === anonymousUser.name;
  const added = isNobody ? unauthenticatedGroup : authenticatedGroup;
  if (groups.includes(added) || groups.includes(unauthenticatedGroup)) return { ...wanted, groups };
  return { ...wanted, groups: [...groups, added] };
}

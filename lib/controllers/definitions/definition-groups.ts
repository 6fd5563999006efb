// What a replica knows of the groups of definitions: who is in them, which names they have, and
// whom to look at.
import { recordAt, textAt } from '../../api/json-access.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { Keyspace } from '../../storage-etcd/keys.ts';
import type { Revision, Storage } from '../../storage-etcd/storage.ts';
import { acceptedNamesOf } from '../../kinds/apiextensions/definition-parts.ts';
import { AcceptedNames } from './accepted-names.ts';
import { GroupClaim } from './group-claim.ts';

export class DefinitionGroup {
  readonly name: string;
  readonly claim: GroupClaim;
  /** By name, at the revision that is known. */
  readonly members = new Map<string, Revision>();
  /** To be looked at. */
  readonly open = new Set<string>();
  /** They want names that others have: looked at again when a name is free. */
  readonly refused = new Set<string>();
  /** What other replicas have accepted up to it is known. */
  toldRevision: Revision = 0;
  /** Set while it waits for another replica. */
  cancelWait: (() => void) | undefined;

  constructor(name: string, claim: GroupClaim) {
    this.name = name;
    this.claim = claim;
  }

  get isEmpty(): boolean {
    return this.members.size === 0;
  }

  openRefused(): void {
    for (const name of this.refused) this.open.add(name);
  }
}

export class DefinitionGroups {
  readonly names = new AcceptedNames();
  readonly #storage: Storage;
  readonly #keyspace: Keyspace;
  readonly #groups = new Map<string, DefinitionGroup>();

  constructor(storage: Storage, keyspace: Keyspace) {
    this.#storage = storage;
    this.#keyspace = keyspace;
  }

  get all(): Iterable<DefinitionGroup> {
    return this.#groups.values();
  }

  get(name: string): DefinitionGroup | undefined {
    return this.#groups.get(name);
  }

  /** Of a definition. */
  of(definition: string): DefinitionGroup | undefined {
    return this.#groups.get(groupOf(definition));
  }

  /** The definition as it was stored then. @returns its group, unless that is older than known. */
  place(item: Item): DefinitionGroup | undefined {
    const definition = item.object();
    const name = textAt(recordAt(definition, 'spec'), 'group');
    const group = this.#made(name);
    if ((group.members.get(item.name) ?? 0) >= item.revision) return undefined;
    group.members.set(item.name, item.revision);
    const accepted = acceptedNamesOf(definition);
    if (this.names.set(item.name, name, accepted)) group.openRefused();
    group.open.add(item.name);
    return group;
  }

  /** @returns its group, unless it was made again. */
  remove({ name, revision }: Item): DefinitionGroup | undefined {
    const group = this.#made(groupOf(name));
    if ((group.members.get(name) ?? 0) > revision) return undefined;
    group.members.delete(name);
    group.open.delete(name);
    group.refused.delete(name);
    if (this.names.set(name, group.name, undefined)) group.openRefused();
    return group;
  }

  /** Nothing is known of it any more, its claim included. */
  forget(group: DefinitionGroup): void {
    if (!group.isEmpty) return;
    group.cancelWait?.();
    this.#groups.delete(group.name);
  }

  /** The state comes again. Claims stay. */
  clear(): void {
    this.names.clear();
    for (const group of this.#groups.values()) {
      const { members, open, refused, claim } = group;
      members.clear();
      open.clear();
      refused.clear();
      claim.forgetOwn();
      group.toldRevision = 0;
    }
  }

  #made(name: string): DefinitionGroup {
    let group = this.#groups.get(name);
    if (group === undefined) {
      const key = this.#keyspace.internalKey(`names-of-${name}`);
      group = new DefinitionGroup(name, new GroupClaim(this.#storage, key, name));
      this.#groups.set(name, group);
    }
    return group;
  }
}

/** The name of a definition is its plural and its group. */
const groupOf = (definition: string): string => definition.slice(definition.indexOf('.') + 1);

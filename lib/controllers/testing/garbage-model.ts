// What garbage collection comes to, worked out naively: rules over plain records, applied one at a
// time until none changes anything. For suites that compare the collector with it.

export interface ModelReference {
  readonly owner: string;
  readonly blocks: boolean;
}

export interface ModelObject {
  readonly id: string;
  /** '' without a namespace. */
  readonly namespace: string;
  references: ModelReference[];
  finalizers: string[];
  isDeleting: boolean;
}

export type ModelPolicy = 'Background' | 'Foreground' | 'Orphan';

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

export class GarbageModel {
  /** What exists. */
  readonly objects = new Map<string, ModelObject>();
  /** Of every object that ever was. */
  readonly #namespaces = new Map<string, string>();

  add(object: ModelObject): void {
    this.objects.set(object.id, object);
    this.#namespaces.set(object.id, object.namespace);
  }

  delete(id: string, policy: ModelPolicy): void {
    const object = this.objects.get(id);
    if (object === undefined) return;
    object.isDeleting = true;
    const others = object.finalizers.filter((name) => name !== foreground && name !== orphan);
    const own = { Background: [], Foreground: [foreground], Orphan: [orphan] }[policy];
    object.finalizers = [...others, ...own];
    this.#removeUnheld(object);
  }

  release(id: string, finalizer: string): void {
    const object = this.objects.get(id);
    if (object === undefined) return;
    object.finalizers = object.finalizers.filter((name) => name !== finalizer);
    this.#removeUnheld(object);
  }

  /** Applies the rules until nothing changes. */
  settle(): void {
    while ([...this.objects.values()].some((object) => this.#step(object)));
  }

  /** False: no rule changes the object. */
  #step(object: ModelObject): boolean {
    if (!this.objects.has(object.id)) return false;
    if (!object.isDeleting) return this.#stepByOwners(object);
    if (object.finalizers.includes(orphan)) {
      for (const { id } of this.#dependentsOf(object)) this.#dropReferences(id, [object.id]);
      this.release(object.id, orphan);
      return true;
    }
    if (!object.finalizers.includes(foreground)) return false;
    if (this.#dependentsOf(object).some((one) => isBlocking(one, object))) return false;
    this.release(object.id, foreground);
    return true;
  }

  #stepByOwners(object: ModelObject): boolean {
    const { references, namespace } = object;
    if (references.length === 0) return false;
    const isImpossible = ({ owner }: ModelReference): boolean =>
      namespace === '' && this.#namespaces.get(owner) !== '';
    if (references.some(isImpossible)) return false;
    const solid: string[] = [];
    const waiting: string[] = [];
    const absent: string[] = [];
    for (const { owner: id } of references) {
      const owner = this.objects.get(id);
      const isElsewhere = owner?.namespace !== '' && owner?.namespace !== namespace;
      if (owner === undefined || isElsewhere) absent.push(id);
      else if (owner.isDeleting && owner.finalizers.includes(foreground)) waiting.push(id);
      else solid.push(id);
    }
    if (solid.length > 0) return this.#dropReferences(object.id, [...absent, ...waiting]);
    const dependents = this.#dependentsOf(object);
    if (waiting.length === 0 || dependents.length === 0) {
      this.delete(object.id, 'Background');
      return true;
    }
    const isWaiting = (one: ModelObject): boolean =>
      one.isDeleting && one.finalizers.includes(foreground);
    if (dependents.some(isWaiting)) {
      object.references = references.map(({ owner }) => ({ owner, blocks: false }));
    }
    this.delete(object.id, 'Foreground');
    return true;
  }

  #dependentsOf({ id }: ModelObject): ModelObject[] {
    return [...this.objects.values()].filter(({ references }) =>
      references.some(({ owner }) => owner === id),
    );
  }

  #dropReferences(id: string, owners: readonly string[]): boolean {
    const object = this.objects.get(id);
    if (object === undefined) return false;
    const left = object.references.filter(({ owner }) => !owners.includes(owner));
    if (left.length === object.references.length) return false;
    object.references = left;
    return true;
  }

  #removeUnheld({ id, isDeleting, finalizers }: ModelObject): void {
    if (isDeleting && finalizers.length === 0) this.objects.delete(id);
  }
}

const isBlocking = ({ id, references }: ModelObject, owner: ModelObject): boolean =>
  id !== owner.id && references.some((one) => one.owner === owner.id && one.blocks);

// The object of a write while configured rules change it, one after the other, each in the version
// that it matched: converted forward and back between those, defaulted after each change, and in
// the end put into the place of the object.
import type { Defaults } from '../../api/defaults.ts';
import { cloneAlike, jsonEqual, setMember } from '../../api/json-value.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { JsonObject, TypeInfo } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { MatchedAs } from './rules.ts';
import { VersionedObjects, inVersion } from './versioned-objects.ts';
import type { Versioned } from './versioned-objects.ts';

/** What the object is at one moment. */
export interface ObjectState {
  /** In the version in which it was looked at last. Never changes. */
  readonly object: Readonly<ApiObject>;
  /** It was changed to become so. */
  readonly isReplaced: boolean;
  /** By which it is canonical, up to the order of members, and has its defaults. */
  readonly readBy: TypeInfo | undefined;
}

export class MutatedObject {
  readonly #request: AdmissionRequest;
  readonly #target: ApiObject;
  readonly #old: VersionedObjects;
  readonly #defaults: Defaults;
  readonly #signal: AbortSignal;
  #state: ObjectState;

  /** `object` is in the form of the request; it changes in `putBack` alone. */
  constructor(
    request: AdmissionRequest,
    object: ApiObject,
    defaults: Defaults,
    signal: AbortSignal,
  ) {
    this.#request = request;
    this.#target = object;
    this.#old = new VersionedObjects(request, undefined, signal);
    this.#defaults = defaults;
    this.#signal = signal;
    // What is posted to a CONNECT is options, which nobody reads through the form.
    const readBy = request.operation === 'CONNECT' ? undefined : request.form.type;
    this.#state = { object, isReplaced: false, readBy };
  }

  get state(): ObjectState {
    return this.#state;
  }

  /**
   * As it is now, with the old object, in the version that a rule matched. Not to be changed.
   * @throws StatusError of the conversion
   */
  as(matched: MatchedAs | undefined): MaybePromise<Versioned> {
    return whenThere(this.#old.as(matched), (version) => {
      const apiVersion = apiVersionOf(version.kind);
      const { object: now, isReplaced } = this.#state;
      const shown = inVersion(this.#request, now, version.kind, apiVersion, this.#signal);
      return whenThere(shown, (object) => {
        if (object !== now) this.#state = { object, isReplaced, readBy: undefined };
        return { ...version, object };
      });
    });
  }

  /**
   * The object as it is now, where what is made of it needs to be read and completed only where it
   * differs: undefined where nothing is known of it, since it was converted.
   */
  baseFor({ type }: Pick<Versioned, 'type'>): Readonly<ApiObject> | undefined {
    const { object, readBy } = this.#state;
    return readBy === type ? object : undefined;
  }

  /**
   * Puts `changed`, which is in the version that `shown` has, in its place, with defaults.
   * @returns whether that changes anything
   */
  replace(changed: Readonly<ApiObject>, shown: Versioned): boolean {
    if (changed === this.#state.object) return false;
    const named = { ...changed, kind: shown.kind.kind, apiVersion: apiVersionOf(shown.kind) };
    const object = this.#completed(named, shown);
    if (jsonEqual(object, this.#state.object)) return false;
    this.#state = { object, isReplaced: true, readBy: shown.type };
    return true;
  }

  #completed(named: Readonly<ApiObject>, shown: Versioned): ApiObject {
    const base = this.baseFor(shown);
    if (base !== undefined) return this.#defaults.completed(named, base, shown.type);
    const object = cloneAlike(named);
    this.#defaults.apply(object, shown.type);
    return object;
  }

  /** Takes back what was done since it was in this state. */
  restore(state: ObjectState): void {
    this.#state = state;
  }

  /**
   * Makes the object what it has become.
   * @returns whether that changes anything
   * @throws StatusError of the conversion
   */
  putBack(): MaybePromise<boolean> {
    const { object: now, isReplaced } = this.#state;
    if (!isReplaced) return false;
    const { kind } = this.#request.form;
    const apiVersion = this.#target.apiVersion ?? apiVersionOf(kind);
    const back = inVersion(this.#request, now, kind, apiVersion, this.#signal);
    return whenThere(back, (object) => {
      if (jsonEqual(object, this.#target)) return false;
      copyInto(this.#target, object);
      return true;
    });
  }
}

function copyInto(target: JsonObject, source: Readonly<JsonObject>): void {
  for (const name of Object.keys(target)) {
    if (!Object.hasOwn(source, name)) Reflect.deleteProperty(target, name);
  }
  for (const name of Object.keys(source)) {
    const value = source[name];
    if (value !== undefined) setMember(target, name, value);
  }
}

// The parameters of a binding: objects of the kind that its policy names, as memory has them now.
// Nothing is kept of them, so a new kind or a new binding works at once.
import { asText, entriesAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { ServedResource, ServedResources } from '../served-resources.ts';
import type { Binding, Policy } from './bindings.ts';

/** null: the policy is asked once, without any. */
export type Param = Readonly<ApiObject> | null;

/** What is wrong with a policy or a binding itself; the failure policy says what that means. */
export class ConfigurationError extends Error {
  readonly of: 'policy' | 'binding';
  constructor(of: 'policy' | 'binding', cause: string) {
    super(`failed to configure ${of}: ${cause}`);
    this.of = of;
  }
}

const alone: readonly Param[] = [null];
const nothing: readonly Param[] = [];

/** `paramKind` as it is served; undefined: the policy has none. */
export function paramResource(
  { paramKind }: Policy,
  served: ServedResources,
  signal: AbortSignal,
): MaybePromise<ServedResource | undefined> {
  if (paramKind === undefined) return undefined;
  const apiVersion = textAt(paramKind, 'apiVersion');
  const slash = apiVersion.indexOf('/');
  const kind = {
    group: apiVersion.slice(0, Math.max(slash, 0)),
    version: apiVersion.slice(slash + 1),
    kind: textAt(paramKind, 'kind'),
  };
  const found = served.ofKind(kind);
  if (found !== undefined) return found;
  // Another replica may have made it: what was stored by now is looked at before it is unknown.
  return served.proven(signal).then(() => {
    const newer = served.ofKind(kind);
    if (newer !== undefined) return newer;
    const text = `${apiVersion}, Kind=${kind.kind}`;
    const cause = `failed to find resource referenced by paramKind: '${text}'`;
    throw new ConfigurationError('policy', cause);
  });
}

/**
 * By namespace and name; empty: the binding does nothing.
 * @throws ConfigurationError
 */
export function paramsOf(
  { paramRef }: Binding,
  kind: ServedResource | undefined,
  /** Of the request; '' where it is in none. */
  requestNamespace: string,
  signal: AbortSignal,
): MaybePromise<readonly Param[]> {
  if (kind === undefined || paramRef === undefined) return alone;
  const namespace = namespaceFor(paramRef, kind, requestNamespace);
  return whenThere(find(paramRef, kind, namespace, signal), (found) => {
    if (found.length > 0 || textAt(paramRef, 'parameterNotFoundAction') !== 'Deny') return found;
    const cause = 'no params found for policy binding with `Deny` parameterNotFoundAction';
    throw new ConfigurationError('binding', cause);
  });
}

function namespaceFor(
  paramRef: Readonly<JsonObject>,
  { resource }: ServedResource,
  requestNamespace: string,
): string {
  const stated = textAt(paramRef, 'namespace');
  if (!resource.namespaced) {
    if (stated === '') return '';
    const cause = 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`';
    throw new ConfigurationError('binding', cause);
  }
  if (stated !== '' || requestNamespace !== '') return stated || requestNamespace;
  const cause =
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources';
  throw new ConfigurationError('binding', cause);
}

function find(
  paramRef: Readonly<JsonObject>,
  kind: ServedResource,
  namespace: string,
  signal: AbortSignal,
): MaybePromise<readonly Param[]> {
  const name = textAt(paramRef, 'name');
  if (name !== '') {
    const read = kind.read({ namespace, name }, signal);
    return whenThere(read, (object) => (object === undefined ? nothing : [object]));
  }
  const selector = recordAt(paramRef, 'selector');
  if (selector !== undefined) return kind.list(namespace, selectorText(selector), signal);
  const cause = 'one of name or selector must be provided';
  throw new ConfigurationError('binding', cause);
}

/** A label selector as lists take it. */
function selectorText(selector: Readonly<JsonObject>): string {
  const equal = entriesAt(selector, 'matchLabels').map(([key, value]) => `${key}=${asText(value)}`);
  const others = recordsAt(selector, 'matchExpressions').map((requirement) => {
    const key = textAt(requirement, 'key');
    const values = `(${textsAt(requirement, 'values').join(',')})`;
    switch (textAt(requirement, 'operator')) {
      case 'In':
        return `${key} in ${values}`;
      case 'NotIn':
        return `${key} notin ${values}`;
      case 'Exists':
        return key;
      default:
        return `!${key}`;
    }
  });
  return [...equal, ...others].join(',');
}

// etcd keys from validated segments: <etcd prefix>/<storage prefix>/[<namespace>/]<name>.
// No segment can leave its place, so no name reads or writes another resource's keys.
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';

/**
 * Below the etcd prefix, beside the resources: what replicas share among themselves
 * (shared-secrets.ts).
 */
const internalSegment = 'svc-internal';

export interface Keyspace {
  /** Everything of this server; ends with `/`. */
  readonly root: string;
  /** All keys of a resource, such as `pods` or `example.com/widgets`; ends with `/`. */
  resourcePrefix(storagePrefix: string): string;
  /** All keys of a resource in one namespace; ends with `/`. */
  namespacePrefix(storagePrefix: string, namespace: string): string;
  /**
   * `namespace` is empty for a cluster-scoped object. @throws when a segment is not one path
   * segment.
   */
  key(storagePrefix: string, namespace: string, name: string): string;
  /** Key of a value that is no resource. Never equal to a resource key. */
  internalKey(name: string): string;
}

/** @throws Error when `etcdPrefix` is not a path such as `/registry`. */
export function createKeyspace(etcdPrefix: string): Keyspace {
  const segments = etcdPrefix.replace(/^\//, '').replace(/\/$/, '').split('/');
  for (const segment of segments) checkSegment(segment, 'etcd prefix');
  const root = `/${segments.join('/')}/`;
  const resourcePrefix = (storagePrefix: string): string => {
    const parts = storagePrefix.split('/');
    for (const part of parts) checkSegment(part, 'storage prefix');
    invariant(parts[0] !== internalSegment, `no resource is stored below ${internalSegment}`);
    return `${root}${storagePrefix}/`;
  };
  const namespacePrefix = (storagePrefix: string, namespace: string): string => {
    checkSegment(namespace, 'namespace');
    return `${resourcePrefix(storagePrefix)}${namespace}/`;
  };
  return {
    root,
    resourcePrefix,
    namespacePrefix,
    key: (storagePrefix, namespace, name) => {
      checkSegment(name, 'name');
      return namespace === ''
        ? `${resourcePrefix(storagePrefix)}${name}`
        : `${namespacePrefix(storagePrefix, namespace)}${name}`;
    },
    internalKey: (name) => {
      checkSegment(name, 'name');
      return `${root}${internalSegment}/${name}`;
    },
  };
}

/** The end of the range of all keys that start with `prefix`: its last byte plus one. */
export function prefixEnd(prefix: string): string {
  invariant(prefix.endsWith('/'), `a key prefix ends with "/": ${prefix}`);
  return `${prefix.slice(0, -1)}0`;
}

/** The smallest key after `key`. */
export const keyAfter = (key: string): string => `${key}\0`;

/**
 * One path segment: not empty, not `.` or `..`, without `/`, `%` escapes, control characters or
 * broken UTF-16.
 */
export function isSegment(text: string): boolean {
  if (text === '' || text === '.' || text === '..' || text.length > limits.nameLengthMax)
    return false;
  if (/%2[ef]/i.test(text) || !text.isWellFormed()) return false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x2f || (code >= 0x7f && code <= 0x9f)) return false;
  }
  return true;
}

function checkSegment(segment: string, what: string): void {
  if (!isSegment(segment)) throw new InvalidKeyError(what, segment);
}

/** A caller let an unvalidated text through to storage; nothing was read or written. */
export class InvalidKeyError extends Error {
  constructor(what: string, segment: string) {
    super(`${what} ${JSON.stringify(segment)} is not one path segment of a key`);
    this.name = 'InvalidKeyError';
  }
}

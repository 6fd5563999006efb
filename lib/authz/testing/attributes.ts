// Attributes for tests of authorizers: a plain GET of `/` that a test changes.
import type { Attributes } from '../authorizer.ts';

export const attributesOf = (change: Partial<Attributes> = {}): Attributes => ({
  user: { name: 'u', uid: '', groups: [], extra: {} },
  verb: 'get',
  isResourceRequest: false,
  group: '',
  version: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: undefined,
  labelSelector: undefined,
  path: '/',
  ...change,
});

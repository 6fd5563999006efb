import { expect, test } from '@jest/globals';
import { namingProfile } from '../../api/vendor.ts';
import { serviceAccountWarnings } from './service-accounts.ts';

const naming = namingProfile('svc');
const plain = { metadata: { name: 'a' } };
const limited = {
  metadata: { name: 'a', annotations: { 'svc.io/enforce-mountable-secrets': 'false' } },
};
const deprecated =
  'metadata.annotations[svc.io/enforce-mountable-secrets]: deprecated in v1.32+; ' +
  'prefer separate namespaces to isolate access to mounted secrets';

test.each<[string, object, object | undefined, string[]]>([
  ['is new', limited, undefined, [deprecated]],
  ['is put on it', limited, plain, [deprecated]],
  ['stays', limited, limited, []],
  ['goes', plain, limited, []],
  ['is not there', plain, undefined, []],
])('an annotation that limits secrets is warned of where it %s', (_claim, object, old, told) => {
  const of = { naming, subresource: '', apiVersion: 'v1' };
  expect(serviceAccountWarnings({ ...of, object: { ...object }, old: old && { ...old } })).toEqual(
    told,
  );
});

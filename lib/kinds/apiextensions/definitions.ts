// Custom resource definitions: their status lists every version that objects were ever stored in.
// One whose deletion has begun is held until nothing of its resource is left.
import { recordAt } from '../../api/json-access.ts';
import { newRecord } from '../../api/record.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { ResourceStrategy } from '../strategy.ts';
import { conditionsOf, withCondition } from './conditions.ts';
import type { Condition } from './conditions.ts';
import { storageVersionOf, storedVersionsOf } from './definition-parts.ts';

/** Held by it until no custom resource is left. */
export const cleanupFinalizer = (naming: NamingProfile): string =>
  naming.resolve('customresourcecleanup.apiextensions.{v}');

export const definitionStrategy = (naming: NamingProfile): ResourceStrategy => ({
  takesUnqualifiedFinalizers: 'always',
  // Versions in which objects may be stored are unchanged when a version goes.
  validatesUnchanged: true,
  deletionFinalizer: cleanupFinalizer(naming),
  // Labels, annotations and finalizers are written with the status, though nobody applies them so.
  keptBySubresource: { status: ['spec'] },
  beginDeletion(definition) {
    const status = statusOf(definition);
    const pending: Condition = {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message:
        'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    };
    const now = definition.metadata?.deletionTimestamp ?? '';
    status['conditions'] = [...withCondition(conditionsOf(definition), pending, now)];
  },
  prepare(definition, stored, { subresource }) {
    if (stored === undefined || subresource !== '') return;
    const storage = storageVersionOf(recordAt(definition, 'spec'));
    const known = storedVersionsOf(definition);
    if (storage === '' || known.includes(storage)) return;
    statusOf(definition)['storedVersions'] = [...known, storage];
  },
});

/** Made when there is none. */
function statusOf(definition: ApiObject): JsonObject {
  const status = recordAt(definition, 'status') ?? newRecord();
  definition.status = status;
  return status;
}

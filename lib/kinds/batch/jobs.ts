// Jobs: unless the user takes that over, the selector and the pods' labels are made from the job's
// own uid and name, so that no two jobs take each other's pods.
import { recordAt } from '../../api/json-access.ts';
import { newRecord } from '../../api/record.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { metaOf, nameOf } from '../../codec/object-meta.ts';
import type { ResourceStrategy } from '../strategy.ts';

export function jobStrategy(naming: NamingProfile): ResourceStrategy {
  const uidLabel = naming.resolve('batch.{kubernetes}.io/controller-uid');
  const nameLabel = naming.resolve('batch.{kubernetes}.io/job-name');
  return {
    dependents: 'orphaned',
    defaultPolicyWarning:
      'child pods are preserved by default when jobs are deleted; set ' +
      'propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress ' +
      'this warning',
    prepare(job, stored) {
      const spec = recordAt(job, 'spec');
      if (stored !== undefined || spec === undefined || spec['manualSelector'] === true) return;
      const [uid, name] = [metaOf(job).uid ?? '', nameOf(job)];
      // What the user wrote stays, and is refused when it does not fit.
      const set = hasGeneratedName(job) ? overwrite : fillIn;
      const labels = within(within(within(spec, 'template'), 'metadata'), 'labels');
      set(labels, { [nameLabel]: name, 'job-name': name, 'controller-uid': uid, [uidLabel]: uid });
      set(within(within(spec, 'selector'), 'matchLabels'), { [uidLabel]: uid });
    },
  };
}

/** Its name, and its uid with it, may be made more than once until one is free. */
const hasGeneratedName = (job: Readonly<ApiObject>): boolean =>
  (job.metadata?.generateName ?? '') !== '';

function fillIn(target: JsonObject, values: Readonly<Record<string, string>>): void {
  for (const key of Object.keys(values)) target[key] ??= values[key];
}

function overwrite(target: JsonObject, values: Readonly<Record<string, string>>): void {
  Object.assign(target, values);
}

/** The member as an object, made when it is none. */
function within(object: JsonObject, name: string): JsonObject {
  return recordAt(object, name) ?? (object[name] = newRecord());
}

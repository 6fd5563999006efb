// Volumes and claims: a new volume is pending, and the time of each change of its phase is kept; a
// claim names its source in both of its fields.
import { isSet, recordAt, textAt } from '../../api/json-access.ts';
import { ensureRecord } from '../../api/default-rule.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { formatTime } from '../../base/clock.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { cloneJson, without } from '../../api/json-value.ts';
import type { ResourceStrategy } from '../strategy.ts';

export const persistentVolumeStrategy: ResourceStrategy = {
  answersDeletedObject: true,
  prepare(volume, stored, { subresource, nowMs }) {
    const now = formatTime(nowMs);
    if (stored === undefined) {
      volume.status = { phase: 'Pending', lastPhaseTransitionTime: now };
      return;
    }
    if (subresource !== 'status') return;
    const status = ensureRecord(volume, 'status');
    const before = recordAt(stored, 'status');
    const given = textAt(status, 'lastPhaseTransitionTime');
    const last = textAt(before, 'lastPhaseTransitionTime');
    if (textAt(status, 'phase') !== textAt(before, 'phase')) {
      if (given === '' || given === last) status['lastPhaseTransitionTime'] = now;
    } else if (given === '' && last !== '') status['lastPhaseTransitionTime'] = last;
  },
};

export const persistentVolumeClaimStrategy = (naming: NamingProfile): ResourceStrategy => {
  const snapshots = naming.resolve('snapshot.storage.{v}');
  return {
    answersDeletedObject: true,
    prepare(claim, stored, _context, isOn) {
      const spec = recordAt(claim, 'spec');
      if (spec === undefined) return;
      const before = recordAt(stored, 'spec');
      const isInOtherNamespace = textAt(recordAt(spec, 'dataSourceRef'), 'namespace') !== '';
      if (isInOtherNamespace && !isOn(crossNamespaceGate) && !isSet(before, 'dataSourceRef')) {
        delete spec['dataSourceRef'];
      }
      const knowsSources = [before, spec].some((one) => isSet(one, 'dataSourceRef'));
      const source = recordAt(spec, 'dataSource');
      if (!knowsSources && !isSet(before, 'dataSource') && !isClaimOrSnapshot(source, snapshots)) {
        delete spec['dataSource'];
      }
      nameSourceTwice(spec);
    },
  };
};

const crossNamespaceGate = 'CrossNamespaceVolumeDataSource';

/** By itself the older field has always dropped all other kinds without a word. */
function isClaimOrSnapshot(source: JsonObject | undefined, snapshots: string): boolean {
  const [group, kind] = [textAt(source, 'apiGroup'), textAt(source, 'kind')];
  if (group === '') return kind === 'PersistentVolumeClaim';
  return group === snapshots && kind === 'VolumeSnapshot';
}

/** Changes `spec`. The older field cannot name another namespace. */
export function nameSourceTwice(spec: JsonObject): void {
  const source = recordAt(spec, 'dataSource');
  const reference = recordAt(spec, 'dataSourceRef');
  if (source !== undefined && reference === undefined) {
    spec['dataSourceRef'] = cloneJson(source);
  } else if (
    source === undefined &&
    reference !== undefined &&
    textAt(reference, 'namespace') === ''
  ) {
    spec['dataSource'] = without(reference, 'namespace');
  }
}

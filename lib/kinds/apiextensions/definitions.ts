// Custom resource definitions: their status lists every version that objects were ever stored in.
import { recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ResourceStrategy } from '../strategy.ts';

export const definitionStrategy: ResourceStrategy = {
  takesUnqualifiedFinalizers: 'always',
  // Versions in which objects may be stored are unchanged when a version goes.
  validatesUnchanged: true,
  prepare(definition, stored, { subresource }) {
    if (stored === undefined || subresource !== '') return;
    const versions = recordsAt(recordAt(definition, 'spec'), 'versions');
    const storage = textAt(
      versions.find((version) => version['storage'] === true),
      'name',
    );
    const status = recordAt(definition, 'status') ?? (Object.create(null) as JsonObject);
    const known = textsAt(status, 'storedVersions');
    if (storage === '' || known.includes(storage)) return;
    status['storedVersions'] = [...known, storage];
    definition.status = status;
  },
};

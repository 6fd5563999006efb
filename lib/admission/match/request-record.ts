// What reviews and expressions are told of a request: the record `request`, without its objects.
import { newRecord } from '../../api/record.ts';
import type { GroupVersionKind, JsonObject, ResourceInfo } from '../../api/type-info.ts';
import type { AdmissionRequest } from '../plugin.ts';
import { namespaceOf } from './namespace.ts';
import type { MatchedAs } from './rules.ts';

/** Texts that are empty are left out. `as`: the version that a rule matched. */
export function requestRecord(
  request: AdmissionRequest,
  as: MatchedAs | undefined,
): Readonly<JsonObject> {
  const { subresource, name, user } = request;
  const namespace = namespaceOf(request);
  const extra = Object.entries(user.extra);
  return {
    kind: kindRecord(as?.kind ?? request.kind),
    resource: resourceRecord(as?.resource ?? request.resource),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindRecord(request.kind),
    requestResource: resourceRecord(request.resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation: request.operation,
    userInfo: {
      ...(user.name === '' ? {} : { username: user.name }),
      ...(user.uid === '' ? {} : { uid: user.uid }),
      ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
      ...(extra.length === 0 ? {} : { extra: extraRecord(extra) }),
    },
    dryRun: request.dryRun,
    options: request.options ?? null,
  };
}

const kindRecord = ({ group, version, kind }: GroupVersionKind): JsonObject => ({
  group,
  version,
  kind,
});

const resourceRecord = ({ group, version, resource }: ResourceInfo): JsonObject => ({
  group,
  version,
  resource,
});

/** Keys are the user's. */
function extraRecord(extra: readonly (readonly [string, readonly string[]])[]): JsonObject {
  const record = newRecord();
  for (const [key, values] of extra) record[key] = [...values];
  return record;
}

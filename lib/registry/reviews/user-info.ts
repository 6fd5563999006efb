// A user as reviews show them: what is empty is left out.
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import type { User } from '../../base/user.ts';

export function userInfo({ name, uid, groups, extra }: User): JsonObject {
  const keys = Object.keys(extra);
  const values = keys.map((key): [string, JsonValue] => [key, [...(extra[key] ?? [])]]);
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    ...(keys.length === 0 ? {} : { extra: Object.fromEntries(values) }),
  };
}

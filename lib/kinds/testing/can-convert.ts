// Whether the least object of a kind can be brought from one version into another.
import { convertObject } from '../../api/convert.ts';
import type { Scheme } from '../../api/scheme.ts';
import { apiVersionOf } from '../../api/type-info.ts';
import type { TypeInfo } from '../../api/type-info.ts';

export function canConvert(from: TypeInfo, to: TypeInfo, scheme: Scheme): boolean {
  const [kind, toKind] = [scheme.kindOf(from), scheme.kindOf(to)];
  // Parts of kinds have no version of their own to convert to: their kinds are asked for.
  if (kind === undefined || toKind === undefined) return true;
  const object = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
  try {
    convertObject(object, apiVersionOf(toKind), scheme);
    return true;
  } catch {
    return false;
  }
}

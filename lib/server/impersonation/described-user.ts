// A wanted user without a name, as Kubernetes' refusal shows it; its clients know these texts.
import type { WantedUser } from './wanted-user.ts';

const quoted = (text: string): string => JSON.stringify(text);
const list = (texts: readonly string[]): string => `[]string{${texts.map(quoted).join(', ')}}`;

export function describeUser({ uid, groups, extra }: WantedUser): string {
  const keys = Object.keys(extra).sort();
  const values = keys.map((key) => `${quoted(key)}:${list(extra[key] ?? [])}`);
  const shownGroups = groups.length === 0 ? '[]string(nil)' : list(groups);
  const map = 'map[string][]string';
  const shownExtra = keys.length === 0 ? `${map}(nil)` : `${map}{${values.join(', ')}}`;
  return (
    `requested &user.DefaultInfo{Name:"", UID:${quoted(uid)}, Groups:${shownGroups}, ` +
    `Extra:${shownExtra}} without impersonating a user name`
  );
}

/** The words while constrained impersonation is off: the objects that would have been asked for. */
export function describeObjects({ uid, groups, extra }: WantedUser, group: string): string {
  const version = `${group}/v1`;
  const object = (kind: string, name: string, apiVersion = '', path = ''): string =>
    `{${[kind, '', name, '', apiVersion, '', path].join(' ')}}`;
  const objects = [
    ...groups.map((name) => object('Group', name)),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => object('UserExtra', value, version, key)),
    ),
    ...(uid === '' ? [] : [object('UID', uid, version)]),
  ];
  return `requested [${objects.join(' ')}] without impersonating a user`;
}

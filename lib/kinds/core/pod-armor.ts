// AppArmor by annotation, as it was asked for before containers had a field for it.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { ensureRecord } from '../../api/default-rule.ts';
import { sameJson } from '../../api/json-equal.ts';
import { newRecord } from '../../api/record.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { ofProfile } from '../../api/vendor.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';

/** A container's name follows. */
export const armorKeyPrefix = ofProfile((naming) =>
  naming.resolve('container.apparmor.security.beta.{kubernetes}.io/'),
);

export const armorLengthMax = 4095;
const localhost = 'localhost/';
const types = new Map([
  ['runtime/default', 'RuntimeDefault'],
  ['unconfined', 'Unconfined'],
]);

/** An annotation may say nothing, and may name any file. */
export const isArmorText = (text: string): boolean =>
  text === '' || types.has(text) || text.startsWith(localhost);

/** The field that says what an annotation says; undefined: none does. */
export function armorFieldOf(text: string): JsonObject | undefined {
  const type = types.get(text);
  if (type !== undefined) return { type };
  if (!text.startsWith(localhost)) return undefined;
  const localhostProfile = text.slice(localhost.length);
  const isValid =
    localhostProfile.trim() === localhostProfile && localhostProfile.length <= armorLengthMax;
  return localhostProfile !== '' && isValid ? { type: 'Localhost', localhostProfile } : undefined;
}

export const armorWarning = 'deprecated since v1.30; use the "appArmorProfile" field instead';

/** Gives the containers of a new pod the profiles that annotations name. @returns warnings. */
export function completeArmor(pod: ApiObject, naming: NamingProfile): readonly string[] {
  const annotations = recordAt(pod.metadata, 'annotations');
  const spec = recordAt(pod, 'spec');
  if (annotations === undefined || spec === undefined) return [];
  if (textAt(recordAt(spec, 'os'), 'name') === 'windows') return [];
  const whole = recordAt(recordAt(spec, 'securityContext'), 'appArmorProfile');
  const warnings: string[] = [];
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of recordsAt(spec, list)) {
      const key = armorKeyPrefix(naming) + textAt(container, 'name');
      if (!Object.hasOwn(annotations, key)) continue;
      if (recordAt(recordAt(container, 'securityContext'), 'appArmorProfile')) continue;
      const field = armorFieldOf(textAt(annotations, key));
      if (field !== undefined && sameJson(field, whole)) continue;
      if (field !== undefined) {
        ensureRecord(container, 'securityContext')['appArmorProfile'] = Object.assign(
          newRecord(),
          field,
        );
      }
      warnings.push(`metadata.annotations[${key}]: ${armorWarning}`);
    }
  }
  return warnings;
}

// Names that end with `.static.` and the vendor's domain are those of configurations in files: the
// API has none of them, and only warns of them while files configure nothing.
import { recordAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Kind } from '../kind.ts';
import type { KindWrite, ValidatedWrite, ValidatorInSteps } from '../validator.ts';

const gate = 'ManifestBasedAdmissionControlConfig';

export const staticSuffix = (naming: NamingProfile): string => naming.resolve('.static.{v}');

/** The kind, whose objects of the API do not have the names of files. */
export function withReservedNames(kind: Kind): Kind {
  const { validate, validateInSteps, warnings } = kind;
  if (validateInSteps === undefined) {
    return {
      ...kind,
      validate(write) {
        checkName(write);
        validate?.(write);
      },
      warnings: (write) => [...nameWarnings(write), ...(warnings?.(write) ?? [])],
    };
  }
  const inSteps: ValidatorInSteps = function* (write) {
    checkName(write);
    return [...nameWarnings(write), ...(yield* validateInSteps(write))];
  };
  return { ...kind, validateInSteps: inSteps };
}

const nameOf = ({ object }: KindWrite): string => textAt(recordAt(object, 'metadata'), 'name');

const isReserved = (write: KindWrite): boolean =>
  nameOf(write).endsWith(staticSuffix(write.naming));

const why = ({ naming }: KindWrite): string =>
  `names ending with "${staticSuffix(naming)}" are reserved for static manifest-based ` +
  'configurations and cannot be managed via the API';

function checkName(write: ValidatedWrite): void {
  if (!write.isOn(gate) || !isReserved(write)) return;
  write.errors.invalid('metadata.name', nameOf(write), why(write));
}

const nameWarnings = (write: KindWrite): readonly string[] =>
  isReserved(write) ? [`metadata.name: ${why(write)}`] : [];

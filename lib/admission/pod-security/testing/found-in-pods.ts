// Tables of pods, and of what each standard finds in them in a version: for the tests of checks.
import { expect, test } from '@jest/globals';
import type { JsonObject } from '../../../api/type-info.ts';
import { namingProfile } from '../../../api/vendor.ts';
import { violationsOf, violationsText } from '../evaluate.ts';
import { levelOf, versionOf } from '../policy.ts';

const naming = namingProfile('svc');

export interface Given {
  readonly annotations?: JsonObject;
  /** Members of the spec beside the containers. */
  readonly spec?: JsonObject;
  /** Security contexts of containers `a`, `b`, …; the others get what the standard asks for. */
  readonly contexts?: readonly JsonObject[];
  readonly containers?: readonly JsonObject[];
}

/** What the strictest standard asks of a container. */
export const hardened = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
const hardenedPod = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };

const namedContext = (context: JsonObject, at: number): JsonObject => ({
  name: String.fromCodePoint(97 + at),
  securityContext: context,
});

/** What a pod violates, which violates nothing but for what is given. */
function violated(standard: string, { annotations = {}, spec = {}, ...given }: Given): string {
  const [level = '', version = ''] = standard.split(':');
  const containers =
    given.containers ??
    (given.contexts ?? [{}]).map((one, at) => namedContext({ ...hardened, ...one }, at));
  const own = { ...hardenedPod, ...(spec['securityContext'] as JsonObject | undefined) };
  const pod = {
    annotations,
    spec: { containers: [...containers], ...spec, securityContext: own },
    naming,
  };
  const asked = { level: levelOf(level) ?? 'restricted', version: versionOf(version) ?? NaN };
  return violationsText(violationsOf(pod, asked));
}

export type Row = readonly [claim: string, given: Given, found: Readonly<Record<string, string>>];

/** Standard and version → what is found. */
export const findsIn = (rows: readonly Row[]): void => {
  test.each(rows)('%s', (_claim, given, found) => {
    const standards = Object.keys(found);
    const actual = Object.fromEntries(standards.map((one) => [one, violated(one, given)]));
    expect(actual).toEqual(found);
  });
};

/** The same in every version. */
export const always = (text: string, restricted = text): Readonly<Record<string, string>> => ({
  'privileged:latest': '',
  'baseline:v1.0': text,
  'baseline:v1.36': text,
  'baseline:latest': text,
  'restricted:v1.0': restricted,
  'restricted:v1.36': restricted,
  'restricted:v1.99': restricted,
  'restricted:latest': restricted,
});

// Volumes of a pod: one source each, names that differ. A volume of which something has failed is
// unknown to the containers that mount it.
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Scope } from '../validator.ts';
import { validateClaimTemplate } from './claim-spec.ts';
import type { PodVolumes } from './pod-scope.ts';
import { projected } from './projected-volumes.ts';
import { initiatorText, isInitiatorTooLong, podSources } from './volume-sources.ts';

interface VolumesOptions {
  /** A pod itself, not a template. */
  readonly isPod: boolean;
  /** '' for templates: their pods have no name yet. */
  readonly podName: string;
}

/** @returns those that may be mounted: nothing of them has failed. */
export function validateVolumes(
  spec: JsonObject,
  path: string,
  options: VolumesOptions,
  scope: Scope,
): PodVolumes {
  const { errors } = scope;
  const { podName } = options;
  const valid = new Map<string, JsonObject>();
  const volumes = recordsAt(spec, 'volumes');
  const generated = new Set(
    volumes
      .filter((volume) => podName !== '' && isSet(volume, 'ephemeral'))
      .map((volume) => `${podName}-${textAt(volume, 'name')}`),
  );
  for (const [at, volume] of volumes.entries()) {
    const where = `${path}.volumes[${String(at)}]`;
    const name = textAt(volume, 'name');
    validateVolume(volume, where, options, scope);
    if (valid.has(name)) errors.duplicate(`${where}.name`, name);
    else if (!errors.has(where)) valid.set(name, volume);
    const claim = textAt(recordAt(volume, 'persistentVolumeClaim'), 'claimName');
    if (claim === '' || !generated.has(claim)) continue;
    const detail = 'must not reference a PVC that gets created for an ephemeral volume';
    errors.invalid(`${where}.persistentVolumeClaim.claimName`, claim, detail);
  }
  return valid;
}

/** Names in paths of refused sources that are not their own. */
const refusedNames: ReadonlyMap<string, string> = new Map([['downwardAPI', 'downwarAPI']]);

/** The rules of the source that counts: the others have been refused. */
function validateVolume(
  volume: JsonObject,
  path: string,
  options: VolumesOptions,
  scope: Scope,
): void {
  const { errors } = scope;
  for (const kind of Object.keys(volume)) {
    const source = recordAt(volume, kind);
    if (source === undefined) continue;
    if (errors.forbids(`${path}.${refusedNames.get(kind) ?? kind}`)) continue;
    const where = `${path}.${kind}`;
    if (kind === 'projected') projected(source, where, scope);
    else if (kind === 'ephemeral') validateEphemeral(volume, path, options, scope);
    else if (kind === 'image') validateImage(source, where, options, scope);
    else podSources.get(kind)?.(source, where, scope);
  }
  validateInitiator(volume, path, scope);
}

/** A template may leave it open. */
function validateImage(
  source: JsonObject,
  path: string,
  { isPod }: VolumesOptions,
  { errors }: Scope,
): void {
  if (isPod && textAt(source, 'reference') === '') errors.required(`${path}.reference`);
}

function validateEphemeral(
  volume: JsonObject,
  path: string,
  { podName }: VolumesOptions,
  scope: Scope,
): void {
  const template = recordAt(recordAt(volume, 'ephemeral'), 'volumeClaimTemplate');
  if (template !== undefined) {
    validateClaimTemplate(template, `${path}.ephemeral.volumeClaimTemplate`, scope);
  }
  const name = textAt(volume, 'name');
  if (podName === '' || name === '') return;
  const claim = `${podName}-${name}`;
  for (const problem of dns1123SubdomainProblems(claim)) {
    scope.errors.invalid(`${path}.name`, name, `PVC name "${claim}": ${problem}`);
  }
}

/** Also where the source is refused. */
function validateInitiator(volume: JsonObject, path: string, { errors }: Scope): void {
  const name = textAt(volume, 'name');
  if (!isInitiatorTooLong(name, recordAt(volume, 'iscsi'))) return;
  errors.invalid(`${path}.name`, name, initiatorText);
}

// Candidates for leases: releases that can be compared, and an emulated one for elections that go
// by it.
import { immutableDetail } from '../../api/field-errors.ts';
import { recordAt, textAt } from '../../api/json-access.ts';
import { compareSemanticVersions, parseSemanticVersion } from '../../api/semantic-version.ts';
import type { SemanticVersion } from '../../api/semantic-version.ts';
import type { Holder, Validator } from '../validator.ts';
import { oldestEmulationVersion, validateElectionStrategy } from './election-strategy.ts';

/** What is absent or no version counts as the first of all. */
const noVersion: SemanticVersion = { numbers: [0n, 0n, 0n], preRelease: [], build: [] };

export const validateLeaseCandidate: Validator = ({ object, old, errors }) => {
  const spec = recordAt(object, 'spec');
  const versionAt = (name: string): SemanticVersion => {
    const text = textAt(spec, name);
    const version = text === '' ? noVersion : parseSemanticVersion(text);
    if (typeof version !== 'string') return version;
    errors.invalid(`spec.${name}`, text, 'must be a valid semantic version');
    return noVersion;
  };
  const emulated = versionAt('emulationVersion');
  const binary = versionAt('binaryVersion');
  if (hasBoth(spec) && compareSemanticVersions(binary, emulated) < 0) {
    const detail = 'must be greater than or equal to `emulationVersion`';
    errors.invalid('spec.binaryVersion', textAt(spec, 'binaryVersion'), detail);
  }
  const strategy = textAt(spec, 'strategy');
  if (strategy === oldestEmulationVersion && compareSemanticVersions(emulated, noVersion) === 0) {
    const detail = `must be specified when \`strategy\` is '${oldestEmulationVersion}'`;
    errors.required('spec.emulationVersion', detail);
  }
  // The field's own rule requires it.
  if (strategy !== '') validateElectionStrategy(strategy, 'spec.strategy', errors);
  const leaseName = textAt(spec, 'leaseName');
  if (old !== undefined && textAt(recordAt(old, 'spec'), 'leaseName') !== leaseName) {
    errors.invalid('spec.leaseName', leaseName, immutableDetail);
  }
};

const hasBoth = (spec: Holder): boolean =>
  textAt(spec, 'binaryVersion') !== '' && textAt(spec, 'emulationVersion') !== '';

// Releases in short, from what `/version` says.
export interface Releases {
  /** `1.36.0` */
  readonly binary: string;
  /** `1.36` */
  readonly emulation: string;
  /** `1.35` */
  readonly minCompatibility: string;
}

export function releasesOf(version: Readonly<Record<string, string>>): Releases {
  const of = (name: string): string => version[name] ?? '';
  return {
    binary: of('gitVersion').replace(/^v|\+.*$/g, ''),
    emulation: `${of('emulationMajor')}.${of('emulationMinor')}`,
    minCompatibility: `${of('minCompatibilityMajor')}.${of('minCompatibilityMinor')}`,
  };
}

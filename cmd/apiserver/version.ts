// What `/version` and `--version` say: the API release that is spoken, and the build that speaks
// it.

/** Release of the API whose behaviour this server has. */
export const release = '1.36';

export const versionInfo: Readonly<Record<string, string>> = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.0+svc',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node ${process.version}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

/** One line, the version in its second word; `raw` has every field, as kube-apiserver writes it. */
export function versionText(form: 'true' | 'raw'): string {
  if (form === 'true') return `svc-apiserver ${versionInfo['gitVersion'] ?? ''}\n`;
  const fields = Object.entries(versionInfo).map(([name, value]) => {
    return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}:${JSON.stringify(value)}`;
  });
  return `version.Info{${fields.join(', ')}}\n`;
}

import { expect, test } from '@jest/globals';
import { versionInfo, versionText } from './version.ts';

test('the version is one line: name and version, or all fields in their order', () => {
  expect(versionText('true')).toMatch(/^svc-apiserver v1\.36\.\d+\+svc\n$/);
  const raw = versionText('raw');
  expect(raw).toMatch(/^version\.Info\{Major:"1", Minor:"36", EmulationMajor:"1", .*"\}\n$/);
  expect(raw).toContain(`GitVersion:"${versionInfo['gitVersion'] ?? ''}", GitCommit:""`);
  expect(raw.match(/:"/g)).toHaveLength(Object.keys(versionInfo).length);
});

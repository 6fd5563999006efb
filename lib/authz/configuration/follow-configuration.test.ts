import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namingProfile } from '../../api/vendor.ts';
import { createLogger } from '../../base/log.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import type { FollowedFile } from '../../config/followed-file.ts';
import { attributesOf } from '../testing/attributes.ts';
import { conditionEnvironment } from '../webhook/match-conditions.ts';
import { readAuthorizationConfiguration } from './configuration.ts';
import { followConfiguration } from './follow-configuration.ts';
import { SwitchedAuthorizer } from './switched-authorizer.ts';

const naming = namingProfile('svc');
const parts = { naming, environment: conditionEnvironment(naming) };
const { signal } = new AbortController();
const configuration = (...types: readonly string[]): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.svc.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: types.map((type) => ({ type, name: type.toLowerCase() })),
  });

let folder: string;
let path: string;
let told: string[];
let logged: string[];
let authorizer: SwitchedAuthorizer;
let followed: FollowedFile;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'follow-'));
  path = join(folder, 'authorization.yaml');
  told = [];
  logged = [];
});
afterEach(() => {
  followed.close();
  rmSync(folder, { recursive: true });
});

async function follow(text: string): Promise<void> {
  const configs = readAuthorizationConfiguration(text, parts);
  authorizer = await SwitchedAuthorizer.start(configs, ({ name }) => ({
    authorizer: { name, authorize: () => ({ effect: 'noOpinion', reason: name }) },
    close: () => undefined,
  }));
  const file = { path, text };
  followed = followConfiguration(authorizer, file, {
    clock: new ManualClock(),
    logger: createLogger('info', (line) => void logged.push(line)),
    parts,
    onReload: (result) => void told.push(result === 'failure' ? 'failed' : 'replaced'),
  });
  await followed.look();
}
async function put(text: string): Promise<string[]> {
  told = [];
  writeFileSync(path, text);
  await followed.look();
  return told;
}
const order = async (): Promise<string> =>
  (await authorizer.authorize(attributesOf(), signal)).reason;

test('Configuration file changed: Reloaded, and what cannot be used changes nothing', async () => {
  writeFileSync(path, configuration('RBAC', 'Node'));
  await follow(configuration('RBAC', 'Node'));
  expect(told).toEqual([]);
  expect(await put(configuration('Node', 'RBAC'))).toEqual(['replaced']);
  expect(await order()).toBe('node\nrbac');
  expect(await put('authorizers: [')).toEqual(['failed']);
  expect(await put(configuration('RBAC'))).toEqual(['failed']);
  expect(await put(configuration('Node', 'RBAC', 'RBAC'))).toEqual(['failed']);
  expect(await order()).toBe('node\nrbac');
  expect(logged.slice(-2).join('')).toMatch(
    /Node cannot be removed[^]*authorizers\[2\]\.type: Duplicate value/,
  );
  // The same in other words is no change.
  expect(await put(`${configuration('Node', 'RBAC')}\n`)).toEqual([]);
  rmSync(path);
  await followed.look();
  expect(told).toEqual(['failed']);
  expect(await put(configuration('RBAC', 'Node'))).toEqual(['replaced']);
  expect(await order()).toBe('rbac\nnode');
});

test('what changed between its reading and its following is found', async () => {
  writeFileSync(path, configuration('Node', 'RBAC'));
  await follow(configuration('RBAC', 'Node'));
  expect(await order()).toBe('node\nrbac');
});

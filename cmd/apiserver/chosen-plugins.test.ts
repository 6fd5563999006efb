import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pluginTable } from '../../lib/admission/plugin-table.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { readDocument } from '../../lib/codec/strict-fields.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { parseFlags } from '../../lib/config/parse-flags.ts';
import { chosenPlugins } from './chosen-plugins.ts';
import type { ChosenPlugins } from './chosen-plugins.ts';

const folder = mkdtempSync(join(tmpdir(), 'chosen-plugins-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'sub'));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const naming = namingProfile('svc');
const chosen = (...argv: string[]): ChosenPlugins => chosenPlugins(parseFlags(argv).flags, naming);
const namesOf = ({ rows }: ChosenPlugins): string[] => rows.map(({ name }) => name);
const here = (names: readonly string[]): string[] =>
  pluginTable.filter((row) => row.make !== undefined && names.includes(row.name)).map(nameOf);
const nameOf = ({ name }: { readonly name: string }): string => name;
const byDefault = here(pluginTable.filter(({ isOn }) => isOn).map(nameOf));

describe('the plugins that are on', () => {
  test.each([
    ['those of the default set', [], byDefault],
    [
      'more, in the order of the table',
      ['--enable-admission-plugins=AlwaysDeny,AlwaysAdmit'],
      here(['AlwaysAdmit', 'AlwaysDeny', ...byDefault]),
    ],
    ['one that is on already', ['--enable-admission-plugins=NamespaceLifecycle'], byDefault],
    [
      'all but some',
      ['--disable-admission-plugins=NamespaceLifecycle,AlwaysDeny'],
      byDefault.filter((name) => name !== 'NamespaceLifecycle'),
    ],
    ['exactly those', ['--admission-control=AlwaysAdmit'], ['AlwaysAdmit']],
    ['none', ['--admission-control='], []],
  ])('f.enable-admission-plugins, f.admission-control: are %s', (_claim, argv, names) => {
    expect(namesOf(chosen(...argv))).toEqual(names);
  });

  test.each([
    ['--enable-admission-plugins=AlwaysAdmit', /^the admission plugin AlwaysAdmit is deprecated$/],
    [
      '--enable-admission-plugins=ResourceQuota',
      /does not have the admission plugin ResourceQuota: it has no effect/,
    ],
    ['--admission-control=ResourceQuota', /^--admission-control: this server does not have/],
  ])('%s is told of in the log', (flag, note) => {
    const { notes } = chosen(flag);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(note);
  });

  test('leave out what is not here without a word', () => {
    expect(chosen('--disable-admission-plugins=ResourceQuota,ImagePolicyWebhook').notes).toEqual(
      [],
    );
  });

  test.each([
    [
      '--enable-admission-plugins=None',
      /^--enable-admission-plugins: "None" is no admission plugin; there are AlwaysAdmit, /,
    ],
    ['--disable-admission-plugins=None', /^--disable-admission-plugins: "None" is no/],
    ['--admission-control=None', /^--admission-control: "None" is no/],
  ])(
    'f.enable-admission-plugins, f.disable-admission-plugins: %s refuses the start',
    (flag, message) => {
      expect(() => chosen(flag)).toThrow(FlagError);
      expect(() => chosen(flag)).toThrow(message);
    },
  );

  test.each(['enable', 'disable'])(
    'f.admission-control: it excludes --%s-admission-plugins',
    (verb) => {
      const flags = ['--admission-control=Priority', `--${verb}-admission-plugins=AlwaysDeny`];
      expect(() => chosen(...flags)).toThrow(FlagError);
      expect(() => chosen(...flags)).toThrow(
        /^--admission-control says which plugins are on, all of them: leave out --/,
      );
    },
  );

  test('f.disable-admission-plugins: a plugin is not on and off', () => {
    const flags = ['enable', 'disable'].map((verb) => `--${verb}-admission-plugins=AlwaysDeny`);
    expect(() => chosen(...flags)).toThrow(/AlwaysDeny is in --enable-admission-plugins, too/);
  });
});

describe('the configuration of plugins', () => {
  const head = 'kind: AdmissionConfiguration\napiVersion: apiserver.config.svc.io/v1\n';
  const configured = (text: string): ChosenPlugins =>
    chosen(`--admission-control-config-file=${file('admission.yaml', text)}`);
  const entry = (members: string): string =>
    `${head}plugins: [{ name: NamespaceLifecycle, ${members} }]`;

  test.each([
    ['is embedded', 'configuration: { level: 1 }', { level: 1 }],
    ['lies in a file, whose path counts from the folder', 'path: sub/own.yaml', { own: true }],
    [
      'is the embedded one of both',
      'path: sub/own.yaml, configuration: { level: 1 }',
      { level: 1 },
    ],
    ['may be left out', "path: ''", undefined],
  ])('f.admission-control-config-file: %s', (_claim, members, document) => {
    file('sub/own.yaml', 'own: true');
    const { configurations, notes } = configured(entry(members));
    expect(configurations.get('NamespaceLifecycle')).toEqual(document);
    expect(notes).toEqual([]);
  });

  test('may be JSON', () => {
    const { configurations } = configured(
      JSON.stringify({
        kind: 'AdmissionConfiguration',
        apiVersion: 'apiserver.config.svc.io/v1',
        plugins: [{ name: 'NamespaceLifecycle', configuration: { a: [1] } }],
      }),
    );
    expect(configurations.get('NamespaceLifecycle')).toEqual({ a: [1] });
  });

  test('of a plugin that is off has no effect, which is said', () => {
    const { notes } = configured(`${head}plugins: [{ name: EventRateLimit, configuration: {} }]`);
    expect(notes).toEqual([expect.stringMatching(/configuration of EventRateLimit has no effect/)]);
  });

  test.each([
    ['podNodeSelectorPluginConfig: { a: b=c }', ['PodNodeSelector']],
    ['imagePolicy: { kubeConfigFile: f }', ['ImagePolicyWebhook']],
    [
      '{ imagePolicy: {}, podNodeSelectorPluginConfig: {} }',
      ['ImagePolicyWebhook', 'PodNodeSelector'],
    ],
  ])('f.admission-control-config-file: it may be the bare document %s', (text, plugins) => {
    const { configurations } = configured(text);
    expect([...configurations.keys()]).toEqual(plugins);
    expect(Object.assign({}, ...configurations.values())).toEqual(readDocument(text));
  });

  test.each([
    [
      'of another kind',
      'kind: Pod\napiVersion: v1',
      /kind AdmissionConfiguration in version apiserver\.config\.svc\.io\/v1, it is of kind "Pod"/,
    ],
    ['with an unknown field', `${head}plugin: []`, /strict decoding error: unknown field "plugin"/],
    ['with an unknown field of a plugin', entry('file: a'), /unknown field "plugins\[0\]\.file"/],
    ['with a field twice', `${head}plugins: []\nplugins: []`, /duplicate field "plugins"/],
    [
      'with an unknown plugin',
      `${head}plugins: [{ name: None }]`,
      /plugins\[0\]\.name: "None" is no admission plugin/,
    ],
    [
      'with a plugin twice',
      `${head}plugins: [{ name: Priority, configuration: {} }, { name: Priority }]`,
      /Priority is configured twice/,
    ],
    [
      'with a missing file',
      entry('path: none.yaml'),
      /plugins\[0\]\.path: none\.yaml: there is no such file/,
    ],
    ['with a number as path', entry('path: 1'), /plugins\[0\]\.path: must be a text/],
    [
      'with a text as configuration',
      entry('configuration: a'),
      /plugins\[0\]\.configuration: must be an object/,
    ],
    ['with plugins that are no list', `${head}plugins: a`, /plugins: must be a list/],
    ['that is a list', '[]', /must hold an object/],
  ])('f.admission-control-config-file: %s refuses the start', (_claim, text, message) => {
    expect(() => configured(text)).toThrow(FlagError);
    expect(() => configured(text)).toThrow(message);
    expect(() => configured(text)).toThrow(/^--admission-control-config-file: .*admission\.yaml: /);
  });

  test('in a file that cannot be read refuses the start', () => {
    const flag = `--admission-control-config-file=${join(folder, 'none')}`;
    expect(() => chosen(flag)).toThrow(/none: there is no such file/);
  });
});

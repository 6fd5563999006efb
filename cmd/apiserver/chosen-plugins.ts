// Which admission plugins are on, by the flags, and the configuration of each: refused before
// anything is started.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { readAdmissionConfiguration } from '../../lib/admission/configuration.ts';
import type { PluginConfigurations } from '../../lib/admission/configuration.ts';
import { pluginTable } from '../../lib/admission/plugin-table.ts';
import type { PluginRow } from '../../lib/admission/plugin-table.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { fileProblem } from './file-problem.ts';
import { orFlagError } from './from-flags.ts';

export interface ChosenPlugins {
  /** Those that are on and that this server has, in the order of their work. */
  readonly rows: readonly PluginRow[];
  readonly configurations: PluginConfigurations;
  /** Lines for the log. */
  readonly notes: readonly string[];
}

type NameFlag = 'enable-admission-plugins' | 'disable-admission-plugins' | 'admission-control';

/**
 * @throws FlagError for a name that is unknown or in both lists, and for a configuration that
 * cannot be read.
 */
export function chosenPlugins(flags: Flags, naming: NamingProfile): ChosenPlugins {
  const enabled = rowsOf('enable-admission-plugins', flags['enable-admission-plugins']);
  const disabled = rowsOf('disable-admission-plugins', flags['disable-admission-plugins']);
  const exactly =
    flags['admission-control'] && rowsOf('admission-control', flags['admission-control']);
  orFlagError('disable-admission-plugins', () => {
    const both = disabled.find((row) => enabled.includes(row));
    if (both !== undefined) throw new Error(`${both.name} is in --enable-admission-plugins, too`);
  });
  const isChosen = (row: PluginRow): boolean =>
    exactly === undefined
      ? enabled.includes(row) || (row.isOn && !disabled.includes(row))
      : exactly.includes(row);
  const rows = pluginTable.filter((row) => row.make !== undefined && isChosen(row));
  const configurations = readConfigurations(flags, naming);
  const notes = [
    ...(exactly === undefined
      ? missed('enable-admission-plugins', enabled)
      : missed('admission-control', exactly)),
    ...rows
      .filter((row) => row.deprecated === true)
      .map(({ name }) => `the admission plugin ${name} is deprecated`),
    ...[...configurations.keys()]
      .filter((name) => !rows.some((row) => row.name === name))
      .map((name) => `${file}: the configuration of ${name} has no effect: the plugin is not on`),
  ];
  return { rows, configurations, notes };
}

function rowsOf(flag: NameFlag, names: readonly string[]): readonly PluginRow[] {
  return orFlagError(flag, () =>
    names.map((name) => {
      const row = pluginTable.find((one) => one.name === name);
      if (row !== undefined) return row;
      const known = pluginTable.map((one) => one.name).join(', ');
      throw new Error(`${JSON.stringify(name)} is no admission plugin; there are ${known}`);
    }),
  );
}

/** What to tell of plugins that are asked for and are not here. */
const missed = (flag: NameFlag, asked: readonly PluginRow[]): readonly string[] =>
  asked
    .filter((row) => row.make === undefined)
    .map(
      ({ name }) =>
        `--${flag}: this server does not have the admission plugin ${name}: it has no effect`,
    );

const file = '--admission-control-config-file';

function readConfigurations(flags: Flags, naming: NamingProfile): PluginConfigurations {
  const path = flags['admission-control-config-file'];
  if (path === undefined) return new Map();
  return orFlagError('admission-control-config-file', () => {
    try {
      return readAdmissionConfiguration(readText(path), naming, (other) =>
        readText(resolve(dirname(path), other)),
      );
    } catch (error) {
      throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
    }
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(fileProblem(error), { cause: error });
  }
}

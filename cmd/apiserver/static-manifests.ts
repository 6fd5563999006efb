// Configurations of admission in files: read before anything is served, which an error refuses, and
// read again when they change, where an error keeps the last set.
import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { manifestFolderOf } from '../../lib/admission/manifest-folder.ts';
import { manifestResources, readManifests } from '../../lib/admission/static-manifests.ts';
import type {
  ManifestFile,
  ManifestReader,
  ManifestSet,
  StaticManifests,
} from '../../lib/admission/static-manifests.ts';
import { asRecord } from '../../lib/api/json-access.ts';
import { sortUtf8 } from '../../lib/base/utf8-order.ts';
import { FlagError } from '../../lib/config/flags.ts';
import { FollowedSource } from '../../lib/config/followed-source.ts';
import { completeObject } from '../../lib/registry/complete-object.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';
import type { Base } from './base.ts';
import { fileProblem } from './file-problem.ts';
import { hostAndPort } from './own-address.ts';
import { serverIdHash } from './reload-observer.ts';

type ManifestsBase = Pick<
  Base,
  'plugins' | 'naming' | 'gates' | 'scheme' | 'clock' | 'logger' | 'metrics' | 'started'
> &
  Pick<Base, 'address' | 'flags'>;

/** @throws FlagError that names the file and the field */
export async function openStaticManifests(base: ManifestsBase): Promise<StaticManifests> {
  const sets = new Map<string, ManifestSet>();
  const observer = manifestObserver(base);
  for (const { name: plugin } of base.plugins.rows) {
    const document = base.plugins.configurations.get(plugin);
    if (manifestResources[plugin] === undefined || document === undefined) continue;
    const root = asRecord(document) ?? {};
    try {
      const folder = manifestFolderOf(plugin, root, base);
      if (folder === undefined) continue;
      const reader = readerOf(base, plugin);
      const text = await filesIn(folder);
      sets.set(plugin, await readManifests(filesOf(text), reader));
      observer.loaded(plugin, text);
      follow(base, { plugin, folder, text, reader, observer }, (set) => sets.set(plugin, set));
    } catch (error) {
      const message = `--admission-control-config-file: ${plugin}: ${(error as Error).message}`;
      throw new FlagError(message, { cause: error });
    }
  }
  const pluginOf = new Map(
    Object.entries(manifestResources).flatMap(([plugin, resources]) =>
      resources.map((resource) => [resource, plugin] as const),
    ),
  );
  return { of: (resource) => sets.get(pluginOf.get(resource) ?? '')?.get(resource) ?? none };
}

const none: readonly never[] = [];

function readerOf({ naming, gates, scheme }: ManifestsBase, plugin: string): ManifestReader {
  const group = naming.resolve('admissionregistration.{v}');
  const parts = {
    scheme,
    // Of this gate: the names of files are for files.
    isOn: (gate: string) => gate !== 'ManifestBasedAdmissionControlConfig' && gates.isEnabled(gate),
  };
  return {
    naming,
    resources: (manifestResources[plugin] ?? []).flatMap(
      (resource) => scheme.knownResource({ group, version: 'v1', resource }) ?? [],
    ),
    complete: (resource, object) => completeObject(parts, resource, object),
  };
}

interface Followed {
  readonly plugin: string;
  readonly folder: string;
  readonly text: string;
  readonly reader: ManifestReader;
  readonly observer: ManifestObserver;
}

function follow(
  { clock, logger, started }: ManifestsBase,
  { plugin, folder, text, reader, observer }: Followed,
  use: (set: ManifestSet) => void,
): void {
  const source = { folder, concerns: isManifest, read: () => filesIn(folder) };
  const followed = new FollowedSource(source, {
    clock,
    text,
    async changed(changed) {
      use(await readManifests(filesOf(changed), reader));
      observer.loaded(plugin, changed);
      logger.info('manifests of admission have changed and are in force', { plugin, folder });
    },
    failed({ message: problem }) {
      observer.failed(plugin);
      logger.error('manifests of admission cannot be used, the last ones stay', {
        plugin,
        folder,
        problem,
      });
    },
  });
  started.defer(() => followed.close());
  // They may have changed since they were read.
  void followed.look();
}

const endings = new Set(['.yaml', '.yml', '.json']);
const isManifest = (name: string): boolean => endings.has(extname(name).toLowerCase());

/** Paths and texts of the files of a folder, as one text. @throws Error that names the file */
async function filesIn(folder: string): Promise<string> {
  const read = async <T>(path: string, from: () => Promise<T>): Promise<T> => {
    try {
      return await from();
    } catch (error) {
      throw new Error(`${path}: ${fileProblem(error)}`, { cause: error });
    }
  };
  const entries = await read(`staticManifestsDir: ${folder}`, () =>
    readdir(folder, { withFileTypes: true }),
  );
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  const files: [string, string][] = [];
  for (const name of sortUtf8(names.filter(isManifest))) {
    const path = join(folder, name);
    files.push([path, await read(path, () => readFile(path, 'utf8'))]);
  }
  return JSON.stringify(files);
}

const filesOf = (text: string): readonly ManifestFile[] =>
  (JSON.parse(text) as readonly [string, string][]).map(([path, content]) => ({
    path,
    text: content,
  }));

interface ManifestObserver {
  /** They are in force. */
  loaded(plugin: string, text: string): void;
  failed(plugin: string): void;
}

function manifestObserver({ metrics, clock, address, flags }: ManifestsBase): ManifestObserver {
  const id = serverIdHash(hostAndPort(address, flags['secure-port']));
  const { total, times, info } = seriesOf(metrics);
  const digests = new Map<string, string>();
  const count = (plugin: string, status: 'success' | 'failure'): void => {
    total.child(id, plugin, status).value++;
    times.child(id, plugin, status).value = clock.nowMs() / 1_000;
  };
  return {
    loaded(plugin, text) {
      count(plugin, 'success');
      digests.set(plugin, digestOf(filesOf(text)));
      info.clear();
      for (const [name, digest] of digests) info.child(id, digest, name).value = 1;
    },
    failed: (plugin) => count(plugin, 'failure'),
  };
}

const seriesOf = ({ series }: Metrics) => ({
  total: series.apiserver_manifest_admission_config_controller_automatic_reloads_total,
  times:
    series.apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds,
  info: series.apiserver_manifest_admission_config_controller_last_config_info,
});

/** Of all contents, each behind the other; '' where there are none. */
function digestOf(files: readonly ManifestFile[]): string {
  const filled = files.filter(({ text }) => text !== '');
  if (filled.length === 0) return '';
  const hash = createHash('sha256');
  for (const { text } of filled) hash.update(text).update('\0');
  return `sha256:${hash.digest('hex')}`;
}

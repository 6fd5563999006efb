// Files of one volume whose paths are the same, or one below the other: what is laid later hides
// what was there. Allowed, and nearly never wanted.
import { isSet, listAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import type { Holder } from '../validator.ts';

interface File {
  readonly path: string;
  /** Where it comes from; '' in a volume with one source. */
  readonly source: string;
}

export function overlapWarnings(volume: JsonObject): readonly string[] {
  const name = JSON.stringify(textAt(volume, 'name'));
  const configMap = recordAt(volume, 'configMap');
  const secret = recordAt(volume, 'secret');
  return [
    ...overlaps(itemsOf(configMap), `${name} (ConfigMap ${quoted(configMap, 'name')})`),
    ...overlaps(itemsOf(secret), `${name} (Secret ${quoted(secret, 'secretName')})`),
    ...overlaps(itemsOf(recordAt(volume, 'downwardAPI')), `${name} (DownwardAPI)`),
    ...projectedWarnings(recordAt(volume, 'projected'), name),
  ];
}

const quoted = (source: Holder, name: string): string => JSON.stringify(textAt(source, name));

const itemsOf = (source: Holder, of = ''): readonly File[] =>
  recordsAt(source, 'items').map((item) => ({ path: textAt(item, 'path'), source: of }));

function projectedWarnings(projected: Holder, name: string): readonly string[] {
  if (listAt(projected, 'sources').length === 0) return [];
  const sources = recordsAt(projected, 'sources');
  const empty = sources
    .filter((source) => !Object.keys(source).some((kind) => isSet(source, kind)))
    .map(() => `volume ${name} (Projected) has no sources provided`);
  return [...empty, ...overlaps(sources.flatMap(filesOf), `${name} (Projected)`)];
}

function filesOf(source: JsonObject): readonly File[] {
  const configMap = recordAt(source, 'configMap');
  if (isSet(configMap, 'items')) {
    return itemsOf(configMap, `ConfigMap ${quoted(configMap, 'name')}`);
  }
  const secret = recordAt(source, 'secret');
  if (isSet(secret, 'items')) return itemsOf(secret, `Secret ${quoted(secret, 'name')}`);
  const fields = recordAt(source, 'downwardAPI');
  if (isSet(fields, 'items')) return itemsOf(fields, 'DownwardAPI');
  const token = recordAt(source, 'serviceAccountToken');
  if (token !== undefined) return [{ path: textAt(token, 'path'), source: 'ServiceAccountToken' }];
  const bundle = recordAt(source, 'clusterTrustBundle');
  if (bundle !== undefined) {
    const named = quoted(bundle, isSet(bundle, 'name') ? 'name' : 'signerName');
    return [{ path: textAt(bundle, 'path'), source: `ClusterTrustBundle ${named}` }];
  }
  const certificate = recordAt(source, 'podCertificate');
  return certificateFiles
    .map(([member, what]) => ({ path: textAt(certificate, member), source: what }))
    .filter(({ path }) => path !== '');
}

const certificateFiles: readonly (readonly [member: string, source: string])[] = [
  ['certificateChainPath', 'PodCertificate chain'],
  ['keyPath', 'PodCertificate key'],
  ['credentialBundlePath', 'PodCertificate credential bundle'],
];

/** Files are compared in pairs, up to a bound on the answer and the time. */
function overlaps(files: readonly File[], volume: string): readonly string[] {
  const texts: string[] = [];
  const seen: File[] = [];
  for (const { path, source } of files.slice(0, limits.comparedFilesMax)) {
    const file = { path: path.replace(/\/+$/, ''), source };
    for (const other of seen) {
      if (!isHidden(file.path, other.path)) continue;
      texts.push(`volume ${volume}: overlapping paths: ${shown(file)} with ${shown(other)}`);
    }
    seen.push(file);
  }
  return texts;
}

const isHidden = (path: string, other: string): boolean =>
  path !== '' &&
  other !== '' &&
  (`${path}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${path}/`));

const shown = ({ path, source }: File): string =>
  source === '' ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;

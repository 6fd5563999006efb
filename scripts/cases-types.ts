// `npm run cases:types -- FOLDER`: golden files GROUP.VERSION.KIND.{json,yaml,pb} through the
// codecs. Each kind decodes to one object and encodes to the same bytes again. In folders of older
// releases (`v1.N`) it decodes without loss; kinds that this release has no type for are named.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { builtInScheme } from '../lib/kinds/built-in-kinds.ts';
import type { Scheme } from '../lib/api/scheme.ts';
import type { JsonValue, TypeInfo } from '../lib/api/type-info.ts';
import { namingProfile } from '../lib/api/vendor.ts';
import type { ApiObject, Codec } from '../lib/codec/codec.ts';
import { jsonCodec, parseData, stringify } from '../lib/codec/json.ts';
import { createProtobufCodec } from '../lib/codec/protobuf.ts';
import { yamlCodec } from '../lib/codec/yaml.ts';

export interface CasesResult {
  readonly passed: number;
  readonly failed: number;
}

const naming = namingProfile('kubernetes');
const protobufCodec = createProtobufCodec(naming.protobufMediaType);
const codecs: Readonly<Record<string, Codec>> = {
  json: jsonCodec,
  yaml: yamlCodec,
  pb: protobufCodec,
};
const extensions = Object.keys(codecs);
const afterRoundTrip = '.after_roundtrip';

/**
 * One kind of a folder: its files by extension, and what they are after a round trip where that
 * differs.
 */
interface Golden {
  readonly name: string;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly after: ReadonlyMap<string, Buffer>;
}

export function runCases(folder: string, print: (line: string) => void): CasesResult {
  const scheme = builtInScheme({ profile: naming });
  const isOlder = /^v\d+\.\d+/.test(basename(resolve(folder)));
  let passed = 0;
  let failed = 0;
  for (const golden of goldensOf(folder)) {
    const type = typeOf(golden.name, scheme);
    if (type === undefined && isOlder) {
      print(`GONE ${golden.name}: this release has no such type`);
      continue;
    }
    const problems = checkGolden(golden, type, isOlder);
    for (const extension of golden.files.keys()) {
      const problem = problems.get(extension);
      if (problem === undefined) passed += 1;
      else {
        failed += 1;
        print(`FAIL ${golden.name}.${extension}: ${problem}`);
      }
    }
  }
  print(`${String(passed)} passed, ${String(failed)} failed`);
  return { passed, failed };
}

function goldensOf(folder: string): readonly Golden[] {
  const goldens = new Map<string, { files: Map<string, Buffer>; after: Map<string, Buffer> }>();
  for (const file of readdirSync(folder).sort()) {
    const extension = extensions.find((one) => file.endsWith(`.${one}`));
    if (extension === undefined) continue;
    const stem = file.slice(0, -extension.length - 1);
    const isAfter = stem.endsWith(afterRoundTrip);
    const name = isAfter ? stem.slice(0, -afterRoundTrip.length) : stem;
    const golden = goldens.get(name) ?? { files: new Map(), after: new Map() };
    goldens.set(name, golden);
    (isAfter ? golden.after : golden.files).set(extension, readFileSync(join(folder, file)));
  }
  return [...goldens].map(([name, { files, after }]) => ({ name, files, after }));
}

/** What is wrong, by extension. */
function checkGolden(
  golden: Golden,
  type: TypeInfo | undefined,
  isOlder: boolean,
): Map<string, string> {
  const problems = new Map<string, string>();
  const changes = golden.after.size > 0;
  const objects = new Map<string, ApiObject>();
  for (const [extension, bytes] of golden.files) {
    if (type === undefined) {
      problems.set(extension, 'no such kind');
      continue;
    }
    const decoded = decode(extension, bytes, type, changes);
    if (typeof decoded === 'string') problems.set(extension, decoded);
    else objects.set(extension, decoded);
  }
  if (type === undefined) return problems;
  const missing = extensions.find((one) => !golden.files.has(one));
  for (const extension of golden.files.keys()) {
    if (missing !== undefined) problems.set(extension, `there is no .${missing} file beside it`);
  }
  const others = [...objects.values()];
  for (const [extension, object] of objects) {
    const text = (one: ApiObject): string => stringify(one);
    const isOdd = others.filter((other) => text(other) !== text(object)).length;
    if (isOdd > 0 && !changes) {
      problems.set(extension, 'decodes to another object than the other encodings');
      continue;
    }
    const problem = checkEncoding(extension, object, type, golden, isOlder);
    if (problem !== undefined) problems.set(extension, problem);
  }
  return problems;
}

function typeOf(name: string, scheme: Scheme): TypeInfo | undefined {
  const parts = name.split('.');
  const kind = parts.pop() ?? '';
  const version = parts.pop() ?? '';
  const group = parts.join('.');
  return (
    scheme.kind({ group: group === 'core' ? '' : group, version, kind }) ??
    scheme.packages.get('meta/v1')?.types.find((type) => type.name === kind)
  );
}

/**
 * The object, or what is wrong with the bytes; fields that a later release dropped may be ignored.
 */
function decode(
  extension: string,
  bytes: Buffer,
  type: TypeInfo,
  ignoreUnknown = false,
): ApiObject | string {
  try {
    const { object, problems } = codecOf(extension).decode(bytes, type);
    const [first] = problems;
    return first === undefined || ignoreUnknown ? object : `${first.kind} field ${first.path}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function codecOf(extension: string): Codec {
  const codec = codecs[extension];
  if (codec === undefined) throw new Error(`no codec for ${extension}`);
  return codec;
}

function checkEncoding(
  extension: string,
  object: ApiObject,
  type: TypeInfo,
  golden: Golden,
  isOlder: boolean,
): string | undefined {
  const written = golden.after.get(extension) ?? golden.files.get(extension);
  if (written === undefined) return undefined;
  const codec = codecOf(extension);
  const encoded = codec.encode(object, type);
  const again = decode(extension, Buffer.from(encoded), type);
  if (typeof again === 'string' || stringify(again) !== stringify(object)) {
    return 'does not survive its own encoding';
  }
  if (isOlder && !golden.after.has(extension)) {
    return extension === 'json' ? lossIn(written, encoded) : undefined;
  }
  switch (extension) {
    case 'json':
      return firstDifference(written, Buffer.from(stringify(parseData(encoded), 2)));
    case 'yaml':
      return isDeepStrictEqual(yamlData(encoded, type), yamlData(written, type))
        ? undefined
        : 'is not equal as YAML';
    default:
      return firstDifference(written, Buffer.from(encoded));
  }
}

const yamlData = (bytes: Uint8Array, type: TypeInfo): JsonValue =>
  yamlCodec.decode(bytes, type).object;

function firstDifference(wanted: Buffer, got: Buffer): string | undefined {
  if (wanted.equals(got)) return undefined;
  let at = 0;
  while (wanted[at] === got[at]) at += 1;
  const near = (bytes: Buffer): string =>
    JSON.stringify(bytes.subarray(Math.max(0, at - 20), at + 20).toString('latin1'));
  return `byte ${String(at)}: ${near(got)} is written, ${near(wanted)} is expected`;
}

/** Every value of an older file is still there. */
function lossIn(written: Buffer, encoded: Uint8Array): string | undefined {
  const lost = lostPath(parseData(written), parseData(encoded), '');
  return lost === undefined ? undefined : `loses ${lost}`;
}

function lostPath(from: JsonValue, to: JsonValue | undefined, path: string): string | undefined {
  if (typeof from !== 'object' || from === null) return from === to ? undefined : path;
  if (typeof to !== 'object' || to === null || Array.isArray(from) !== Array.isArray(to))
    return path;
  for (const [key, member] of Object.entries(from)) {
    if (member === undefined || member === null) continue;
    const below = (to as Readonly<Record<string, JsonValue | undefined>>)[key];
    const lost = lostPath(member, below, `${path}.${key}`);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('usage: npm run cases:types -- FOLDER\n');
    process.exitCode = 2;
  } else {
    const { passed, failed } = runCases(folder, (line) => void process.stdout.write(`${line}\n`));
    process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
  }
}

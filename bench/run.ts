// `npm run bench -- NAME [args]`: runs bench/load/NAME.ts or bench/NAME.bench.ts; without a name,
// lists them. `--store [NAME …]` keeps the ratios of load benchmarks, `--check [NAME …]` names what
// got worse. Load generator and etcd share a core; measured processes have the other.
import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { summary } from './support/profile-summary.ts';
import { ratiosIn, worseThan } from './support/stored-ratios.ts';
import type { Ratios } from './support/stored-ratios.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const ratiosFile = join(folder, 'ratios.json');
const timeoutMs = 25 * 60_000;
/** Another tree is what it measures beside. */
const needsArguments: ReadonlySet<string> = new Set(['former']);

const loads = globSync('load/*.ts', { cwd: folder })
  .map((file) => file.slice('load/'.length, -'.ts'.length))
  .sort();
const micros = globSync('micro/*.bench.ts', { cwd: folder })
  .map((file) => file.slice(0, -'.bench.ts'.length))
  .sort();
const [first = '', ...rest] = process.argv.slice(2);

switch (first) {
  case '':
    console.log(`usage: npm run bench -- NAME [args]\nnames:\n  ${known()}`);
    break;
  case '--store':
    await store(rest);
    break;
  case '--check':
    await check(rest);
    break;
  case '--profile':
    await profile(rest);
    break;
  default:
    process.exitCode = (await run(first, rest)).code;
}

function known(): string {
  return [...loads, ...micros].join('\n  ');
}

async function profile([name = '', ...args]: readonly string[]): Promise<void> {
  const file = join(tmpdir(), `apiserver-${name.replaceAll('/', '-')}.cpuprofile`);
  process.exitCode = (await run(name, args, { environment: { BENCH_PROFILE: file } })).code;
  if (existsSync(file)) console.log(`\n${file}\n${summary(file)}`);
}

/** Those that are not measured now keep what is stored. */
async function store(names: readonly string[]): Promise<void> {
  const measured = names.length > 0 ? names : loads.filter((name) => !needsArguments.has(name));
  for (const name of measured) {
    const { code, output } = await run(name, [], { keepsOutput: true });
    if (code !== 0) process.exitCode = code;
    else writeRatios({ ...storedRatios(), [name]: ratiosIn(output) });
  }
}

async function check(names: readonly string[]): Promise<void> {
  const stored = storedRatios();
  const worse: string[] = [];
  for (const name of names.length > 0 ? names : Object.keys(stored)) {
    const { code, output } = await run(name, [], { keepsOutput: true });
    const ratios = stored[name];
    if (code !== 0) worse.push(`${name}: it failed`);
    else if (ratios === undefined) worse.push(`${name}: nothing is stored, see --store`);
    else worse.push(...worseThan(ratios, ratiosIn(output)).map((text) => `${name}: ${text}`));
  }
  console.log(worse.length === 0 ? '\nnothing got worse' : `\nworse:\n  ${worse.join('\n  ')}`);
  if (worse.length > 0) process.exitCode = 1;
}

function storedRatios(): Ratios {
  return existsSync(ratiosFile) ? (JSON.parse(readFileSync(ratiosFile, 'utf8')) as Ratios) : {};
}

function writeRatios(ratios: Ratios): void {
  writeFileSync(ratiosFile, `${JSON.stringify(ratios, undefined, 2)}\n`);
}

function run(
  name: string,
  args: readonly string[],
  {
    environment = {},
    keepsOutput = false,
  }: { environment?: Readonly<Record<string, string>>; keepsOutput?: boolean } = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const script = [`load/${name}.ts`, `${name}.bench.ts`]
    .map((file) => join(folder, file))
    .find((file) => existsSync(file));
  if (script === undefined) {
    console.log(`there is no ${name}; names:\n  ${known()}`);
    return Promise.resolve({ code: 1, output: '' });
  }
  const isPinned = script.includes('/load/') && existsSync('/usr/bin/taskset') && cpus().length > 1;
  const [command = '', ...words] = [
    ...(isPinned ? ['/usr/bin/taskset', '-c', '1'] : []),
    process.execPath,
    '--expose-gc',
    script,
    ...args,
  ];
  const child = spawn(command, words, {
    stdio: ['inherit', keepsOutput ? 'pipe' : 'inherit', 'inherit'],
    env: { ...process.env, ...environment },
  });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
    process.stdout.write(chunk);
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}

// `npm run bench -- NAME [args]`: runs bench/load/NAME.ts or bench/NAME.bench.ts; without a name,
// lists them. Load generator and etcd share one core; the measured processes pin themselves to the
// other (measured-process.ts).
import { spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { summary } from './support/profile-summary.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const timeoutMs = 15 * 60_000;
const isProfile = process.argv[2] === '--profile';
const [name, ...args] = process.argv.slice(isProfile ? 3 : 2);

const names = [
  ...globSync('load/*.ts', { cwd: folder }).map((file) =>
    file.slice('load/'.length, -'.ts'.length),
  ),
  ...globSync('micro/*.bench.ts', { cwd: folder }).map((file) =>
    file.slice(0, -'.bench.ts'.length),
  ),
].sort();
const file = [`load/${name ?? ''}.ts`, `${name ?? ''}.bench.ts`].find((one) =>
  existsSync(join(folder, one)),
);

if (name === undefined || file === undefined) {
  console.log(`usage: npm run bench -- NAME [args]\nnames:\n  ${names.join('\n  ')}`);
  process.exitCode = name === undefined ? 0 : 1;
} else {
  const profile = join(tmpdir(), `apiserver-${name.replaceAll('/', '-')}.cpuprofile`);
  process.exitCode = await run(join(folder, file), isProfile ? { BENCH_PROFILE: profile } : {});
  if (isProfile && existsSync(profile)) console.log(`\n${profile}\n${summary(profile)}`);
}

function run(script: string, environment: Record<string, string>): Promise<number> {
  const isPinned = script.includes('/load/') && existsSync('/usr/bin/taskset') && cpus().length > 1;
  const command = [
    ...(isPinned ? ['/usr/bin/taskset', '-c', '1'] : []),
    process.execPath,
    '--expose-gc',
    script,
    ...args,
  ];
  const [first = '', ...rest] = command;
  const child = spawn(first, rest, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code ?? 1);
    });
  });
}

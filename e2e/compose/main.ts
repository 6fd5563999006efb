// `npm run e2e:compose [-- [--keep] FILTER…]`: brings up docker-compose.yml once, by the images of
// this tree, runs the suites of this folder against it in order, and takes it down in any case.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { getContainerRuntimeClient } from 'testcontainers';
import { DockerComposeEnvironment, Wait } from 'testcontainers';
import { findDocker, NoDocker } from '../../scripts/docker.mjs';
import { composeEnvironment, project, root } from './project.ts';

const upSecondsMax = 180;
const usage = `usage: npm run e2e:compose [-- [--keep] FILTER…]
  --keep   uses a set-up that an earlier run kept, and keeps it
  FILTER   a part of a suite's path, or flags of jest (-t 'claim')`;

const say = (line: string): void => void process.stderr.write(`compose: ${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const docker = await findDocker({ install: false }).catch((error: unknown) => {
    if (!(error instanceof NoDocker)) throw error;
    say(`skipped: ${error.message.split('\n').join('; ')}`);
  });
  if (docker === undefined) return 0;
  if (docker.host !== undefined) process.env['DOCKER_HOST'] = docker.host;
  // The reaper is an image that would have to be pulled. This command cleans up itself.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
  const keeps = args.includes('--keep');
  if (!keeps) await mustNotBeThere();
  const images = await run(['scripts/images/main.mjs']);
  if (images !== 0) return images;
  const startMs = Date.now();
  const environment = await newEnvironment().up();
  say(`${project.name} is up after ${seconds(startMs)}`);
  try {
    const rest = args.filter((arg) => arg !== '--keep');
    const jest = 'node_modules/jest/bin/jest.js';
    return await run([jest, '--config=scripts/jest/compose.config.mjs', ...rest]);
  } finally {
    if (!keeps) await environment.down({ removeVolumes: true });
    say(`${keeps ? 'kept' : 'taken down'} after ${seconds(startMs)}`);
  }
}

/** Somebody's data may be in it. */
async function mustNotBeThere(): Promise<void> {
  const { container } = await getContainerRuntimeClient();
  const label = [`com.docker.compose.project=${project.name}`];
  const there = await container.dockerode.listContainers({ all: true, filters: { label } });
  if (there.length === 0) return;
  throw new Error(
    `the project ${project.name} is there already: use it with --keep, remove it with ` +
      `docker compose -p ${project.name} down -v, or name another one in COMPOSE_PROJECT_NAME`,
  );
}

function newEnvironment(): DockerComposeEnvironment {
  return new DockerComposeEnvironment(root, 'docker-compose.yml')
    .withProjectName(project.name)
    .withEnvironment(composeEnvironment())
    .withDefaultWaitStrategy(Wait.forHealthCheck())
    .withWaitStrategy('etcd-metrics-1', Wait.forAll([])) // It has no health check.
    .withStartupTimeout(upSecondsMax * 1_000);
}

/** Runs a script of Node; signals go on to it, so that what comes after it happens. */
function run(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const [script = '', ...rest] = args;
    const child = spawn(process.execPath, [join(root, script), ...rest], {
      cwd: root,
      stdio: 'inherit',
      env: composeEnvironment(),
    });
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    child.on('error', reject).on('exit', (code) => {
      process.off('SIGINT', pass).off('SIGTERM', pass);
      resolve(code ?? 1);
    });
  });
}

const seconds = (sinceMs: number): string => `${((Date.now() - sinceMs) / 1_000).toFixed(0)} s`;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

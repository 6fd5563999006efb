// The commands that docs/operate/containers.md gives operators, run as they stand there.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { composeEnvironment, root } from './project.ts';

const page = 'docs/operate/containers.md';

/**
 * The blocks of commands between a heading and the next one.
 * @throws Error where the page has no such heading, or no commands below it
 */
export function runbook(heading: string): readonly string[] {
  const sections = readFileSync(join(root, page), 'utf8').split(/^#+ /m);
  const section = sections.find((text) => text.startsWith(`${heading}\n`));
  const blocks = [...(section ?? '').matchAll(/^```sh\n([^]*?)^```$/gm)];
  if (blocks.length === 0) throw new Error(`${page} has no commands below "${heading}"`);
  return blocks.map(([, commands = '']) => commands);
}

/**
 * Runs commands in a folder, until one of them fails.
 * @throws Error with what they said
 */
export async function follow(commands: string, folder: string): Promise<void> {
  const env = { ...composeEnvironment(), COMPOSE_FILE: join(root, 'docker-compose.yml') };
  await promisify(execFile)('sh', ['-euc', commands], { cwd: folder, env });
}

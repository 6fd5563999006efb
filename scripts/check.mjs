// The gate: format, lint, types, layers, audit, tidy and unit tests, two at a time.
// `npm run check -- types lint` runs only those. It changes no file.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const node = `${root}node_modules/.bin/node`;
const lanes = 2;
const secondsMax = 60;

const folders = ['lib', 'cmd', 'e2e', 'bench', 'scripts'].filter((folder) =>
  existsSync(`${root}${folder}`),
);
const layerRule = ['--config', '.dependency-cruiser.cjs', '--output-type', 'err', ...folders];

/** The longest first, so that both lanes end at about the same time. */
const steps = [
  { name: 'lint', args: ['eslint/bin/eslint.js', '--max-warnings=0', '.'] },
  { name: 'types', args: ['ts7/bin/tsc', '-p', '.'] },
  { name: 'format', args: ['prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'] },
  { name: 'audit', args: ['../scripts/audit.mjs'] },
  { name: 'layers', args: ['dependency-cruiser/bin/dependency-cruiser.mjs', ...layerRule] },
  {
    name: 'unit',
    args: ['jest/bin/jest.js', '--config=scripts/jest/unit.config.mjs', '--silent'],
  },
];

/** @typedef {(typeof steps)[number]} Step */

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !steps.some((step) => step.name === name));
if (unknown.length > 0) {
  const names = steps.map((step) => step.name).join(', ');
  process.stderr.write(`check: there is no step ${unknown.join(', ')}; there are ${names}\n`);
  process.exit(2);
}

const startMs = Date.now();
const queue = steps.filter((step) => wanted.length === 0 || wanted.includes(step.name));
const count = queue.length;
/** @type {string[]} */
const failed = [];
await Promise.all(Array.from({ length: lanes }, runLane));
const seconds = (Date.now() - startMs) / 1000;
const slow = seconds > secondsMax ? `, over the ${secondsMax} s it may take` : '';
const verdict = failed.length === 0 ? `${count} steps passed` : `failed: ${failed.join(', ')}`;
process.stdout.write(`check: ${verdict} (${seconds.toFixed(0)} s${slow})\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runLane() {
  for (let step = queue.shift(); step !== undefined; step = queue.shift()) await runStep(step);
}

/** @param {Step} step */
async function runStep({ name, args: [entry, ...args] }) {
  const stepStartMs = Date.now();
  const { code, output } = await run([`${root}node_modules/${entry}`, ...args]);
  const took = `${((Date.now() - stepStartMs) / 1000).toFixed(1)} s`;
  if (code === 0) {
    const totals = /^(\d+ passed, \d+ failed|audit: .*)$/m.exec(output)?.[0] ?? '';
    process.stdout.write(`ok      ${name.padEnd(7)} ${took}  ${totals}`.trimEnd() + '\n');
  } else {
    failed.push(name);
    // Of the test files only those that failed are told of.
    const told = output.replaceAll(/^PASS .*\n/gm, '').trimEnd();
    process.stdout.write(`FAILED  ${name.padEnd(7)} ${took}\n${told}\n\n`);
  }
}

/**
 * @param {string[]} args
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(args) {
  return new Promise((resolve) => {
    const child = spawn(node, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    }
    child.on('error', (error) => resolve({ code: 1, output: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

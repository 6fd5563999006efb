// Asks the registry for advisories on what is shipped: fails for high ones, says so where no
// registry answers. It changes nothing.
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './debian-packages.mjs';

const own = process.env.npm_execpath;
const [command, ...before] =
  own !== undefined && basename(own) === 'npm-cli.js'
    ? [process.env.npm_node_execpath ?? process.execPath, own]
    : ['npm'];
const args = [...before, 'audit', '--omit=dev', '--json'];
const { stdout } = await run(command, args, fileURLToPath(new URL('..', import.meta.url)));
const { ok, line } = verdict(stdout);
process.stdout.write(`${line}\n`);
process.exitCode = ok ? 0 : 1;

/** @param {string} text what `npm audit --json` prints */
function verdict(text) {
  /** @type {{ metadata?: { vulnerabilities: Record<string, number> }, message?: string }} */
  let report = {};
  try {
    report = JSON.parse(text);
  } catch {
    // No report is no answer.
  }
  const found = report.metadata?.vulnerabilities;
  if (found === undefined) {
    return {
      ok: true,
      line: `audit: skipped, no registry answers (${report.message ?? 'no report'})`,
    };
  }
  const bad = (found.high ?? 0) + (found.critical ?? 0);
  const counts = Object.entries(found).map(([name, count]) => `${count} ${name}`);
  return { ok: bad === 0, line: `audit: ${counts.join(', ')}` };
}

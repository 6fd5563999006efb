// Unpacks packages of any Debian suite from this machine's mirror: no root, apt checks the
// signatures. Installs nothing on the system.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's releases, oldest first; `sid` is the one that is never released. */
const suitesInOrder = ['bullseye', 'bookworm', 'trixie', 'forky', 'duke', 'sid'];
const keyrings = ['gpg', 'pgp'].map(
  (ending) => `/usr/share/keyrings/debian-archive-keyring.${ending}`,
);

/** Says that this machine does not offer a package by this way; the message is the reason. */
export class NoDebianPackage extends Error {}

/** The machine's own suite and every newer one. */
export function newerSuites(osRelease = readIfThere('/etc/os-release')) {
  const own = /^VERSION_CODENAME="?(\w+)"?$/m.exec(osRelease)?.[1] ?? '';
  return suitesInOrder.slice(Math.max(0, suitesInOrder.indexOf(own)));
}

/**
 * The address of the Debian mirror that this machine uses.
 * @param {string} root the file system to look in; tests plant one
 */
export function mirrorAddress(root = '/') {
  const folder = join(root, 'etc/apt/sources.list.d');
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  const addresses = files
    .filter((name) => name.endsWith('.sources'))
    .flatMap((name) => stanzaAddresses(readIfThere(join(folder, name))));
  const lists = files.filter((name) => name.endsWith('.list')).map((name) => join(folder, name));
  for (const list of [join(root, 'etc/apt/sources.list'), ...lists]) {
    for (const line of readIfThere(list).split('\n')) {
      const address = /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/.exec(line)?.[1];
      if (address !== undefined) addresses.push(address);
    }
  }
  return addresses.find((address) => /\/debian\/?$/.test(address));
}

/**
 * One suite's package index, in a folder of its own. `dispose` it.
 * @param {string} suite
 * @param {string} workFolder is created
 */
export async function openSuite(suite, workFolder) {
  const keyring = keyrings.find((path) => existsSync(path));
  const mirror = mirrorAddress();
  if (keyring === undefined || mirror === undefined) {
    throw new NoDebianPackage('this machine has no Debian package sources');
  }
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'trusted']) {
    mkdirSync(join(workFolder, folder), { recursive: true });
  }
  writeFileSync(join(workFolder, 'state/status'), '');
  const list = join(workFolder, 'sources.list');
  writeFileSync(list, `deb [signed-by=${keyring}] ${mirror} ${suite} main\n`);
  const options = aptOptions(workFolder);
  const updated = await run('apt-get', [...options, '-qq', 'update']);
  if (updated.code !== 0) {
    throw new NoDebianPackage(`${suite}: ${firstLine(updated.stderr)}`);
  }
  /** @param {string} name */
  const show = (name) => run('apt-cache', [...options, 'show', '--no-all-versions', name]);
  return {
    suite,
    /**
     * What the suite has of it, without the epoch and Debian's own part; undefined: nothing.
     * @param {string} name
     */
    async version(name) {
      return /^Version: (?:\d+:)?([\d.]+)/m.exec((await show(name)).stdout)?.[1];
    },
    /**
     * The packages and all libraries that they need, of any depth; what else they depend on
     * (what makes users, starts services, asks questions) is left out.
     * @param {readonly string[]} names
     */
    async withLibraries(names) {
      const wanted = new Set(names);
      for (const name of wanted) {
        const { stdout } = await show(name);
        if (stdout === '') wanted.delete(name); // a name that others provide
        for (const library of librariesIn(stdout)) wanted.add(library);
      }
      return [...wanted];
    },
    /**
     * @param {readonly string[]} names
     * @param {string} tree is created where it is missing
     */
    async unpack(names, tree) {
      const debs = mkdtempSync(join(workFolder, 'debs-'));
      const got = await run('apt-get', [...options, '-qq', 'download', ...names], debs);
      if (got.code !== 0) throw new NoDebianPackage(firstLine(got.stderr));
      for (const name of readdirSync(debs)) {
        const result = await run('dpkg-deb', ['-x', join(debs, name), tree]);
        if (result.code !== 0) throw new NoDebianPackage(firstLine(result.stderr));
      }
    },
    dispose: () => rmSync(workFolder, { recursive: true, force: true }),
  };
}

/**
 * @param {string} stanza of a package, as apt-cache shows it
 * @returns {string[]}
 */
export function librariesIn(stanza) {
  return [...stanza.matchAll(/^(?:Pre-)?Depends: (.+)$/gm)]
    .flatMap((field) => (field[1] ?? '').split(','))
    .flatMap((choice) => /^\s*((?:lib|gcc-\d+-base)[a-z0-9.+-]*)/.exec(choice)?.[1] ?? []);
}

/**
 * Everything of this apt run lies in the work folder; only the machine's proxy, mirror and
 * credential settings stay in force. The last three keep an unsigned index from being taken,
 * whatever the machine's own settings allow.
 * @param {string} workFolder
 */
function aptOptions(workFolder) {
  const settings = {
    'Dir::State': join(workFolder, 'state'),
    'Dir::State::status': join(workFolder, 'state/status'),
    'Dir::Cache': join(workFolder, 'cache'),
    'Dir::Etc::sourcelist': join(workFolder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::Etc::trusted': '/dev/null',
    'Dir::Etc::trustedparts': join(workFolder, 'trusted'),
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
    'Acquire::http::Timeout': '20',
    'Acquire::https::Timeout': '20',
    'APT::Update::Error-Mode': 'any',
    'APT::Sandbox::User': 'root',
    'Acquire::AllowInsecureRepositories': 'false',
    'Acquire::AllowDowngradeToInsecureRepositories': 'false',
    'APT::Get::AllowUnauthenticated': 'false',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** @param {string} text of a file in the form of many `Field: value` stanzas */
function stanzaAddresses(text) {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    if (/^Enabled:\s*no\s*$/im.test(stanza)) return [];
    return (/^URIs:\s*(.+)$/im.exec(stanza)?.[1] ?? '').split(/\s+/).filter((uri) => uri !== '');
  });
}

/** @param {string} path */
function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** @param {string} text */
export function firstLine(text) {
  return text.split('\n').find((line) => line.trim() !== '') ?? 'failed without a message';
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [folder]
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>} code 127: no such command
 */
export function run(command, args, folder, env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, LC_ALL: 'C' },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.on('error', (error) => resolve({ code: 127, stdout, stderr: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, stdout, stderr }));
  });
}

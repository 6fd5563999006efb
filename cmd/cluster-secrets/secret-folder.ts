// A folder of secrets and who owns it. Private to its owner at every moment; each file is replaced
// in one step.
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyPair } from '../apiserver/pki.ts';

export class SecretFolder {
  readonly #path: string;
  readonly #owner: number | undefined;
  readonly #changes: string[];

  constructor(path: string, owner: number | undefined, changes: string[]) {
    this.#path = path;
    this.#owner = owner;
    this.#changes = changes;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    this.#give(path);
  }

  async pair(
    name: string,
    make: () => Promise<KeyPair>,
    serves: (pair: KeyPair) => boolean = () => true,
  ): Promise<KeyPair> {
    const [key, cert] = [this.read(`${name}.key`), this.read(`${name}.crt`)];
    if (key !== undefined && cert !== undefined && serves({ key, cert })) return { key, cert };
    const made = await make();
    this.writePair(name, made);
    return made;
  }

  writePair(name: string, { key, cert }: KeyPair): void {
    this.write(`${name}.key`, key);
    this.write(`${name}.crt`, cert);
  }

  async key(name: string, make: () => Promise<string>): Promise<string> {
    const kept = this.read(`${name}.key`);
    if (kept !== undefined) return kept;
    const made = await make();
    this.write(`${name}.key`, made);
    return made;
  }

  /** Nothing happens where the file says so already. */
  write(name: string, text: string): void {
    if (this.read(name) === text) return;
    const path = join(this.#path, name);
    writeFileSync(`${path}.new`, text, { mode: 0o400 });
    this.#give(`${path}.new`);
    renameSync(`${path}.new`, path);
    this.#changes.push(path);
  }

  remove(name: string): void {
    if (this.read(name) === undefined) return;
    const path = join(this.#path, name);
    unlinkSync(path);
    this.#changes.push(`${path} is removed`);
  }

  /** undefined: there is none. */
  read(name: string): string | undefined {
    try {
      return readFileSync(join(this.#path, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  #give(path: string): void {
    if (this.#owner === undefined || process.getuid?.() !== 0) return;
    chownSync(path, this.#owner, this.#owner);
  }
}

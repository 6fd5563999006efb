// A new authority, or a new key that signs tokens, in three steps; between them whoever believes it
// takes the files as they are. Each step may be taken twice:
//   introduce (both are believed) → switch (the new one signs) → retire (the old one is forgotten)
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { makeCa, makeSigningKey } from '../apiserver/pki.ts';
import type { Plan } from './plan.ts';
import type { SecretFolder } from './secret-folder.ts';

export type RotationStep = {
  readonly step: (typeof rotationSteps)[number];
  /** Of an authority or a signing key. */
  readonly name: string;
};
export const rotationSteps = ['introduce', 'switch', 'retire'] as const;

/**
 * In the folder of authorities: NAME-next.key (and .crt) from the first step to the second, the
 * public half of the old one as NAME-previous.crt or .pub from the second to the third.
 */
export class Rotation {
  readonly #plan: Plan;
  readonly #folder: SecretFolder;

  constructor(plan: Plan, folder: SecretFolder) {
    this.#plan = plan;
    this.#folder = folder;
  }

  /** `current` and what is believed beside it: certificates of an authority, or public keys. */
  trusted(name: string, current: string): string {
    const texts = this.#isAuthority(name)
      ? [this.#folder.read(`${name}-next.crt`), this.#folder.read(`${name}-previous.crt`)]
      : [this.#nextPublic(name), this.#folder.read(`${name}-previous.pub`)];
    const others = texts.filter((text) => text !== undefined && text !== current);
    return [current, ...others].join('');
  }

  /** @throws Error that says what there is instead, or which step comes before. */
  async take({ step, name }: RotationStep): Promise<void> {
    const { authorities, signingKeys } = this.#plan;
    const names = [...Object.keys(authorities), ...signingKeys];
    if (!names.includes(name)) throw new Error(`${name}: must be one of ${names.join(', ')}`);
    if (this.#folder.read(`${name}.key`) === undefined) {
      throw new Error(`${name}: there is none yet that could be replaced`);
    }
    if (step === 'introduce') await this.#introduce(name);
    else if (step === 'switch') this.#switch(name);
    else this.#retire(name);
  }

  async #introduce(name: string): Promise<void> {
    if (this.#folder.read(this.#previousFile(name)) !== undefined) {
      throw new Error(`${name}: the one before the last is still believed: retire comes first`);
    }
    const commonName = this.#plan.authorities[name];
    if (commonName === undefined) await this.#folder.key(`${name}-next`, makeSigningKey);
    else await this.#folder.pair(`${name}-next`, () => makeCa(commonName));
  }

  #switch(name: string): void {
    const folder = this.#folder;
    const key = folder.read(`${name}-next.key`);
    if (key === undefined) {
      if (folder.read(this.#previousFile(name)) !== undefined) return; // taken before
      throw new Error(`${name}: there is no new one: introduce comes first`);
    }
    const [current, next] = this.#isAuthority(name)
      ? [folder.read(`${name}.crt`), folder.read(`${name}-next.crt`)]
      : [publicOf(folder.read(`${name}.key`) ?? key), publicOf(key)];
    if (current === undefined || next === undefined) throw new Error(`${name}: half of it is lost`);
    // A step that was cut off is gone through again.
    if (current !== next) folder.write(this.#previousFile(name), current);
    if (this.#isAuthority(name)) folder.writePair(name, { key, cert: next });
    else folder.write(`${name}.key`, key);
    folder.remove(`${name}-next.crt`);
    folder.remove(`${name}-next.key`);
  }

  #retire(name: string): void {
    if (this.#folder.read(`${name}-next.key`) !== undefined) {
      throw new Error(`${name}: the old one still signs: switch comes first`);
    }
    this.#folder.remove(this.#previousFile(name));
  }

  #nextPublic(name: string): string | undefined {
    const key = this.#folder.read(`${name}-next.key`);
    return key === undefined ? undefined : publicOf(key);
  }

  #previousFile(name: string): string {
    return `${name}-previous.${this.#isAuthority(name) ? 'crt' : 'pub'}`;
  }

  #isAuthority(name: string): boolean {
    return this.#plan.authorities[name] !== undefined;
  }
}

/** PEM of the public half. */
export const publicOf = (key: string): string =>
  createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' }).toString();

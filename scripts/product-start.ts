// How `npm start` starts Node: what is measured is what ships.
import { readFileSync } from 'node:fs';

export interface ProductStart {
  /** Of Node. */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** `folder`: of another tree; ends in a slash. */
export function productStart(folder?: string): ProductStart {
  const file =
    folder === undefined ? new URL('../package.json', import.meta.url) : `${folder}package.json`;
  const { scripts } = JSON.parse(readFileSync(file, 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [, before = '', flags = ''] =
    /^(.*?)(?:exec )?node (.*)cmd\/apiserver\/main\.ts/.exec(scripts['start'] ?? '') ?? [];
  const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
  const pairs = words(before).map((word) => {
    const equals = word.indexOf('=');
    return [word.slice(0, equals), word.slice(equals + 1)] as const;
  });
  return { flags: words(flags), environment: Object.fromEntries(pairs) };
}

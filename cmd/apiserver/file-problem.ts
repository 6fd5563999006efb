// Why a file or folder cannot be used, in words for whoever named it.
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';

const words: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'is a folder, not a file'],
  ['ENOTDIR', 'a part of its path is a file, not a folder'],
  ['EEXIST', 'is a file, not a folder'],
  ['EACCES', 'this user may not use it'],
  ['EPERM', 'this user may not use it'],
  ['EROFS', 'lies on a file system that cannot be written'],
  ['ENOSPC', 'no space is left for it'],
  ['EDQUOT', 'no space is left for it'],
  ['ELOOP', 'its links lead in a circle'],
]);

/** @throws what is no error of the file system. */
export function fileProblem(error: unknown): string {
  const { code } = error as Partial<NodeJS.ErrnoException>;
  if (!Error.isError(error) || code === undefined) throw error;
  return words.get(code) ?? error.message;
}

/** What `make` throws is said of flag and file. @throws FlagError */
export function orFileError<T>(flag: keyof Flags, file: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw fileError(flag, file, error);
  }
}

export function fileError(flag: keyof Flags, file: string, cause: unknown): FlagError {
  const error = cause as Error;
  const problem = 'syscall' in error ? fileProblem(error) : error.message;
  return new FlagError(`--${flag}=${file}: ${problem}`, { cause });
}

// One row of the table of flags.
import type { FlagKind } from './flag-kinds.ts';

export interface Flag<T> {
  readonly section: string;
  readonly kind: FlagKind<T>;
  /** Text of the default, as a user would write it; undefined: the flag is off. */
  readonly fallback: string | undefined;
  readonly help: string;
  /** Warns when used; says what to use instead. */
  readonly deprecated?: string;
}

export const required = <T>(
  section: string,
  kind: FlagKind<T>,
  fallback: string,
  help: string,
): Flag<T> & { readonly fallback: string } => ({ section, kind, fallback, help });
export const optional = <T>(
  section: string,
  kind: FlagKind<T>,
  help: string,
): Flag<T> & { readonly fallback: undefined } => ({ section, kind, fallback: undefined, help });

// What writers of finalizers are told, where any name is taken.
import { listAt, recordAt } from './json-access.ts';
import { isStandardFinalizer } from './meta.ts';
import { qualifiedNameProblems } from './name-rules.ts';
import type { JsonObject } from './type-info.ts';
import type { NamingProfile } from './vendor.ts';

/** One for each thing to say of each finalizer that `old` does not have; undefined: it is new. */
export function finalizerWarnings(
  object: Readonly<JsonObject>,
  old: Readonly<JsonObject> | undefined,
  profile: NamingProfile,
): string[] {
  const before = new Set(finalizersOf(old));
  const added = new Set(finalizersOf(object).filter((one) => !before.has(one)));
  return [...added].sort().flatMap((finalizer) => {
    const problems = qualifiedNameProblems(finalizer);
    if (!finalizer.includes('/') && !isStandardFinalizer(finalizer, profile)) {
      const path = finalizer.includes('.') ? ' including a path (/)' : '';
      problems.push(
        `prefer a domain-qualified finalizer name${path} ` +
          'to avoid accidental conflicts with other finalizer writers',
      );
    }
    return problems.map((what) => `metadata.finalizers: ${JSON.stringify(finalizer)}: ${what}`);
  });
}

const finalizersOf = (object: Readonly<JsonObject> | undefined): string[] =>
  listAt(recordAt(object, 'metadata'), 'finalizers').filter((one) => typeof one === 'string');

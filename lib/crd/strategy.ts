// How writes of custom resources differ from those of built-in kinds.
import { finalizerWarnings } from '../api/finalizer-warnings.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { forbidden } from '../base/status.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import type { Definition } from './definition.ts';

export const customStrategy = (
  { group, names, isTerminating }: Definition,
  naming: NamingProfile,
): ResourceStrategy => ({
  validatesUnchanged: true,
  takesUnqualifiedFinalizers: 'always',
  warnings: (object, old) => finalizerWarnings(object, old, naming),
  ...(isTerminating
    ? {
        whyNoNew: (name) =>
          forbidden(
            { group, resource: names.plural },
            name,
            'create not allowed while custom resource definition is terminating',
          ),
      }
    : {}),
});

// How writes of custom resources differ from those of built-in kinds.
import { forbidden } from '../base/status.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import type { Definition } from './definition.ts';

export const customStrategy = ({ group, names, isTerminating }: Definition): ResourceStrategy => ({
  validatesUnchanged: true,
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

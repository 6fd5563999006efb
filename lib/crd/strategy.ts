// How writes of custom resources differ from those of built-in kinds.
import { finalizerWarnings } from '../api/finalizer-warnings.ts';
import { parseApiVersion } from '../api/resource-records.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { forbidden } from '../base/status.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import type { Definition } from './definition.ts';
import { placesOf } from './records.ts';
import { scaleErrors } from './scale-errors.ts';

export function customStrategy(
  { group, names, versions, isTerminating }: Definition,
  naming: NamingProfile,
): ResourceStrategy {
  return {
    validatesUnchanged: true,
    takesUnqualifiedFinalizers: 'always',
    warnings: (object, old, { subresource }) =>
      subresource === 'status' ? [] : finalizerWarnings(object, old, naming),
    generation: { countsPlainStatus: true },
    writtenBySubresource: { status: ['status'] },
    validate(object, _old, { subresource }) {
      const { version } = parseApiVersion(object.apiVersion ?? '');
      const scale = versions.find(({ name }) => name === version)?.scale;
      return scale === undefined ? [] : scaleErrors(object, placesOf(scale), subresource);
    },
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
  };
}

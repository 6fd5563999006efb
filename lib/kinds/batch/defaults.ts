// Defaults of jobs that depend on other fields. They hold for jobs, not for a cron job's template.
import { ensureRecord, fillUnset, isUnset, labelLikeTemplate } from '../../api/default-rule.ts';
import type { DefaultRules } from '../../api/default-rule.ts';

const unlimitedRetries = 2_147_483_647;

export const jobDefaults: DefaultRules = {
  'batch/v1.Job': {
    version: 1,
    complete(object) {
      const spec = ensureRecord(object, 'spec');
      // A job without either number runs one pod to its end.
      if (isUnset(spec['completions']) && isUnset(spec['parallelism'])) spec['completions'] = 1;
      const backoffLimit = isUnset(spec['backoffLimitPerIndex']) ? 6 : unlimitedRetries;
      const hasFailurePolicy = !isUnset(spec['podFailurePolicy']);
      fillUnset(spec, {
        parallelism: 1,
        backoffLimit,
        completionMode: 'NonIndexed',
        suspend: false,
        podReplacementPolicy: hasFailurePolicy ? 'Failed' : 'TerminatingOrFailed',
        manualSelector: false,
      });
      labelLikeTemplate(object);
    },
  },
};

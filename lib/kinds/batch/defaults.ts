// Defaults of jobs that depend on other fields. They hold for jobs, not for a cron job's template.
import { ensureRecord, fillUnset, labelLikeTemplate } from '../../api/default-rule.ts';
import type { DefaultRules } from '../../api/default-rule.ts';
import { isAbsent } from '../../api/presence.ts';

const unlimitedRetries = 2_147_483_647;

export const jobDefaults: DefaultRules = {
  'batch/v1.Job': {
    version: 1,
    complete(object) {
      const spec = ensureRecord(object, 'spec');
      // A job without either number runs one pod to its end.
      if (isAbsent(spec['completions']) && isAbsent(spec['parallelism'])) spec['completions'] = 1;
      const backoffLimit = isAbsent(spec['backoffLimitPerIndex']) ? 6 : unlimitedRetries;
      const hasFailurePolicy = !isAbsent(spec['podFailurePolicy']);
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

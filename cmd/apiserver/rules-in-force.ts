// The rules of admission that are objects of the API, and what metrics tell of them.
import type { RulesInForce } from '../../lib/admission/in-force.ts';
import { rulesOfApi } from '../../lib/registry/rules-of-api.ts';
import type { RulesOfApiOptions } from '../../lib/registry/rules-of-api.ts';
import type { Base } from './base.ts';

type Of = Pick<RulesOfApiOptions, 'keyspace' | 'cache' | 'resources'>;

/** undefined: there are none. */
export function openRules({ scheme, metrics }: Base, of: Of): RulesInForce | undefined {
  const { series, beforeText } = metrics;
  const retries = series.apiserver_admission_configuration_retries_total.child();
  const rules = rulesOfApi({ scheme, ...of, onChanged: () => retries.value++ });
  if (rules === undefined) return undefined;
  const revision = series.apiserver_admission_configuration_revision.child();
  beforeText.add(() => {
    revision.value = rules.revision;
    return Promise.resolve();
  });
  return rules;
}

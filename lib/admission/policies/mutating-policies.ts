// The plugin MutatingAdmissionPolicy: what the policies that are in force make of each object, in a
// fixed order: those of files first, then policies by name, their bindings by name, parameters by
// namespace and name. Each works on what those before it have left.
import { whenThere } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionPlugin, MutatingPass } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { KeptCompilations } from './kept-compilations.ts';
import { PolicySource } from './matched-policies.ts';
import { tracedPhase } from './traced-phase.ts';
import { compileMutating } from './mutating-expressions.ts';
import { MutatingRound } from './mutating-round.ts';
import { Reinvocation } from '../reinvocation.ts';

const name = 'MutatingAdmissionPolicy';
const resources = {
  policies: 'mutatingadmissionpolicies',
  bindings: 'mutatingadmissionpolicybindings',
};

export function mutatingPolicies(parts: PluginParts): AdmissionPlugin {
  const source = new PolicySource(parts, resources);
  const compilations = new KeptCompilations((policy) => compileMutating(policy, parts.naming));
  const plugin: AdmissionPlugin = {
    name,
    isConfigured: true,
    sideEffects: false,
    handles: (request) => source.mayMatch(request),
    mutate(request, object, signal, pass) {
      if (!hasWork(pass, object)) return false;
      return whenThere(source.select(request, object, signal), (selection) => {
        if (selection === undefined) return false;
        const { selected, matched } = selection;
        const reinvocation = Reinvocation.of(plugin, pass);
        const round = { ...selected, object, pass: pass.index, reinvocation };
        const asked = new MutatingRound(parts, compilations, round, signal);
        return parts.tracing === undefined
          ? asked.run(matched)
          : tracedPhase(parts.tracing, 'mutating', selection, () => asked.run(matched));
      });
    },
  };
  const hasWork = (pass: MutatingPass, object: Readonly<ApiObject>): boolean => {
    if (pass.index === 0) return true;
    const reinvocation = Reinvocation.of(plugin, pass);
    reinvocation.passBegins(object);
    return reinvocation.wantsAny;
  };
  return plugin;
}

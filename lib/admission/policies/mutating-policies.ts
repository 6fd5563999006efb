// The plugin MutatingAdmissionPolicy: what the policies that are in force make of each object, in a
// fixed order: those of files first, then policies by name, their bindings by name, parameters by
// namespace and name. Each works on what those before it have left.
import { whenThere } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isConfiguration, isReview } from '../match/excluded.ts';
import { storedNamespace } from '../match/namespace.ts';
import type { AdmissionPlugin, AdmissionRequest, MutatingPass } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { policySets } from './bindings.ts';
import { KeptCompilations } from './kept-compilations.ts';
import { candidatesOf, matchedOf, mayMatch } from './matched-policies.ts';
import { compileMutating } from './mutating-expressions.ts';
import { MutatingRound } from './mutating-round.ts';
import { Reinvocation } from '../reinvocation.ts';

const name = 'MutatingAdmissionPolicy';
const resources = {
  policies: 'mutatingadmissionpolicies',
  bindings: 'mutatingadmissionpolicybindings',
};

export function mutatingPolicies(parts: PluginParts): AdmissionPlugin {
  const sets = policySets(parts, resources);
  const namespaces = parts.objects('', 'namespaces');
  const isOfRules = isConfiguration(parts.naming);
  const isOfReviews = isReview(parts.naming);
  const setsFor = (request: AdmissionRequest): ReturnType<typeof sets.all> =>
    isOfRules(request) ? sets.ofFiles() : sets.all();
  const compilations = new KeptCompilations((policy) => compileMutating(policy, parts.naming));
  const plugin: AdmissionPlugin = {
    name,
    isConfigured: true,
    sideEffects: false,
    handles: (request) => !isOfReviews(request) && mayMatch(setsFor(request), request),
    mutate(request, object, signal, pass) {
      return whenThere(setsFor(request), (all) => {
        const candidates = candidatesOf(all, request);
        if (candidates.length === 0 || !hasWork(pass, object)) return false;
        return whenThere(storedNamespace(request, namespaces, signal), (namespace) => {
          const selected = { request, object, namespace };
          const matched = matchedOf(candidates, selected);
          if (matched.length === 0) return false;
          const reinvocation = Reinvocation.of(plugin, pass);
          const round = { ...selected, pass: pass.index, reinvocation };
          return new MutatingRound(parts, compilations, round, signal).run(matched);
        });
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

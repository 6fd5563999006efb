// PodNodeSelector: the pods of a namespace run on the nodes that its annotation selects, or those
// for all; the configuration bounds what pods of a namespace may select.
import { asText, entriesAt, recordAt, recordIn, textAt, valueAt } from '../../api/json-access.ts';
import { isObject } from '../../api/json-value.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { notFound } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';

type Labels = Readonly<Record<string, string>>;
type Parts = Pick<PluginParts, 'naming' | 'objects' | 'configurationOf'>;

const name = 'PodNodeSelector';

export function podNodeSelector(parts: Parts): AdmissionPlugin | undefined {
  const namespaces = parts.objects('', 'namespaces');
  if (namespaces === undefined) return undefined;
  const annotation = parts.naming.resolve('scheduler.alpha.{kubernetes}.io/node-selector');
  const configured = readConfiguration(parts.configurationOf(name));
  const selectorOf = (
    request: AdmissionRequest,
    pod: Readonly<ApiObject>,
    signal: AbortSignal,
  ): MaybePromise<Labels> => {
    const key = { namespace: '', name: request.namespace };
    return whenThere(findObject(namespaces, key, signal), (namespace) => {
      if (namespace === undefined) {
        throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
      }
      const annotations = recordIn(namespace, 'metadata', 'annotations');
      const given = valueAt(annotations, annotation);
      if (given === undefined) return configured.get('clusterDefaultNodeSelector') ?? {};
      try {
        return readLabels(asText(given));
      } catch (error) {
        throw refusal(request, pod, `${annotation}: ${(error as Error).message}`);
      }
    });
  };
  /** @throws StatusError 403 where the pod selects something else. */
  const merged = (
    request: AdmissionRequest,
    pod: Readonly<ApiObject>,
    wanted: Labels,
  ): JsonObject => {
    const given = recordAt(recordAt(pod, 'spec'), 'nodeSelector') ?? {};
    const isOther = (key: string): boolean =>
      Object.hasOwn(given, key) && textAt(given, key) !== wanted[key];
    if (Object.keys(wanted).some(isOther)) {
      const text = 'pod node label selector conflicts with its namespace node label selector';
      throw refusal(request, pod, text);
    }
    return { ...given, ...wanted };
  };
  return {
    name,
    sideEffects: false,
    handles: handling({ resource: 'pods', operations: ['CREATE'] }),
    mutate: (request, pod, signal) =>
      whenThere(selectorOf(request, pod, signal), (wanted) => {
        const spec = recordAt(pod, 'spec');
        const selector = merged(request, pod, wanted);
        if (spec === undefined || Object.keys(wanted).length === 0) return false;
        spec['nodeSelector'] = selector;
        return true;
      }),
    validate(request, pod, signal) {
      if (pod === undefined) return;
      return whenThere(selectorOf(request, pod, signal), (wanted) => {
        merged(request, pod, wanted);
        const allowed = configured.get(request.namespace) ?? {};
        const chosen = entriesAt(recordAt(pod, 'spec'), 'nodeSelector');
        if (Object.keys(allowed).length === 0) return;
        if (chosen.every(([key, value]) => allowed[key] === value)) return;
        const text = 'pod node label selector labels conflict with its namespace whitelist';
        throw refusal(request, pod, text);
      });
    },
  };
}

/** By namespace, and one for those without an annotation. @throws Error */
function readConfiguration(document: object | undefined): ReadonlyMap<string, Labels> {
  if (document === undefined) return new Map();
  const member = 'podNodeSelectorPluginConfig';
  const config = document as JsonObject; // parsed YAML
  const selectors = config[member] ?? {};
  const other = Object.keys(config).find((key) => key !== member);
  if (other !== undefined) throw new Error(`unknown field "${other}"`);
  if (!isObject(selectors)) throw new Error(`${member}: must be an object`);
  return new Map(
    Object.entries(selectors).map(([key, value]) => {
      try {
        if (typeof value !== 'string' && value !== null) throw new Error('must be a text');
        return [key, readLabels(value ?? '')] as const;
      } catch (error) {
        throw new Error(`${member}.${key}: ${(error as Error).message}`, { cause: error });
      }
    }),
  );
}

/** Of `a=b,c=d`. @throws Error for anything else */
function readLabels(text: string): Labels {
  if (text === '') return {};
  const pairs = text.split(',').map((pair) => {
    const [key = '', value, ...more] = pair.split('=').map((part) => part.trim());
    const isPair = value !== undefined && more.length === 0;
    if (isPair && [...qualifiedNameProblems(key), ...labelValueProblems(value)].length === 0) {
      return [key, value] as const;
    }
    throw new Error(`invalid selector: ${text}`);
  });
  return Object.fromEntries(pairs);
}

// PodTolerationRestriction: the pods of a namespace get the tolerations of its annotation, or those
// for all, and may have no others than a list allows. A pod that asks for anything stays on a node
// whose memory is short.
import {
  asRecord,
  isSet,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  valueAt,
} from '../../api/json-access.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { fieldErrorText, notFound } from '../../base/status.ts';
import { FieldErrors } from '../../api/field-errors.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { StrictFields } from '../../codec/strict-fields.ts';
import { parsedAnnotation } from '../../kinds/core/node-taints.ts';
import { qualityOf } from '../../kinds/core/pod-quality.ts';
import { validateTolerations } from '../../kinds/core/pod-scheduling.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';
import { covers, mergeTolerations } from '../tolerations.ts';

type Pod = Readonly<ApiObject>;
type Tolerations = readonly JsonObject[];
type Parts = Pick<PluginParts, 'naming' | 'objects' | 'gates' | 'configurationOf'>;

const name = 'PodTolerationRestriction';

export function podTolerationRestriction(parts: Parts): AdmissionPlugin | undefined {
  const { naming } = parts;
  const namespaces = parts.objects('', 'namespaces');
  if (namespaces === undefined) return undefined;
  const ofAll = readConfiguration(parts);
  const keys = {
    defaults: naming.resolve('scheduler.alpha.{kubernetes}.io/defaultTolerations'),
    allowed: naming.resolve('scheduler.alpha.{kubernetes}.io/tolerationsWhitelist'),
  };
  const pressure = {
    key: naming.resolve('node.{kubernetes}.io/memory-pressure'),
    operator: 'Exists',
    effect: 'NoSchedule',
  };
  /** What the annotation of the pod's namespace says; undefined: there is none. */
  const annotated = (
    request: AdmissionRequest,
    pod: Pod,
    key: string,
    signal: AbortSignal,
  ): MaybePromise<Tolerations | undefined> =>
    whenThere(
      findObject(namespaces, { namespace: '', name: request.namespace }, signal),
      (namespace) => {
        if (namespace === undefined) {
          throw notFound({ group: '', resource: 'namespaces' }, request.namespace);
        }
        const annotations = recordIn(namespace, 'metadata', 'annotations');
        if (!isSet(annotations, key)) return undefined;
        const list = readTolerations(textAt(annotations, key));
        if (list !== undefined) return list;
        throw refusal(request, pod, `annotation ${key} of the namespace is no list of tolerations`);
      },
    );
  return {
    name,
    sideEffects: false,
    handles: handling({ resource: 'pods', operations: ['CREATE', 'UPDATE'] }),
    mutate(request, pod, signal) {
      const spec = recordAt(pod, 'spec');
      if (spec === undefined) return false;
      const given = recordsAt(spec, 'tolerations');
      const withPressure = (list: Tolerations): boolean => {
        const all =
          qualityOf(pod) === 'BestEffort' ? list : mergeTolerations(list, [{ ...pressure }]);
        if (all.length === 0 || sameJson([...all], [...given])) return false;
        spec['tolerations'] = [...all];
        return true;
      };
      if (request.operation !== 'CREATE') return withPressure(given);
      return whenThere(annotated(request, pod, keys.defaults, signal), (own) => {
        const defaults = (own ?? ofAll.defaults).map((one) => ({ ...one }));
        return withPressure(mergeTolerations(defaults, given));
      });
    },
    validate(request, pod, signal) {
      const given = recordsAt(recordAt(pod, 'spec'), 'tolerations');
      if (pod === undefined || given.length === 0) return;
      return whenThere(annotated(request, pod, keys.allowed, signal), (own) => {
        const allowed = own ?? ofAll.allowed;
        if (allowed.length === 0) return;
        if (given.every((one) => allowed.some((wide) => covers(wide, one)))) return;
        const scope = own === undefined ? 'cluster' : 'namespace';
        const text = 'pod tolerations (possibly merged with namespace default tolerations)';
        throw refusal(request, pod, `${text} conflict with its ${scope} whitelist`);
      });
    },
  };
}

/** An empty text means none; undefined: it is no list of tolerations. */
function readTolerations(text: string): Tolerations | undefined {
  if (text === '') return [];
  const list = parsedAnnotation(text);
  if (!Array.isArray(list)) return undefined;
  const tolerations = list.map(readToleration).filter((one) => one !== undefined);
  return tolerations.length === list.length ? tolerations : undefined;
}

const textMembers = ['key', 'operator', 'value', 'effect'] as const;
const secondsMember = 'tolerationSeconds';

/** What it says beyond its fields is left out. */
function readToleration(of: JsonValue): JsonObject | undefined {
  const given = asRecord(of);
  if (given === undefined) return undefined;
  const toleration: JsonObject = {};
  for (const member of textMembers) {
    const text = valueAt(given, member);
    if (text === undefined || text === '') continue;
    if (typeof text !== 'string') return undefined;
    toleration[member] = text;
  }
  const seconds = valueAt(given, secondsMember);
  if (seconds === undefined) return toleration;
  if (!Number.isSafeInteger(seconds)) return undefined;
  return { ...toleration, [secondsMember]: seconds };
}

interface Configuration {
  readonly defaults: Tolerations;
  readonly allowed: Tolerations;
}

/** @throws Error */
function readConfiguration({ naming, gates, configurationOf }: Parts): Configuration {
  const document = configurationOf(name) as JsonObject | undefined; // parsed YAML
  if (document === undefined) return { defaults: [], allowed: [] };
  const root = StrictFields.of(document, {
    kind: 'Configuration',
    apiVersions: [naming.resolve('podtolerationrestriction.admission.{v}/v1alpha1')],
  });
  const read = (list: string): Tolerations => root.objects(list).map(tolerationOf);
  const configuration = { defaults: read('default'), allowed: read('whitelist') };
  root.finish();
  const errors = new FieldErrors();
  const scope = { errors, naming, isOn: (gate: string) => gates.isEnabled(gate) };
  validateTolerations(configuration.defaults, 'default', scope);
  validateTolerations(configuration.allowed, 'whitelist', scope);
  const [first] = errors.list;
  if (first !== undefined) throw new Error(fieldErrorText(first));
  return configuration;
}

function tolerationOf(fields: StrictFields): JsonObject {
  const toleration: JsonObject = {};
  for (const member of textMembers) {
    const text = fields.text(member);
    if (text !== '') toleration[member] = text;
  }
  const seconds = fields.integer(secondsMember);
  if (seconds !== undefined) toleration[secondsMember] = seconds;
  return toleration;
}

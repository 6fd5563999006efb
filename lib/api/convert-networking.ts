// Ingresses between the versions that name a service and its port side by side and the stable one,
// which holds them in a message of their own; endpoint slices with topology labels.
import { compact, eachIn, hasValue, renamed, within, without } from './convert-fields.ts';
import type { Conversion, Conversions, Data, Step } from './convert-fields.ts';
import { isSet, recordAt, textAt } from './json-access.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

const inRules =
  (backend: Step): Step =>
  (spec) =>
    eachIn(spec, 'rules', (rule) =>
      within(rule, ['http'], (http) =>
        eachIn(http, 'paths', (path) => within(path, ['backend'], backend)),
      ),
    );

/** A port of 0 says nothing, like an absent one. */
function stablePort(port: JsonValue | undefined): JsonObject {
  if (typeof port === 'string') return port === '' ? {} : { name: port };
  return port === undefined || port === null || port === 0 ? {} : { number: port };
}

const backendToStable: Step = (backend) => {
  const rest = without(backend, 'serviceName', 'servicePort');
  const port = stablePort(backend['servicePort']);
  if (!hasValue(backend, 'serviceName') && Object.keys(port).length === 0) return rest;
  return { ...rest, service: { name: textAt(backend, 'serviceName'), port } };
};

const backendFromStable: Step = (backend) => {
  const service = recordAt(backend, 'service');
  if (service === undefined) return { ...backend };
  const port = recordAt(service, 'port') ?? {};
  const servicePort = hasValue(port, 'name') ? port['name'] : port['number'];
  const named = compact({ serviceName: service['name'], servicePort: servicePort ?? 0 });
  return { ...without(backend, 'service'), ...named };
};

const ingressToStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => {
    const changed = within(spec, ['backend'], backendToStable);
    return inRules(backendToStable)(renamed(changed, { backend: 'defaultBackend' }));
  });

const ingressFromStable: Conversion = (object) =>
  within(object, ['spec'], (spec) => {
    const changed = within(spec, ['defaultBackend'], backendFromStable);
    return inRules(backendFromStable)(renamed(changed, { defaultBackend: 'backend' }));
  });

const zoneLabel = 'topology.{kubernetes}.io/zone';
const hostLabel = '{kubernetes}.io/hostname';

/** Zone and node become fields; a label that disagrees with its field stays a label. */
const endpointToStable =
  (labels: { readonly zone: string; readonly host: string }): Step =>
  (endpoint) => {
    const topology = recordAt(endpoint, 'topology') ?? {};
    const rest = without(endpoint, 'topology');
    const zone = textAt(topology, labels.zone);
    const host = textAt(topology, labels.host);
    const nodeName = isSet(endpoint, 'nodeName') ? endpoint['nodeName'] : host;
    const moved = [
      ...(zone === '' ? [] : [labels.zone]),
      ...(host !== '' && host === nodeName ? [labels.host] : []),
    ];
    const deprecatedTopology = without(topology, ...moved);
    return {
      ...rest,
      ...(Object.keys(deprecatedTopology).length === 0 ? {} : { deprecatedTopology }),
      ...(nodeName === undefined || nodeName === '' ? {} : { nodeName }),
      ...(zone === '' ? {} : { zone }),
    };
  };

const endpointFromStable =
  (labels: { readonly zone: string; readonly host: string }): Step =>
  (endpoint) => {
    const { zone, nodeName } = endpoint;
    const topology: Data = {
      ...compact({ [labels.zone]: zone, [labels.host]: nodeName }),
      ...recordAt(endpoint, 'deprecatedTopology'),
    };
    const rest = without(endpoint, 'deprecatedTopology', 'zone');
    return Object.keys(topology).length === 0 ? rest : { ...rest, topology };
  };

const sliceConversion =
  (step: typeof endpointToStable): Conversion =>
  (object, profile) => {
    const labels = { zone: profile.resolve(zoneLabel), host: profile.resolve(hostLabel) };
    return eachIn(object, 'endpoints', step(labels));
  };

export const networkingConversions: Conversions = {
  'extensions/v1beta1.Ingress > networking/v1.Ingress': ingressToStable,
  'networking/v1.Ingress > extensions/v1beta1.Ingress': ingressFromStable,
  'networking/v1beta1.Ingress > networking/v1.Ingress': ingressToStable,
  'networking/v1.Ingress > networking/v1beta1.Ingress': ingressFromStable,
  'discovery/v1beta1.EndpointSlice > discovery/v1.EndpointSlice': sliceConversion(endpointToStable),
  'discovery/v1.EndpointSlice > discovery/v1beta1.EndpointSlice':
    sliceConversion(endpointFromStable),
};

// Endpoint slices: the beta has topology labels where the stable version has fields.
import { isEmpty } from '../../api/presence.ts';
import { without } from '../../api/json-value.ts';
import { compact, eachIn } from '../../api/convert-fields.ts';
import type { Conversion, Conversions, Data, Step } from '../../api/convert-fields.ts';
import { isSet, recordAt, textAt } from '../../api/json-access.ts';

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
      ...(isEmpty(deprecatedTopology) ? {} : { deprecatedTopology }),
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
    return isEmpty(topology) ? rest : { ...rest, topology };
  };

const sliceConversion =
  (step: typeof endpointToStable): Conversion =>
  (object, profile) => {
    const labels = { zone: profile.resolve(zoneLabel), host: profile.resolve(hostLabel) };
    return eachIn(object, 'endpoints', step(labels));
  };

export const endpointSliceConversions: Conversions = {
  'discovery/v1beta1.EndpointSlice > discovery/v1.EndpointSlice': sliceConversion(endpointToStable),
  'discovery/v1.EndpointSlice > discovery/v1beta1.EndpointSlice':
    sliceConversion(endpointFromStable),
};

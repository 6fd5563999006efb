// What is valid in a service and yet ignored, deprecated or unusual.
import { cidrWarnings, ipWarnings } from '../../api/address-formats.ts';
import { isSet, recordAt, recordIn, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { KindWrite, Warnings } from '../validator.ts';
import { topologyHintsAnnotation, topologyModeAnnotation } from './service-types.ts';

export const serviceWarnings: Warnings = (write) => {
  const spec = recordAt(write.object, 'spec') ?? {};
  return [
    ...annotationWarnings(write),
    ...typeWarnings(spec),
    ...addressWarnings(spec),
    ...(textAt(spec, 'trafficDistribution') === 'PreferClose'
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ];
};

export const serviceStatusWarnings: Warnings = ({ object }) =>
  recordsAt(recordIn(object, 'status', 'loadBalancer'), 'ingress').flatMap((point, at) =>
    ipWarnings(`status.loadBalancer.ingress[${String(at)}]`, textAt(point, 'ip')),
  );

function annotationWarnings({ object, naming }: KindWrite): readonly string[] {
  const hints = topologyHintsAnnotation(naming);
  if (!isSet(recordIn(object, 'metadata', 'annotations'), hints)) return [];
  const mode = topologyModeAnnotation(naming);
  return [`annotation ${hints} is deprecated, please use ${mode} instead`];
}

/** What a service of this type has no use for. */
function typeWarnings(spec: JsonObject): readonly string[] {
  const warnings: string[] = [];
  const isExternalName = textAt(spec, 'type') === 'ExternalName';
  const isHeadless = textAt(spec, 'type') === 'ClusterIP' && textAt(spec, 'clusterIP') === 'None';
  const hasExternal = textsAt(spec, 'externalIPs').length > 0;
  if (isHeadless) {
    const ignored = 'is ignored for headless services';
    if (textAt(spec, 'loadBalancerIP') !== '') warnings.push(`spec.loadBalancerIP ${ignored}`);
    if (hasExternal) warnings.push(`spec.externalIPs ${ignored}`);
    if (textAt(spec, 'sessionAffinity') !== 'None') {
      warnings.push(`spec.SessionAffinity ${ignored}`);
    }
  } else if (hasExternal && !isExternalName) {
    warnings.push(
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
    );
  }
  if (hasExternal && isExternalName) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (!isExternalName && textAt(spec, 'externalName') !== '') {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  return warnings;
}

function addressWarnings(spec: JsonObject): readonly string[] {
  const ofList = (name: string, of: typeof ipWarnings): readonly string[] =>
    textsAt(spec, name).flatMap((text, at) => of(`spec.${name}[${String(at)}]`, text));
  const hasAddress = !['', 'None'].includes(textAt(spec, 'clusterIP'));
  return [
    ...(hasAddress ? ofList('clusterIPs', ipWarnings) : []),
    ...ofList('externalIPs', ipWarnings),
    ...ipWarnings('spec.loadBalancerIP', textAt(spec, 'loadBalancerIP')),
    ...ofList('loadBalancerSourceRanges', cidrWarnings),
  ];
}

// Ingresses between the versions that name a service and its port side by side and the stable one,
// which holds them in a message of their own.
import { compact, eachIn, renamed, within } from '../../api/convert-fields.ts';
import type { Conversion, Conversions, Step } from '../../api/convert-fields.ts';
import { recordAt, textAt } from '../../api/json-access.ts';
import { isEmpty, isZero } from '../../api/presence.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';

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
  return isZero(port) ? {} : { number: port };
}

const backendToStable: Step = (backend) => {
  const rest = without(backend, 'serviceName', 'servicePort');
  const port = stablePort(backend['servicePort']);
  if (textAt(backend, 'serviceName') === '' && isEmpty(port)) return rest;
  return { ...rest, service: { name: textAt(backend, 'serviceName'), port } };
};

const backendFromStable: Step = (backend) => {
  const service = recordAt(backend, 'service');
  if (service === undefined) return { ...backend };
  const port = recordAt(service, 'port') ?? {};
  const servicePort = textAt(port, 'name') !== '' ? port['name'] : port['number'];
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

export const ingressConversions: Conversions = {
  'extensions/v1beta1.Ingress > networking/v1.Ingress': ingressToStable,
  'networking/v1.Ingress > extensions/v1beta1.Ingress': ingressFromStable,
  'networking/v1beta1.Ingress > networking/v1.Ingress': ingressToStable,
  'networking/v1.Ingress > networking/v1beta1.Ingress': ingressFromStable,
};

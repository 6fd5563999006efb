// A write as plugins are asked about it, of a resource that is served in the default naming, and
// what they said meanwhile.
import { convertObject } from '../../api/convert.ts';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { AdmissionRequest } from '../plugin.ts';

export const naming = namingProfile('svc');
export const scheme = builtInScheme({ profile: naming });

/** By plural name, in a version that is on by default. @throws Error where there is none. */
export function resourceOf(resource: string, group = ''): AdmissionRequest['resource'] {
  const resolved = naming.resolve(group);
  const found = scheme.resources.find((one) => one.group === resolved && one.resource === resource);
  if (found === undefined) throw new Error(`no resource ${resource} in group "${resolved}"`);
  return found;
}

export interface Asked {
  readonly request: AdmissionRequest;
  readonly warnings: string[];
  readonly annotations: Map<string, string>;
}

/** CREATE of the pod `x` in the namespace `a`, but for what `change` says. */
export function asked(change: Partial<AdmissionRequest> = {}): Asked {
  const { resource = resourceOf('pods') } = change;
  const warnings: string[] = [];
  const annotations = new Map<string, string>();
  const request: AdmissionRequest = {
    operation: 'CREATE',
    resource,
    kind: resource.kind,
    form: scheme.storageResource(resource),
    subresource: '',
    options: undefined,
    convert: (object, toApiVersion) => convertObject(object, toApiVersion, scheme),
    namespace: 'a',
    name: 'x',
    user: { name: 'tester', uid: '', groups: [], extra: {} },
    dryRun: false,
    warn: (text) => warnings.push(text),
    annotate: (key, value) => annotations.set(key, value),
    old: undefined,
    ...change,
  };
  return { request, warnings, annotations };
}

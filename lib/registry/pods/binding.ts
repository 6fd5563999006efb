// Binding: a scheduler assigns a pod to a node, once. It sets the node's name, adds the labels and
// annotations of the Binding, and says in a condition that the pod is scheduled. As in Kubernetes
// the pod's generation stays, and nobody comes to own what is set.
import { ensureRecord } from '../../api/default-rule.ts';
import { entriesAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { cloneAlike, setMember } from '../../api/json-value.ts';
import { validateObjectMetaUpdate } from '../../api/meta.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { ResourceInfo, SubresourceInfo } from '../../api/type-info.ts';
import { conflict, invalid } from '../../base/status.ts';
import type { FieldError } from '../../base/status.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isDeleting, metaOf, nameOf } from '../../codec/object-meta.ts';
import { judgedNow } from '../judged-now.ts';
import { changeStored } from '../change-stored.ts';
import { canTakeUnqualifiedFinalizers, checkName } from '../object-meta.ts';
import { notSupported } from '../options.ts';
import { recordOf } from '../own-kind.ts';
import { admittedBody, statusRecord, succeeded } from '../posted-action.ts';
import { parseResourceVersion } from '../read-mode.ts';
import type { CreateRequest } from '../requests.ts';
import { itemKeyOf } from '../store-parts.ts';
import type { StoreParts } from '../store-parts.ts';
import type { Subresource } from '../verb-target.ts';
import { setPodCondition } from './pod-condition.ts';

/** undefined: the kind of the subresource is not known. */
export function bindingSubresource(
  parts: StoreParts,
  info: SubresourceInfo,
): Subresource | undefined {
  const binding = recordOf(parts, info.kind);
  if (binding === undefined) return undefined;
  const status = statusRecord(parts);
  return {
    info,
    resource: binding,
    input: binding,
    createAnswer: status,
    async create(request) {
      await bindPod(parts, { binding, admittedAs: parts.resource }, request);
      return succeeded(status);
    },
  };
}

interface BindingKinds {
  readonly binding: ResourceInfo;
  /** The resource that the request names. */
  readonly admittedAs: ResourceInfo;
}

/** @throws StatusError 400, 404, 409, 422, and of admission plugins. */
export async function bindPod(
  stored: StoreParts,
  { binding, admittedAs }: BindingKinds,
  request: CreateRequest,
): Promise<void> {
  const pods = judgedNow(stored);
  const posted = { ...pods, resource: admittedAs };
  const wanted = await admittedBody(posted, binding, request, (body) => {
    checkName(body, request.path.name);
    const errors = targetErrors(body);
    if (errors.length > 0) throw invalid(binding.kind, nameOf(body), errors);
    parseResourceVersion(body.metadata?.resourceVersion ?? ''); // throws 400
    return body;
  });
  const key = itemKeyOf(pods, request.path);
  await changeStored(pods, key, request, (item) => {
    checkBasis(pods, item, wanted);
    return boundPod(pods, item, wanted);
  });
}

function targetErrors(binding: Readonly<ApiObject>): FieldError[] {
  const target = recordAt(binding, 'target');
  const errors: FieldError[] = [];
  const kind = textAt(target, 'kind');
  if (!['', 'Node'].includes(kind)) {
    errors.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  }
  const name = textAt(target, 'name');
  const field = 'target.name';
  if (name === '') errors.push({ reason: 'FieldValueRequired', field, detail: '' });
  else {
    for (const detail of dns1123SubdomainProblems(name)) {
      errors.push({ reason: 'FieldValueInvalid', field, badValue: name, detail });
    }
  }
  return errors;
}

/** The uid and version that a Binding names are those of the pod it means. @throws StatusError. */
function checkBasis(pods: StoreParts, item: Item, { metadata = {} }: Readonly<ApiObject>): void {
  const stored = { uid: item.object().metadata?.uid ?? '', resourceVersion: String(item.revision) };
  for (const [name, what] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const wanted = metadata[name] ?? '';
    if (wanted === '' || wanted === stored[name]) continue;
    const message =
      `Precondition failed: ${what} in precondition: ${wanted}, ` +
      `${what} in object meta: ${stored[name]}`;
    throw conflict(pods.resource, item.name, message);
  }
}

/** @throws StatusError 409, 422. */
function boundPod(pods: StoreParts, item: Item, binding: Readonly<ApiObject>): ApiObject {
  const old = item.object();
  const refusal = whyNot(old);
  if (refusal !== undefined) {
    throw conflict({ ...pods.resource, resource: 'pods/binding' }, item.name, refusal);
  }
  const pod = cloneAlike(old) as ApiObject;
  const meta = metaOf(pod);
  for (const member of ['annotations', 'labels']) {
    for (const [name, value] of entriesAt(recordAt(binding, 'metadata'), member)) {
      setMember(ensureRecord(meta, member), name, value);
    }
  }
  const takesUnqualifiedFinalizers = canTakeUnqualifiedFinalizers(pods, old);
  const rules = { profile: pods.naming, takesUnqualifiedFinalizers };
  const errors = validateObjectMetaUpdate(meta, old.metadata ?? {}, rules);
  if (errors.length > 0) throw invalid(pods.storedAs.kind, item.name, errors);
  ensureRecord(pod, 'spec')['nodeName'] = textAt(recordAt(binding, 'target'), 'name');
  delete ensureRecord(pod, 'status')['nominatedNodeName'];
  setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, pods.clock.nowMs());
  return pod;
}

function whyNot(pod: Readonly<ApiObject>): string | undefined {
  const spec = recordAt(pod, 'spec');
  const name = nameOf(pod);
  if (isDeleting(pod)) return `pod ${name} is being deleted, cannot be assigned to a host`;
  const node = textAt(spec, 'nodeName');
  if (node !== '') return `pod ${name} is already assigned to node ${JSON.stringify(node)}`;
  const isGated = recordsAt(spec, 'schedulingGates').length > 0;
  return isGated ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

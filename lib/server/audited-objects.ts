// What audit events show of bodies and answers, where the policy asks for it: objects in JSON and
// in the version of the request, patches as they were sent, answers as they are shown.
import type { TypeInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { encodeText, stringify } from '../codec/json.ts';
import { readYaml } from '../codec/yaml-reader.ts';
import type { BodyKind } from '../registry/incoming.ts';
import type { ListAnswer } from '../registry/requests.ts';
import type { HttpRequest } from './request-context.ts';
import type { Serializer } from './serializers.ts';

/** The object of a body, decoded and not changed yet. */
export function recordObject(
  { context: { audit } }: HttpRequest,
  object: Readonly<ApiObject>,
  { type, kind: of }: BodyKind,
): void {
  if (audit === undefined) return;
  audit.named(object.metadata ?? {});
  if (!audit.takesRequest) return;
  const { kind = of.kind, apiVersion = apiVersionOf(of) } = object;
  const named = { ...object, kind, apiVersion };
  audit.requestObject([Buffer.from(encodeText(named, type))]);
}

/** Options that came as a body. */
export function recordOptions(
  { context: { audit } }: HttpRequest,
  options: Readonly<ApiObject>,
  type: TypeInfo,
): void {
  if (audit?.takesRequest === true) {
    audit.requestObject([Buffer.from(encodeText(options, type))]);
  }
}

/** A patch as it was sent, also where it turns out to be none; what cannot be read is left out. */
export function recordPatch({ context: { audit } }: HttpRequest, patch: Uint8Array): void {
  if (audit?.takesRequest !== true) return;
  const json = jsonOf(Buffer.from(patch).toString());
  if (json !== undefined) audit.requestObject([Buffer.from(json)]);
}

/** The object that is answered: JSON, whatever the encoding of the answer. */
export function recordAnswer(
  { context: { audit } }: HttpRequest,
  serializer: Serializer,
  item: Item,
): void {
  if (audit?.takesResponse === true) audit.responseObject([serializer.plain.object(item)]);
}

/** Of what acts instead of showing something, and answers that it has succeeded. */
export function recordAction({ context: { audit } }: HttpRequest): void {
  audit?.answeredStatus({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
}

/** Pieces that the answer shares. */
export async function recordList(
  { context: { audit } }: HttpRequest,
  serializer: Serializer,
  answer: ListAnswer,
): Promise<void> {
  if (audit?.takesResponse !== true) return;
  audit.responseObject([...(await serializer.plain.list(answer))]);
}

function jsonOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return fromYaml(text);
  }
}

function fromYaml(text: string): string | undefined {
  try {
    return stringify(readYaml(text).value ?? null);
  } catch {
    return undefined;
  }
}

// Types of the objects that expressions of the API server itself get: requests, namespaces, users.
// Their values are plain JSON; only checking knows these types.
import type { NamingProfile } from '../../api/vendor.ts';
import {
  boolType,
  dynType,
  intType,
  listType,
  mapType,
  stringType,
  structType,
  timestampType,
} from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { DeclaredType } from '../schema/declared-type.ts';

/** A type as data: a type of the language, or an object with its fields. */
export type Shape =
  | CelType
  | { readonly object: string; readonly fields: Readonly<Record<string, Shape>> }
  | { readonly listOf: Shape };

const texts = listType(stringType);
const labels = mapType(stringType, stringType);
const extra = mapType(stringType, texts);

const groupVersionKind: Shape = {
  object: 'GroupVersionKind',
  fields: { group: stringType, version: stringType, kind: stringType },
};
const groupVersionResource: Shape = {
  object: 'GroupVersionResource',
  fields: { group: stringType, version: stringType, resource: stringType },
};

export const userInfoShape: Shape = {
  object: 'UserInfo',
  fields: { username: stringType, uid: stringType, groups: texts, extra },
};

/** The variable `request` of policies and webhooks. */
export const admissionRequestShape: Shape = {
  object: 'AdmissionRequest',
  fields: {
    kind: groupVersionKind,
    resource: groupVersionResource,
    subResource: stringType,
    requestKind: groupVersionKind,
    requestResource: groupVersionResource,
    requestSubResource: stringType,
    name: stringType,
    namespace: stringType,
    operation: stringType,
    userInfo: userInfoShape,
    dryRun: boolType,
    options: dynType,
  },
};

/** The variable `namespaceObject`: the fields that policies may depend on. */
export const namespaceShape: Shape = {
  object: 'Namespace',
  fields: {
    metadata: {
      object: 'NamespaceMetadata',
      fields: {
        name: stringType,
        generateName: stringType,
        namespace: stringType,
        labels,
        annotations: labels,
        UID: stringType,
        creationTimestamp: timestampType,
        deletionGracePeriodSeconds: intType,
        deletionTimestamp: timestampType,
        generation: intType,
        resourceVersion: stringType,
        finalizers: texts,
      },
    },
    spec: { object: 'NamespaceSpec', fields: { finalizers: texts } },
    status: {
      object: 'NamespaceStatus',
      fields: {
        conditions: {
          listOf: {
            object: 'NamespaceCondition',
            fields: {
              status: stringType,
              type: stringType,
              lastTransitionTime: timestampType,
              message: stringType,
              reason: stringType,
            },
          },
        },
        phase: stringType,
      },
    },
  },
};

const requirement = (object: string): Shape => ({
  listOf: { object, fields: { key: stringType, operator: stringType, values: texts } },
});
const selector = (object: string, requirements: string): Shape => ({
  object,
  fields: { rawSelector: stringType, requirements: requirement(requirements) },
});

/** The variable `request` of authorization conditions. */
export function subjectAccessReviewShape(withSelectors: boolean): Shape {
  const resourceAttributes: Record<string, Shape> = {
    namespace: stringType,
    verb: stringType,
    group: stringType,
    version: stringType,
    resource: stringType,
    subresource: stringType,
    name: stringType,
  };
  if (withSelectors) {
    resourceAttributes['fieldSelector'] = selector(
      'FieldSelectorAttributes',
      'SelectorRequirement',
    );
    resourceAttributes['labelSelector'] = selector(
      'LabelSelectorAttributes',
      'SelectorRequirement',
    );
  }
  return {
    object: 'SubjectAccessReviewSpec',
    fields: {
      resourceAttributes: { object: 'ResourceAttributes', fields: resourceAttributes },
      nonResourceAttributes: {
        object: 'NonResourceAttributes',
        fields: { path: stringType, verb: stringType },
      },
      user: stringType,
      groups: texts,
      extra,
      uid: stringType,
    },
  };
}

/** The declared type of a shape, objects named in the naming profile's spelling. */
export function shapeType(shape: Shape, naming: NamingProfile): DeclaredType {
  const none = { fields: undefined, element: undefined, maxElements: 0, minSerializedSize: 0 };
  if ('object' in shape) {
    const fields = Object.entries(shape.fields).map(
      ([name, field]) => [name, shapeType(field, naming)] as const,
    );
    const celType = structType(naming.resolve(`{kubernetes}.${shape.object}`));
    return { ...none, celType, fields: new Map(fields) };
  }
  if ('listOf' in shape) {
    const element = shapeType(shape.listOf, naming);
    return { ...none, celType: listType(element.celType), element };
  }
  return { ...none, celType: shape };
}

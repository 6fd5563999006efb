// Environments as data: which variables the expressions of each use have, and of which types. The
// embedding binds plain JSON.
import type { NamingProfile } from '../../api/vendor.ts';
import { anyType, dynType, mapType, stringType } from '../model/cel-type.ts';
import { Environment, defaultVersion } from '../environment.ts';
import type { Variable } from '../environment.ts';
import { authorizerTypes, authorizerValue, requestResourceValue } from '../library/authorizer.ts';
import type { RequestedResource } from '../library/authorizer.ts';
import { keywordFieldsSince, objectTypesOf } from '../schema/declared-type.ts';
import type { DeclaredType } from '../schema/declared-type.ts';
import { mutationTypes } from './mutation-types.ts';
import {
  admissionRequestShape,
  namespaceShape,
  shapeType,
  subjectAccessReviewShape,
  userInfoShape,
} from './object-shapes.ts';

interface LanguageOptions {
  readonly naming: NamingProfile;
  readonly version?: number | 'stored';
  readonly authorizerSelectors?: boolean;
}

export interface PolicyEnvironmentOptions extends LanguageOptions {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /**
   * Types of `object` and `oldObject`, and of `params`, for checking against declared types.
   * Default: unknown.
   */
  readonly objectType?: DeclaredType;
  readonly paramsType?: DeclaredType;
  /** Adds the types `Object` and `JSONPatch`, for mutations. */
  readonly isMutating?: boolean;
}

/** Whether reserved words may be selected as fields in expressions of a version. */
const allowsKeywordFields = (version: number | 'stored'): boolean =>
  version === 'stored' || version >= keywordFieldsSince;

function environmentOf(
  options: LanguageOptions,
  variables: readonly Variable[],
  types: readonly (DeclaredType | undefined)[],
  isMutating = false,
): Environment {
  const version = options.version ?? defaultVersion;
  const objects = objectTypesOf(types, allowsKeywordFields(version));
  return new Environment({
    naming: options.naming,
    version,
    authorizerSelectors: options.authorizerSelectors ?? true,
    jsonPatch: isMutating,
    variables,
    objects: isMutating ? mutationTypes(objects) : objects,
  });
}

const untyped = new WeakMap<NamingProfile, Map<string, Environment>>();

/**
 * Validating and mutating policies, and match conditions of webhooks: null stands for what is
 * absent. Equal options give the same environment, so that programs can be cached by it; those with
 * declared types are made each time.
 */
export function policyEnvironment(options: PolicyEnvironmentOptions): Environment {
  const { naming, objectType, paramsType, ...rest } = options;
  if (objectType !== undefined || paramsType !== undefined) return makePolicyEnvironment(options);
  const known = untyped.get(naming) ?? new Map<string, Environment>();
  untyped.set(naming, known);
  const key = JSON.stringify(Object.entries(rest).sort());
  const environment = known.get(key) ?? makePolicyEnvironment(options);
  known.set(key, environment);
  return environment;
}

function makePolicyEnvironment(options: PolicyEnvironmentOptions): Environment {
  const { naming } = options;
  const request = shapeType(admissionRequestShape, naming);
  const namespace = shapeType(namespaceShape, naming);
  const objectType = options.objectType?.celType ?? dynType;
  const variables: Variable[] = [
    { name: 'object', type: objectType },
    { name: 'oldObject', type: objectType },
    { name: 'request', type: request.celType },
    { name: 'namespaceObject', type: namespace.celType },
  ];
  if (options.hasParams)
    variables.push({ name: 'params', type: options.paramsType?.celType ?? dynType });
  if (options.hasAuthorizer) variables.push(...authorizerVariables(naming));
  const types = [request, namespace, options.objectType, options.paramsType];
  return environmentOf(options, variables, types, options.isMutating);
}

/**
 * `authorizer`, which needs no binding, and `authorizer.requestResource`, to which the
 * RequestedResource of the request is bound.
 */
function authorizerVariables(naming: NamingProfile): readonly Variable[] {
  const { authorizer, resource } = authorizerTypes(naming);
  return [
    { name: 'authorizer', type: authorizer, value: authorizerValue(naming) },
    {
      name: 'authorizer.requestResource',
      type: resource,
      wrap: (bound) => requestResourceValue(naming, bound as RequestedResource),
    },
  ];
}

/**
 * Match conditions of authorization webhooks: `request` is the specification of an access review.
 */
export function authorizationEnvironment(options: LanguageOptions): Environment {
  const request = shapeType(
    subjectAccessReviewShape(options.authorizerSelectors ?? true),
    options.naming,
  );
  return environmentOf(options, [{ name: 'request', type: request.celType }], [request]);
}

/** Rules over the claims of a token. */
export function claimsEnvironment(options: LanguageOptions): Environment {
  return environmentOf(options, [{ name: 'claims', type: mapType(stringType, anyType) }], []);
}

/** Rules over the user that a token was mapped to. */
export function userEnvironment(options: LanguageOptions): Environment {
  const user = shapeType(userInfoShape, options.naming);
  return environmentOf(options, [{ name: 'user', type: user.celType }], [user]);
}

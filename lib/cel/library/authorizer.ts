// Questions to the authorizer: built step by step, asked by check(). Every step makes a new value.
import type { NamingProfile } from '../../api/vendor.ts';
import { boolType, stringType, structType } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type {
  AuthorizationCheck,
  AuthorizationDecision,
  CostEstimate,
  FunctionDeclaration,
  Implementation,
  Library,
  Overload,
  RuntimeCost,
} from '../model/declarations.ts';
import {
  addRanges,
  fixed,
  listCreateCost,
  scaleRange,
  stringTraversalFactor,
  structCreateCost,
} from '../model/range.ts';
import type { Range } from '../model/range.ts';
import { PendingAuthorization } from '../eval/frame.ts';
import { CelError, costSizeOf } from '../model/value.ts';
import type { OpaqueValue, Value } from '../model/value.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { arg, declare, member, unit } from './declare.ts';

const emptyCheck: AuthorizationCheck = {
  resourceRequest: false,
  verb: '',
  apiGroup: '',
  apiVersion: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  path: '',
  fieldSelector: undefined,
  labelSelector: undefined,
  serviceAccount: undefined,
};

/** The question so far. */
class CheckValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName: string;
  readonly check: AuthorizationCheck;
  constructor(typeName: string, check: AuthorizationCheck) {
    this.typeName = typeName;
    this.check = check;
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof CheckValue && this.toText() === other.toText();
  }
  toText(): string {
    return JSON.stringify(this.check);
  }
}

class DecisionValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName: string;
  readonly decision: AuthorizationDecision;
  constructor(typeName: string, decision: AuthorizationDecision) {
    this.typeName = typeName;
    this.decision = decision;
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof DecisionValue && this.toText() === other.toText();
  }
  toText(): string {
    return JSON.stringify(this.decision);
  }
}

interface AuthorizerTypes {
  readonly authorizer: CelType;
  readonly path: CelType;
  readonly group: CelType;
  readonly resource: CelType;
  readonly decision: CelType;
}

export function authorizerTypes(naming: NamingProfile): AuthorizerTypes {
  const type = (name: string): CelType => ({
    ...structType(naming.resolve(`{kubernetes}.authorization.${name}`)),
    equality: 'fixed',
  });
  return {
    authorizer: type('Authorizer'),
    path: type('PathCheck'),
    group: type('GroupCheck'),
    resource: type('ResourceCheck'),
    decision: type('Decision'),
  };
}

/** The value of the variable `authorizer`. */
export function authorizerValue(naming: NamingProfile): Value {
  return new CheckValue(authorizerTypes(naming).authorizer.name, emptyCheck);
}

/** What a request is about. */
export type RequestedResource = Pick<
  AuthorizationCheck,
  'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name'
>;

/**
 * The value of the variable `authorizer.requestResource`: the question with the resource of the
 * request filled in.
 */
export function requestResourceValue(naming: NamingProfile, requested: RequestedResource): Value {
  const { apiGroup, resource, subresource, namespace, name } = requested;
  const asked = { apiGroup, resource, subresource, namespace, name };
  const check = { ...emptyCheck, resourceRequest: true, apiVersion: '*', ...asked };
  return new CheckValue(authorizerTypes(naming).resource.name, check);
}

const checkOf = (args: readonly Value[]): AuthorizationCheck => (arg(args, 0) as CheckValue).check;
const textAt = (args: readonly Value[], index: number): string => arg(args, index) as string;

/** Asking costs so much that two questions fill the limit of an expression. */
const askingCost = 350_000;
const asking: { runtimeCost: RuntimeCost; estimate: CostEstimate } = {
  runtimeCost: () => askingCost,
  estimate: () => ({ cost: fixed(askingCost) }),
};

const shortestRequirement = 0.5;

/** A selector is parsed into a list of requirements, at most one for two characters. */
function selectorCost(length: Range): Range {
  const parse = scaleRange(length, stringTraversalFactor);
  const requirements = scaleRange(
    scaleRange(length, shortestRequirement),
    listCreateCost + structCreateCost,
  );
  return addRanges(fixed(listCreateCost), addRanges(parse, requirements));
}

const selecting: { runtimeCost: RuntimeCost; estimate: CostEstimate } = {
  runtimeCost: (args) => Number(selectorCost(fixed(costSizeOf(arg(args, 1)))).max),
  estimate: (_, [selector]) =>
    selector === undefined ? undefined : { cost: selectorCost(selector.size) },
};

function serviceAccountProblem(namespace: string, name: string): string | undefined {
  if (dns1123SubdomainProblems(name).length > 0) return 'Invalid service account name';
  return dns1123LabelProblems(namespace).length > 0
    ? 'Invalid service account namespace'
    : undefined;
}

const decisionOf = (args: readonly Value[]): AuthorizationDecision =>
  (arg(args, 0) as DecisionValue).decision;

export function authorizerLibrary(naming: NamingProfile): Library {
  const types = authorizerTypes(naming);
  return {
    name: '{kubernetes}.authz',
    since: 27,
    types: Object.values(types),
    functions: [...questionFunctions(types), checkFunction(types), ...decisionFunctions(types)],
  };
}

/** A function that narrows the question by one text. */
function narrowing(
  name: string,
  id: string,
  types: readonly [from: CelType, to: CelType],
  change: (text: string) => Partial<AuthorizationCheck>,
): FunctionDeclaration {
  const [from, to] = types;
  const implementation: Implementation = (args) =>
    new CheckValue(to.name, { ...checkOf(args), ...change(textAt(args, 1)) });
  return declare(name, [member(id, [[from, stringType], to], implementation)], unit);
}

function questionFunctions(types: AuthorizerTypes): FunctionDeclaration[] {
  const { authorizer, group, resource, path } = types;
  const asked: Implementation = (args) => {
    const text = textAt(args, 1);
    if (text === '') return new CelError('path must not be empty');
    return new CheckValue(path.name, { ...checkOf(args), path: text });
  };
  const onResource = [resource, resource] as const;
  return [
    declare('path', [member('authorizer_path', [[authorizer, stringType], path], asked)], unit),
    narrowing('group', 'authorizer_group', [authorizer, group], (apiGroup) => ({ apiGroup })),
    serviceAccountFunction(types),
    narrowing('resource', 'groupcheck_resource', [group, resource], (name) => ({
      resourceRequest: true,
      apiVersion: '*',
      resource: name,
    })),
    narrowing('subresource', 'resourcecheck_subresource', onResource, (subresource) => ({
      subresource,
    })),
    narrowing('namespace', 'resourcecheck_namespace', onResource, (namespace) => ({ namespace })),
    narrowing('name', 'resourcecheck_name', onResource, (name) => ({ name })),
  ];
}

function serviceAccountFunction({ authorizer }: AuthorizerTypes): FunctionDeclaration {
  const implementation: Implementation = (args) => {
    const [namespace, name] = [textAt(args, 1), textAt(args, 2)];
    const problem = serviceAccountProblem(namespace, name);
    if (problem !== undefined) return new CelError(problem);
    return new CheckValue(authorizer.name, {
      ...checkOf(args),
      serviceAccount: { namespace, name },
    });
  };
  const signature = [[authorizer, stringType, stringType], authorizer] as const;
  return declare(
    'serviceAccount',
    [member('authorizer_serviceaccount', signature, implementation)],
    unit,
  );
}

function checkFunction({ path, resource, decision }: AuthorizerTypes): FunctionDeclaration {
  const ask: Implementation = (args, context) => {
    const check = { ...checkOf(args), verb: textAt(args, 1) };
    if (context.authorizer === undefined) return new CelError('no authorizer');
    const answer = context.authorizer.decide(check);
    if (answer === undefined) throw new PendingAuthorization(check);
    return new DecisionValue(decision.name, answer);
  };
  const overloads = [
    member('pathcheck_check', [[path, stringType], decision], ask),
    member('resourcecheck_check', [[resource, stringType], decision], ask),
  ];
  return declare('check', overloads, asking);
}

function decisionFunctions({ decision }: AuthorizerTypes): FunctionDeclaration[] {
  const part = (
    name: string,
    result: CelType,
    read: (decided: AuthorizationDecision) => Value,
  ): FunctionDeclaration =>
    declare(
      name,
      [member(`decision_${name}`, [[decision], result], (args) => read(decisionOf(args)))],
      unit,
    );
  return [
    part('errored', boolType, ({ error }) => error !== ''),
    part('error', stringType, ({ error }) => error),
    part('allowed', boolType, (decided) => decided.decision === 'allow'),
    part('reason', stringType, ({ reason }) => reason),
  ];
}

export function authorizerSelectorsLibrary(naming: NamingProfile): Library {
  const { resource } = authorizerTypes(naming);
  const selector = (id: string, change: (text: string) => Partial<AuthorizationCheck>): Overload =>
    member(
      id,
      [[resource, stringType], resource],
      (args) => new CheckValue(resource.name, { ...checkOf(args), ...change(textAt(args, 1)) }),
    );
  return {
    name: '{kubernetes}.authzSelectors',
    since: 31,
    functions: [
      declare(
        'fieldSelector',
        [selector('authorizer_fieldselector', (fieldSelector) => ({ fieldSelector }))],
        selecting,
      ),
      declare(
        'labelSelector',
        [selector('authorizer_labelselector', (labelSelector) => ({ labelSelector }))],
        selecting,
      ),
    ],
  };
}

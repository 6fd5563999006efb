// The file of --authorization-config: authorizers in the order in which they are asked. Read and
// checked as a whole: everything that is wrong is told at once.
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { FieldErrors } from '../../api/field-errors.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import { limits } from '../../base/limits.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import type { Environment } from '../../cel/environment.ts';
import { StrictFields } from '../../codec/strict-fields.ts';
import { formatDuration } from '../../codec/value-forms.ts';
import { authorizationModes } from '../../config/authorization-flags.ts';
import type { AuthorizationMode } from '../../config/authorization-flags.ts';
import { compileMatchConditions } from '../webhook/match-conditions.ts';
import type { ReviewVersion } from '../webhook/review.ts';
import type { FailurePolicy } from '../webhook/webhook.ts';

/** Plain data: equal ones make the same authorizer. */
export interface AuthorizerConfig {
  readonly type: AuthorizationMode;
  readonly name: string;
  /** Of the type Webhook, and of no other. */
  readonly webhook?: WebhookConfig;
}

export interface WebhookConfig {
  readonly kubeconfigFile: string;
  readonly timeoutMs: number;
  /** 0: answers are not kept. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly version: ReviewVersion;
  readonly failurePolicy: FailurePolicy;
  /** Match conditions, each of which compiles. */
  readonly expressions: readonly string[];
}

const kind = 'AuthorizationConfiguration';
const versions = ['v1', 'v1beta1', 'v1alpha1'];

const nanosPerMs = 1_000_000n;
const defaultAuthorizedTtl = 300_000n * nanosPerMs;
const defaultUnauthorizedTtl = 30_000n * nanosPerMs;
const timeoutNanosMax = BigInt(limits.authorizationWebhookTimeoutMs) * nanosPerMs;

export interface ConfigurationParts {
  readonly naming: NamingProfile;
  /** Of match conditions. */
  readonly environment: Environment;
}

/**
 * @param text YAML or JSON
 * @throws Error that tells all that is wrong, each with its field, without the name of the file
 */
export function readAuthorizationConfiguration(
  text: string,
  { naming, environment }: ConfigurationParts,
): readonly AuthorizerConfig[] {
  const apiVersions = versions.map((version) => naming.resolve(`apiserver.config.{v}/${version}`));
  const root = StrictFields.read(text, { kind, apiVersions });
  const errors = new FieldErrors();
  const authorizers = readAuthorizers(root, { errors, environment });
  root.finish();
  const problems = errors.list.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
  if (problems.length > 0) throw new Error(aggregateText(problems));
  return authorizers;
}

interface Reading {
  readonly errors: FieldErrors;
  readonly environment: Environment;
}

function readAuthorizers(root: StrictFields, reading: Reading): readonly AuthorizerConfig[] {
  const { errors } = reading;
  const entries = root.objects('authorizers');
  if (entries.length === 0) {
    errors.required('authorizers', 'at least one authorization mode must be defined');
  }
  const types = new Set<AuthorizationMode>();
  const names = new Set<string>();
  return entries.flatMap((entry): AuthorizerConfig[] => {
    const name = entry.text('name');
    const webhook = entry.object('webhook');
    // Read whatever the type: strict decoding comes before everything else.
    const config = webhook === undefined ? undefined : readWebhook(webhook);
    const type = typeOf(entry, types, errors);
    if (type === undefined) return [];
    types.add(type);
    checkName(entry.path('name'), name, names, errors);
    names.add(name);
    if (type !== 'Webhook') {
      if (config === undefined) return [{ type, name }];
      const detail = 'may only be specified when type=Webhook';
      errors.invalid(entry.path('webhook'), 'non-null', detail);
      return [];
    }
    if (config === undefined) {
      errors.required(entry.path('webhook'), 'required when type=Webhook');
      return [];
    }
    return [{ type, name, webhook: checkedWebhook(config, reading) }];
  });
}

function typeOf(
  entry: StrictFields,
  seen: ReadonlySet<AuthorizationMode>,
  errors: FieldErrors,
): AuthorizationMode | undefined {
  const given = entry.text('type');
  const path = entry.path('type');
  const type = authorizationModes.find((mode) => mode === given);
  if (given === '') errors.required(path);
  else if (type === undefined) errors.notSupported(path, given, authorizationModes);
  else if (type !== 'Webhook' && seen.has(type)) errors.duplicate(path, type);
  else return type;
  return undefined;
}

function checkName(
  path: string,
  name: string,
  seen: ReadonlySet<string>,
  errors: FieldErrors,
): void {
  const problems = dns1123SubdomainProblems(name);
  if (name === '') errors.required(path);
  else if (seen.has(name)) errors.duplicate(path, name);
  else if (problems.length > 0) {
    errors.invalid(path, name, `authorizer name is invalid: ${problems.join(', ')}`);
  }
}

interface GivenWebhook {
  /** Of its fields. */
  readonly at: StrictFields;
  readonly timeout: bigint;
  readonly authorizedTtl: bigint;
  readonly unauthorizedTtl: bigint;
  readonly cachesAuthorized: boolean;
  readonly cachesUnauthorized: boolean;
  readonly version: string;
  readonly conditionVersion: string;
  readonly failurePolicy: string;
  readonly connection: {
    readonly type: string;
    /** undefined: it is absent. */
    readonly kubeconfigFile: string | undefined;
  };
  readonly expressions: readonly string[];
}

function readWebhook(at: StrictFields): GivenWebhook {
  const connection = at.object('connectionInfo');
  // Zero stands for what is left out, as upstream's defaults have it.
  const ttl = (name: string, fallback: bigint): bigint => at.duration(name) || fallback;
  return {
    at,
    timeout: at.duration('timeout') ?? 0n,
    authorizedTtl: ttl('authorizedTTL', defaultAuthorizedTtl),
    unauthorizedTtl: ttl('unauthorizedTTL', defaultUnauthorizedTtl),
    cachesAuthorized: at.flag('cacheAuthorizedRequests') ?? true,
    cachesUnauthorized: at.flag('cacheUnauthorizedRequests') ?? true,
    version: at.text('subjectAccessReviewVersion'),
    conditionVersion: at.text('matchConditionSubjectAccessReviewVersion'),
    failurePolicy: at.text('failurePolicy'),
    connection: {
      type: connection?.text('type') ?? '',
      kubeconfigFile: connection?.optionalText('kubeConfigFile'),
    },
    expressions: at.objects('matchConditions').map((condition) => condition.text('expression')),
  };
}

function checkedWebhook(given: GivenWebhook, { errors, environment }: Reading): WebhookConfig {
  const { at, expressions } = given;
  checkTimes(given, errors);
  const version = oneOf(at, 'subjectAccessReviewVersion', given.version, reviewVersions, errors);
  const conditionVersion = 'matchConditionSubjectAccessReviewVersion';
  oneOf(at, conditionVersion, given.conditionVersion, conditionVersions, errors);
  const failurePolicy = oneOf(at, 'failurePolicy', given.failurePolicy, failurePolicies, errors);
  const kubeconfigFile = checkedConnection(given, errors);
  const path = at.path('matchConditions');
  compileMatchConditions(expressions, environment, { errors, path });
  return {
    kubeconfigFile,
    timeoutMs: milliseconds(given.timeout),
    authorizedTtlMs: given.cachesAuthorized ? milliseconds(given.authorizedTtl) : 0,
    unauthorizedTtlMs: given.cachesUnauthorized ? milliseconds(given.unauthorizedTtl) : 0,
    version,
    failurePolicy,
    expressions,
  };
}

const reviewVersions = ['v1', 'v1beta1'] as const satisfies readonly ReviewVersion[];
const conditionVersions = ['v1'] as const;
const failurePolicies = ['NoOpinion', 'Deny'] as const satisfies readonly FailurePolicy[];

const milliseconds = (nanos: bigint): number => Number(nanos) / Number(nanosPerMs);

/** The value; where it is none of them, any: the configuration is refused. */
function oneOf<T extends string>(
  at: StrictFields,
  field: string,
  given: string,
  values: readonly [T, ...T[]],
  errors: FieldErrors,
): T {
  const found = values.find((value) => value === given);
  if (found !== undefined) return found;
  if (given === '') errors.required(at.path(field));
  else errors.notListed(at.path(field), given, values);
  return values[0];
}

function checkTimes(given: GivenWebhook, errors: FieldErrors): void {
  const { at, timeout } = given;
  if (timeout === 0n) errors.required(at.path('timeout'));
  else if (timeout < 0n || timeout > timeoutNanosMax) {
    errors.invalid(at.path('timeout'), formatDuration(timeout), 'must be > 0s and <= 30s');
  }
  const ttls = [
    ['authorizedTTL', given.authorizedTtl],
    ['unauthorizedTTL', given.unauthorizedTtl],
  ] as const;
  for (const [field, ttl] of ttls) {
    if (ttl >= 0n) continue;
    errors.invalid(at.path(field), formatDuration(ttl), 'must be > 0s');
  }
}

const inCluster = 'InClusterConfig';
const fromFile = 'KubeConfigFile';

/** The path of the client configuration file; '' where the configuration is refused. */
function checkedConnection({ at, connection }: GivenWebhook, errors: FieldErrors): string {
  const { type, kubeconfigFile = '' } = connection;
  const typePath = at.path('connectionInfo.type');
  const path = at.path('connectionInfo.kubeConfigFile');
  if (type === '') errors.required(typePath);
  else if (type === inCluster) {
    const detail =
      'it asks the reviews of the API server that the requests came to, which would ask itself: ' +
      `use ${fromFile}`;
    errors.invalid(typePath, type, detail);
    if (connection.kubeconfigFile !== undefined) {
      errors.invalid(path, kubeconfigFile, `can only be set when type=${fromFile}`);
    }
  } else if (type !== fromFile) errors.notListed(typePath, type, [inCluster, fromFile]);
  else if (kubeconfigFile === '') errors.required(path);
  else {
    const problem = isAbsolute(kubeconfigFile)
      ? fileProblem(kubeconfigFile)
      : 'must be an absolute path';
    if (problem !== undefined) errors.invalid(path, kubeconfigFile, problem);
  }
  return kubeconfigFile;
}

function fileProblem(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? undefined : 'must be a regular file';
  } catch (error) {
    return `error loading file: ${(error as Error).message}`;
  }
}

// Who may do what: the authorizers that flags or the configuration file name, in their order.
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import { abacAuthorizer } from '../../lib/authz/abac/abac.ts';
import type { Authorizer } from '../../lib/authz/authorizer.ts';
import type { AuthorizerConfig } from '../../lib/authz/configuration/configuration.ts';
import { followConfiguration } from '../../lib/authz/configuration/follow-configuration.ts';
import { SwitchedAuthorizer } from '../../lib/authz/configuration/switched-authorizer.ts';
import type { OpenedAuthorizer } from '../../lib/authz/configuration/switched-authorizer.ts';
import { countedAuthorizer } from '../../lib/authz/counted.ts';
import {
  allowAuthorizer,
  denyAuthorizer,
  mastersAuthorizer,
  pathsAuthorizer,
} from '../../lib/authz/fixed.ts';
import { measuredAuthorizer } from '../../lib/authz/measured.ts';
import { followPolicy } from '../../lib/authz/rbac/follow-policy.ts';
import { RbacPolicy } from '../../lib/authz/rbac/policy.ts';
import { rbacAuthorizer } from '../../lib/authz/rbac/rbac.ts';
import { unionAuthorizer } from '../../lib/authz/union.ts';
import { FieldErrors } from '../../lib/api/field-errors.ts';
import { compileMatchConditions } from '../../lib/authz/webhook/match-conditions.ts';
import { reviewCodec } from '../../lib/authz/webhook/review.ts';
import { webhookAuthorizer } from '../../lib/authz/webhook/webhook.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import { openTarget } from '../../lib/client/open-target.ts';
import type { ClientParts } from '../../lib/client/open-target.ts';
import type { AuthorizationMode } from '../../lib/config/authorization-flags.ts';
import { FlagError } from '../../lib/config/flags.ts';
import {
  configurationObserver,
  decisionCounts,
  webhookObserver,
} from './authorization-observers.ts';
import type { Base } from './base.ts';
import { clientParts } from './client-parts.ts';
import { authorizationAttempts } from './observers.ts';
import { hostAndPort } from './own-address.ts';

export interface OpenedAuthorization {
  /** For requests and for plugins of admission. */
  readonly authorizer: Authorizer;
  /** Resolves when what the authorizers keep of the cluster is whole for the first time. */
  readonly whole: Promise<unknown>;
}

/** What decides in one mode. */
interface OpenedMode {
  readonly authorizer: Authorizer;
  readonly whole?: Promise<void>;
}

interface ModeParts extends Base {
  readonly viewOf: (group: string, resource: string) => ResourceView;
}

type OpenMode = (parts: ModeParts) => OpenedMode;

/** What decides in each mode but Webhook, made once: a configuration that changes shares it. */
const modes: Readonly<Partial<Record<AuthorizationMode, OpenMode>>> = {
  AlwaysAllow: () => ({ authorizer: allowAuthorizer }),
  AlwaysDeny: () => ({ authorizer: denyAuthorizer }),
  ABAC: ({ authorization }) => ({ authorizer: abacAuthorizer(authorization.policies) }),
  RBAC: openRbac,
};

/** @throws FlagError for a mode that lacks what it needs. */
export async function openAuthorization(
  base: Base,
  { cache }: { readonly cache: Cache },
): Promise<OpenedAuthorization> {
  const { authorization, started, metrics, flags } = base;
  const viewOf: ModeParts['viewOf'] = (group, resource) =>
    cache.view(storedOf(base, group, resource));
  const parts: ModeParts = { ...base, viewOf };
  const opened = new Map(
    authorization.authorizers.flatMap(({ type }) => {
      const mode = modes[type]?.(parts);
      return mode === undefined ? [] : [[type, mode] as const];
    }),
  );
  const calling = clientParts(base);
  const switched = await SwitchedAuthorizer.start(authorization.authorizers, (config) =>
    openOne(base, config, { calling, opened }),
  );
  started.defer(() => switched.close());
  if (authorization.file !== undefined) {
    const address = hostAndPort(base.address, flags['secure-port']);
    const observer = configurationObserver(metrics, { clock: base.clock, address });
    const following = { ...base, parts: authorization.parts, observer };
    const file = followConfiguration(switched, authorization.file, following);
    started.defer(() => file.close());
  }
  return {
    authorizer: measuredAuthorizer(
      unionAuthorizer([mastersAuthorizer, switched]),
      authorizationAttempts(metrics),
    ),
    whole: Promise.all([...opened.values()].map(({ whole }) => whole ?? Promise.resolve())),
  };
}

interface OpenedParts {
  readonly calling: ClientParts;
  readonly opened: ReadonlyMap<AuthorizationMode, OpenedMode>;
}

/** @throws SettingsError for a webhook whose client configuration cannot be used. */
async function openOne(
  base: Base,
  config: AuthorizerConfig,
  { calling, opened }: OpenedParts,
): Promise<OpenedAuthorizer> {
  const counted = (authorizer: Authorizer): Authorizer =>
    countedAuthorizer(authorizer, () => decisionCounts(base.metrics, config));
  const { name, type, webhook } = config;
  if (webhook === undefined) {
    const { authorizer } = opened.get(type) ?? { authorizer: unionAuthorizer([]) };
    return { authorizer: counted(authorizer), close: () => undefined };
  }
  const { environment } = base.authorization.parts;
  const target = await openTarget({ kubeconfigFile: webhook.kubeconfigFile }, calling);
  const authorizer = webhookAuthorizer({
    ...webhook,
    name,
    target,
    codec: reviewCodec(webhook.version, base.naming),
    // They were found good when the configuration was read.
    conditions: compileMatchConditions(webhook.expressions, environment, {
      errors: new FieldErrors(),
      path: '',
    }),
    clock: base.clock,
    logger: base.logger,
    observer: webhookObserver(base.metrics, name),
  });
  return { authorizer: counted(authorizer), close: () => target.close() };
}

function openRbac({ naming, logger, started, viewOf }: ModeParts): OpenedMode {
  const policy = new RbacPolicy();
  const group = 'rbac.authorization.{v}';
  const views = {
    roles: viewOf(group, 'roles'),
    clusterRoles: viewOf(group, 'clusterroles'),
    roleBindings: viewOf(group, 'rolebindings'),
    clusterRoleBindings: viewOf(group, 'clusterrolebindings'),
  };
  const closing = new AbortController();
  const { whole, ended } = followPolicy(policy, views, logger, closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await ended;
  });
  const authorizer = unionAuthorizer([pathsAuthorizer, rbacAuthorizer(policy, naming)]);
  return { authorizer, whole };
}

/** @throws FlagError when it is not served. */
function storedOf({ scheme, naming }: Base, group: string, resource: string): ResourceInfo {
  const of = naming.resolve(group);
  const stored = scheme.storedResources.find(
    (one) => one.group === of && one.resource === resource,
  );
  if (stored !== undefined) return stored;
  throw new FlagError(`--authorization-mode needs ${resource}.${of}, which is not served`);
}

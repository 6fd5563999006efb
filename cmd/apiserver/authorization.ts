// Who may do what: the authorizers that flags or the configuration file name, in their order.
import type { Authorizer } from '../../lib/authz/authorizer.ts';
import type { AuthorizerConfig } from '../../lib/authz/configuration/configuration.ts';
import { followConfiguration } from '../../lib/authz/configuration/follow-configuration.ts';
import { SwitchedAuthorizer } from '../../lib/authz/configuration/switched-authorizer.ts';
import type { OpenedAuthorizer } from '../../lib/authz/configuration/switched-authorizer.ts';
import { countedAuthorizer } from '../../lib/authz/counted.ts';
import { mastersAuthorizer, openPathsAuthorizer } from '../../lib/authz/fixed.ts';
import { measuredAuthorizer } from '../../lib/authz/measured.ts';
import { onceWhole } from '../../lib/authz/once-whole.ts';
import { heldRules } from '../../lib/authz/rbac/rbac.ts';
import { unionAuthorizer } from '../../lib/authz/union.ts';
import { FieldErrors } from '../../lib/api/field-errors.ts';
import { compileMatchConditions } from '../../lib/authz/webhook/match-conditions.ts';
import { reviewCodec } from '../../lib/authz/webhook/review.ts';
import { webhookAuthorizer } from '../../lib/authz/webhook/webhook.ts';
import { openTarget } from '../../lib/client/open-target.ts';
import type { ClientParts } from '../../lib/client/open-target.ts';
import type { AuthorizationMode } from '../../lib/config/authorization-flags.ts';
import type { HeldRulesOf } from '../../lib/kinds/rbac/held-rules.ts';
import { followRoles, modes } from './authorization-modes.ts';
import type { ModeParts, OpenedMode } from './authorization-modes.ts';
import {
  authorizationAttempts,
  decisionCounts,
  webhookObserver,
} from './authorization-observers.ts';
import type { Base } from './base.ts';
import { orFlagError } from './from-flags.ts';
import { hostAndPort } from './own-address.ts';
import { reloadObserver } from './reload-observer.ts';
import type { ViewOf } from './views.ts';

export interface OpenedAuthorization {
  /** For requests and for plugins of admission. */
  readonly authorizer: Authorizer;
  /** For rules about who may give rights; absent: roles are not served. */
  readonly heldRulesOf?: HeldRulesOf;
  /** Resolves when what the authorizers keep of the cluster is whole for the first time. */
  readonly whole: Promise<unknown>;
}

/** @throws FlagError for a mode that lacks what it needs. */
export async function openAuthorization(base: Base, viewOf: ViewOf): Promise<OpenedAuthorization> {
  const { authorization, started, metrics, flags } = base;
  const roles = followRoles(base, viewOf);
  const parts: ModeParts = { ...base, viewOf, roles };
  const opened = new Map(
    authorization.authorizers.flatMap(({ type }) => {
      const mode = modes[type]?.(parts);
      return mode === undefined ? [] : [[type, mode] as const];
    }),
  );
  const switched = await SwitchedAuthorizer.start(authorization.authorizers, (config) =>
    openOne(base, config, { calling: base.calls, opened }),
  );
  started.defer(() => switched.close());
  if (authorization.file !== undefined) {
    const address = hostAndPort(base.address, flags['secure-port']);
    const { text } = authorization.file;
    const onReload = reloadObserver(metrics, 'authorization', { clock: base.clock, address, text });
    const following = { ...base, parts: authorization.parts, onReload };
    const file = followConfiguration(switched, authorization.file, following);
    started.defer(() => file.close());
  }
  const openPaths = orFlagError('authorization-always-allow-paths', () =>
    openPathsAuthorizer(flags['authorization-always-allow-paths']),
  );
  const parties = [...opened.values()].map(({ whole }) => whole ?? Promise.resolve());
  return {
    authorizer: measuredAuthorizer(
      unionAuthorizer([mastersAuthorizer, openPaths, switched]),
      authorizationAttempts(metrics),
    ),
    ...(roles === undefined
      ? {}
      : {
          heldRulesOf: (user, namespace) => heldRules(roles.policy, base.naming, user, namespace),
        }),
    whole: Promise.all([roles?.whole ?? Promise.resolve(), ...parties]),
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
    const { authorizer, whole }: OpenedMode = opened.get(type) ?? {
      authorizer: unionAuthorizer([]),
    };
    const asked = whole === undefined ? authorizer : onceWhole(authorizer, whole);
    return { authorizer: counted(asked), close: () => undefined };
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

// ServiceAccount: every pod runs as an account of its namespace, `default` where it names none,
// with the account's pull secrets and a volume with its token. Accounts may limit which secrets
// their pods use; pods that nodes run by themselves have no account.
import { recordAt, recordsAt, textAt, flagAt, isSet, listAt } from '../../api/json-access.ts';
import { newName } from '../../api/meta.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { pause } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isMirrored } from '../../kinds/core/pod-annotations.ts';
import { handling } from '../handling.ts';
import { findObject } from '../objects.ts';
import type { Objects } from '../objects.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { refusal } from '../refusal.ts';
import { ephemeralSecretsProblem, mountsSecrets, secretsProblem } from './pod-secrets.ts';

type Pod = Readonly<ApiObject>;
type Account = Readonly<ApiObject>;
type Parts = Pick<PluginParts, 'objects' | 'naming' | 'clock'>;

const debugging = 'ephemeralcontainers';

export function serviceAccount(parts: Parts): AdmissionPlugin | undefined {
  const { naming, clock } = parts;
  const objects = parts.objects('', 'serviceaccounts');
  if (objects === undefined) return undefined;
  const accounts = { objects, clock };
  const isLimited = (account: Account): boolean =>
    /^(1|t|true)$/i.test(
      textAt(
        recordAt(recordAt(account, 'metadata'), 'annotations'),
        naming.resolve('{kubernetes}.io/enforce-mountable-secrets'),
      ),
    );
  return {
    name: 'ServiceAccount',
    sideEffects: false,
    handles: handling(
      { resource: 'pods', operations: ['CREATE'] },
      { resource: 'pods', operations: ['UPDATE'], subresources: [debugging] },
    ),
    mutate(request, pod, signal) {
      if (request.operation !== 'CREATE' || isMirrored(recordAt(pod, 'metadata'), naming)) {
        return false;
      }
      const spec = specOf(pod);
      if (textAt(spec, 'serviceAccountName') === '') spec['serviceAccountName'] = 'default';
      return whenThere(accountOf(accounts, request, pod, signal), (account) => {
        if (hasToken(spec, account)) mountToken(spec, parts);
        if (listAt(spec, 'imagePullSecrets').length > 0) return true;
        const secrets = recordsAt(account, 'imagePullSecrets');
        if (secrets.length > 0) {
          spec['imagePullSecrets'] = secrets.map((secret) => ({ name: textAt(secret, 'name') }));
        }
        return true;
      });
    },
    validate(request, pod, signal) {
      if (pod === undefined) return;
      const refuse = (problem: string | undefined): void => {
        if (problem !== undefined) throw refusal(request, pod, problem);
      };
      if (request.operation === 'CREATE' && isMirrored(recordAt(pod, 'metadata'), naming)) {
        refuse(mirrorProblem(specOf(pod)));
        return;
      }
      if (textAt(specOf(pod), 'serviceAccountName') === '') {
        if (request.operation !== 'CREATE') return;
        const name = pod.metadata?.name ?? '';
        refuse(`no service account specified for pod ${request.namespace}/${name}`);
      }
      return whenThere(accountOf(accounts, request, pod, signal), (account) => {
        if (!isLimited(account)) return;
        const problemOf = request.operation === 'CREATE' ? secretsProblem : ephemeralSecretsProblem;
        refuse(problemOf(specOf(pod), account));
      });
    },
  };
}

/** Every pod that comes here has one. */
const specOf = (pod: Pod): JsonObject => recordAt(pod, 'spec') ?? {};

interface Accounts {
  readonly objects: Objects;
  readonly clock: Clock;
}

/** Memory, then the store. @throws StatusError 403 when there is no such account. */
function accountOf(
  { objects, clock }: Accounts,
  request: AdmissionRequest,
  pod: Pod,
  signal: AbortSignal,
): MaybePromise<Account> {
  const name = textAt(specOf(pod), 'serviceAccountName');
  const key = { namespace: request.namespace, name };
  const look = (triesLeft: number): MaybePromise<Account> =>
    whenThere(findObject(objects, key, signal), async (account) => {
      if (account !== undefined) return account;
      if (triesLeft > 0) {
        await pause(clock, limits.defaultAccountRetryMs, signal);
        signal.throwIfAborted();
        return look(triesLeft - 1);
      }
      const of = `${request.namespace}/${name}`;
      const cause = `serviceaccount ${JSON.stringify(name)} not found`;
      throw refusal(request, pod, `error looking up service account ${of}: ${cause}`);
    });
  const known = objects.view.peek(key);
  if (known !== undefined && !known.corrupted) return known.object();
  // A controller makes the one of a new namespace, in a moment.
  return look(name === 'default' ? limits.defaultAccountRetryCountMax : 0);
}

function mirrorProblem(spec: JsonObject): string | undefined {
  if (textAt(spec, 'serviceAccountName') !== '') {
    return 'a mirror pod may not reference service accounts';
  }
  if (mountsSecrets(spec)) return 'a mirror pod may not reference secrets';
  const projected = recordsAt(spec, 'volumes').flatMap((volume) =>
    recordsAt(recordAt(volume, 'projected'), 'sources'),
  );
  if (!projected.some((source) => isSet(source, 'serviceAccountToken'))) return undefined;
  return 'a mirror pod may not use ServiceAccountToken volume projections';
}

/** The pod says so, or else its account; by default there is one. */
function hasToken(spec: JsonObject, account: Account): boolean {
  const says = [spec, account].find((one) => isSet(one, 'automountServiceAccountToken'));
  return says === undefined || flagAt(says, 'automountServiceAccountToken');
}

/** Into every container that has nothing at that path. */
function mountToken(spec: JsonObject, { naming }: Parts): void {
  const prefix = naming.resolve('{kube}-api-access-');
  const mountPath = naming.resolve('/var/run/secrets/{kubernetes}.io/serviceaccount');
  const volumes = recordsAt(spec, 'volumes');
  const known = volumes.find(
    (volume) => isSet(volume, 'projected') && textAt(volume, 'name').startsWith(prefix),
  );
  const name = known === undefined ? newName(prefix) : textAt(known, 'name');
  const containers = [...recordsAt(spec, 'initContainers'), ...recordsAt(spec, 'containers')];
  const without = containers.filter((container) =>
    recordsAt(container, 'volumeMounts').every((mount) => textAt(mount, 'mountPath') !== mountPath),
  );
  for (const container of without) {
    const mounts = recordsAt(container, 'volumeMounts');
    container['volumeMounts'] = [...mounts, { name, readOnly: true, mountPath }];
  }
  if (known === undefined && without.length > 0) {
    spec['volumes'] = [...volumes, { name, projected: tokenProjection(naming.rootCaConfigMap) }];
  }
}

/** An hour, and seconds by which nodes know these tokens from those that pods ask for. */
const tokenSeconds = 3607;

const tokenProjection = (rootCaConfigMap: string): JsonObject => ({
  defaultMode: 0o644,
  sources: [
    { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
    { configMap: { name: rootCaConfigMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    {
      downwardAPI: {
        items: [
          { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
        ],
      },
    },
  ],
});

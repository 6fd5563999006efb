// THE table of controllers that run inside the server, and what `--controllers` makes of it.
import { usageParts } from '../../lib/admission/quota/usage-parts.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { TokenIssuer } from '../../lib/authn/service-account/token-issuer.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { FeatureGates } from '../../lib/config/gates.ts';
import { BootstrapSigner } from '../../lib/controllers/bootstrap-signer.ts';
import type { Controller } from '../../lib/controllers/controller.ts';
import { AccountTokensController } from '../../lib/controllers/accounts/account-tokens.ts';
import { TokenCleanerController } from '../../lib/controllers/accounts/token-cleaner.ts';
import { TokenTrackingController } from '../../lib/controllers/accounts/token-tracking.ts';
import { DefinitionDeletion } from '../../lib/controllers/definitions/deletion.ts';
import { GarbageCollector } from '../../lib/controllers/garbage-collector.ts';
import { NamespaceObjectController } from '../../lib/controllers/namespace-object.ts';
import type { NewObject } from '../../lib/controllers/namespace-object.ts';
import { NamespaceController } from '../../lib/controllers/namespace.ts';
import { PolicyTypeCheckController } from '../../lib/controllers/policy-type-check.ts';
import { RoleAggregationController } from '../../lib/controllers/role-aggregation.ts';
import { ResourceQuotaController } from '../../lib/controllers/resource-quota.ts';
import type { ResourceQuotaObserver } from '../../lib/controllers/resource-quota.ts';
import { rootCaConfigMap } from '../../lib/controllers/root-ca.ts';
import { SystemNamespaceController } from '../../lib/controllers/system-namespaces.ts';
import { TokenCleaner } from '../../lib/controllers/bootstrap-token-cleaner.ts';
import { ServiceCidrController } from '../../lib/controllers/service-cidr.ts';
import { ServiceRepairController } from '../../lib/controllers/service-repair.ts';
import type { InternalClient } from '../../lib/registry/internal-client.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { ResourceStore } from '../../lib/registry/resource-store.ts';
import type { Services } from '../../lib/registry/services/services.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';
import { versionInfo } from './version.ts';

/** What a controller is made of. It is made anew each time that this replica begins to lead. */
export interface ControllerContext {
  readonly resources: ResourceMapHolder;
  /** undefined: services are given nothing. */
  readonly services: Services | undefined;
  /**
   * `configmaps`, or `apps/deployments` with the vendor's token as a placeholder; undefined where
   * it is not served.
   */
  readonly store: (resource: string, version?: string) => ResourceStore | undefined;
  /** The objects of a definition in their storage version, served or not. */
  readonly customStoreOf: (definition: string) => ResourceStore | undefined;
  readonly keyspace: Keyspace;
  /** Writes as the controller's own user; it ends with the lead. */
  readonly client: InternalClient;
  /** The same for what is no object: it ends with the lead, too. */
  readonly storage: Storage;
  readonly naming: NamingProfile;
  readonly gates: Pick<FeatureGates, 'isEnabled'>;
  readonly flags: Pick<Flags, 'resource-quota-sync-period'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: ResourceQuotaObserver;
  readonly tokens: TokenIssuer;
  /** PEM: what clients check this server's certificate against. */
  readonly serverCa: string;
}

export interface ControllerRow {
  /** In `--controllers`, as kube-controller-manager has it. */
  readonly name: string;
  /** Its older name there. */
  readonly alias?: string;
  /** The service account that it acts as; absent: the server itself. */
  readonly account?: string;
  /** `*` does not mean it, its name does: as in kube-controller-manager. */
  readonly isOffByDefault?: true;
  /** kube-apiserver's own work, which no other process does: `--controllers` has no say in it. */
  readonly isOwn?: true;
  /** undefined: what it works on is not served. */
  make(context: ControllerContext): Controller | undefined;
}

export const controllerTable: readonly ControllerRow[] = [
  {
    name: 'namespace-controller',
    alias: 'namespace',
    account: 'namespace-controller',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const namespaces = store('namespaces');
      return namespaces && new NamespaceController({ ...context, namespaces });
    },
  },
  {
    name: 'serviceaccount-controller',
    alias: 'serviceaccount',
    account: 'service-account-controller',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const [namespaces, objects] = [store('namespaces'), store('serviceaccounts')];
      if (namespaces === undefined || objects === undefined) return undefined;
      const name = 'serviceaccount';
      const make = (): NewObject => ({
        kind: 'ServiceAccount',
        apiVersion: 'v1',
        metadata: { name: 'default' },
      });
      return new NamespaceObjectController({ ...context, name, namespaces, objects, make });
    },
  },
  {
    name: 'serviceaccount-token-controller',
    alias: 'serviceaccount-token',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const [secrets, accounts] = [store('secrets'), store('serviceaccounts')];
      if (secrets === undefined || accounts === undefined) return undefined;
      return new AccountTokensController({ ...context, secrets, accounts });
    },
  },
  {
    name: 'legacy-serviceaccount-token-cleaner-controller',
    alias: 'legacy-service-account-token-cleaner',
    account: 'legacy-service-account-token-cleaner',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const [secrets, accounts] = [store('secrets'), store('serviceaccounts')];
      const [pods, configMaps] = [store('pods'), store('configmaps')];
      if (secrets === undefined || accounts === undefined) return undefined;
      if (pods === undefined || configMaps === undefined) return undefined;
      return new TokenCleanerController({ ...context, secrets, accounts, pods, configMaps });
    },
  },
  {
    name: 'root-ca-certificate-publisher-controller',
    alias: 'root-ca-cert-publisher',
    account: 'root-ca-cert-publisher',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const [namespaces, objects] = [store('namespaces'), store('configmaps')];
      if (namespaces === undefined || objects === undefined) return undefined;
      const name = 'root_ca_cert_publisher';
      const object = rootCaConfigMap(context.naming, context.serverCa);
      return new NamespaceObjectController({ ...context, name, namespaces, objects, ...object });
    },
  },
  {
    name: 'garbage-collector-controller',
    alias: 'garbagecollector',
    account: 'generic-garbage-collector',
    make: (context: ControllerContext): Controller => new GarbageCollector(context),
  },
  {
    name: 'resourcequota-controller',
    alias: 'resourcequota',
    account: 'resourcequota-controller',
    make: ({ store, flags, ...context }: ControllerContext): Controller | undefined => {
      const quotas = store('resourcequotas');
      if (quotas === undefined) return undefined;
      const viewOf = (group: string, resource: string): ResourceView | undefined =>
        store(group === '' ? resource : `${group}/${resource}`)?.view;
      const parts = usageParts({ ...context, viewOf });
      const syncPeriodMs = flags['resource-quota-sync-period'];
      return new ResourceQuotaController({ ...context, quotas, parts, syncPeriodMs });
    },
  },
  {
    name: 'clusterrole-aggregation-controller',
    alias: 'clusterrole-aggregation',
    account: 'clusterrole-aggregation-controller',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const clusterRoles = store('rbac.authorization.{v}/clusterroles');
      return clusterRoles && new RoleAggregationController({ ...context, clusterRoles });
    },
  },
  {
    name: 'validatingadmissionpolicy-status-controller',
    alias: 'validatingadmissionpolicy-status',
    account: 'validatingadmissionpolicy-status-controller',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const policies = store('admissionregistration.{v}/validatingadmissionpolicies');
      const release = versionInfo['gitVersion'] ?? '';
      return policies && new PolicyTypeCheckController({ ...context, policies, release });
    },
  },
  {
    name: 'service-cidr-controller',
    account: 'service-cidrs-controller',
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const ranges = store('networking.{v}/servicecidrs');
      const addresses = store('networking.{v}/ipaddresses');
      if (ranges === undefined || addresses === undefined) return undefined;
      return new ServiceCidrController({ ...context, ranges, addresses });
    },
  },
  {
    name: 'token-cleaner-controller',
    alias: 'tokencleaner',
    account: 'token-cleaner',
    isOffByDefault: true,
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const secrets = store('secrets');
      return secrets && new TokenCleaner({ ...context, secrets });
    },
  },
  {
    name: 'bootstrap-signer-controller',
    alias: 'bootstrapsigner',
    account: 'bootstrap-signer',
    isOffByDefault: true,
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const [secrets, configMaps] = [store('secrets'), store('configmaps')];
      if (secrets === undefined || configMaps === undefined) return undefined;
      return new BootstrapSigner({ ...context, secrets, configMaps });
    },
  },
  {
    name: 'system-namespace-controller',
    isOwn: true,
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const namespaces = store('namespaces');
      return namespaces && new SystemNamespaceController({ ...context, namespaces });
    },
  },
  {
    name: 'service-repair-controller',
    isOwn: true,
    make: ({ services, storage, store, ...context }: ControllerContext): Controller | undefined => {
      if (services === undefined) return undefined;
      const repair = services.repairOver(storage);
      const events = store('events');
      return new ServiceRepairController({ ...context, ...services.views, repair, events });
    },
  },
  {
    name: 'legacy-token-tracking-controller',
    isOwn: true,
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const configMaps = store('configmaps');
      return configMaps && new TokenTrackingController({ ...context, configMaps });
    },
  },
  {
    name: 'definition-controller',
    isOwn: true,
    make: ({ store, ...context }: ControllerContext): Controller | undefined => {
      const definitions = store('apiextensions.{v}/customresourcedefinitions');
      const { customStoreOf: storeOf } = context;
      return definitions && new DefinitionDeletion({ ...context, definitions, storeOf });
    },
  },
];

/**
 * The rows that `--controllers` leaves on: `*` is all that are on by default, `NAME` one, `-NAME`
 * not this one; the first entry that names it decides, as in kube-controller-manager.
 * @throws Error that names an entry that is none, and the names there are.
 */
export function chosenControllers(entries: readonly string[]): readonly ControllerRow[] {
  const switched = controllerTable.filter(({ isOwn }) => isOwn !== true);
  const names = switched.map(({ name }) => name);
  for (const entry of entries) {
    const name = entry.replace(/^-/, '');
    if (name === '*' || switched.some((row) => isNamed(row, name))) continue;
    throw new Error(`"${name}" is no controller of this server; there are ${names.join(', ')}`);
  }
  return controllerTable.filter((row) => row.isOwn === true || isChosen(row, entries));
}

const isNamed = (row: ControllerRow, name: string): boolean =>
  name === row.name || name === row.alias;

function isChosen(row: ControllerRow, entries: readonly string[]): boolean {
  const first = (isMatch: (name: string) => boolean): string | undefined =>
    entries.find((entry) => isMatch(entry.replace(/^-/, '')));
  const isAll = (name: string): boolean => name === '*' && row.isOffByDefault !== true;
  const entry = first((name) => isNamed(row, name)) ?? first(isAll);
  return entry !== undefined && !entry.startsWith('-');
}

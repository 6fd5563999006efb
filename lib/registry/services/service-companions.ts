// What a Service is given when it is written: families, cluster IPs, ports on nodes. They are
// chosen before validation and claimed in the transaction of the Service; they go with it, or when
// it has no use for them any more.
import { canonicalIp } from '../../api/ip-address.ts';
import type { IpFamily } from '../../api/ip-address.ts';
import { numberAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { internalError, invalid } from '../../base/status.ts';
import type { StatusError } from '../../base/status.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { nameOf } from '../../codec/object-meta.ts';
import {
  completeOldSpec,
  settleFamilies,
  staysPreferred,
} from '../../kinds/core/service-families.ts';
import {
  isHeadless,
  isOnNodes,
  needsClusterIp,
  needsHealthCheck,
  needsNodePorts,
  nodePortsOf,
} from '../../kinds/core/service-types.ts';
import type { WriteContext } from '../../kinds/strategy.ts';
import type { Companions, CompanionWrite } from '../companions.ts';
import type { AddressPool } from './address-pool.ts';
import type { AddressRanges } from './address-ranges.ts';
import { companyOf } from './claims.ts';
import type { Claim, Holder } from './claims.ts';
import type { PortPool } from './port-pool.ts';

type Spec = Readonly<JsonObject>;

export interface ServicePools {
  readonly ranges: AddressRanges;
  readonly addresses: AddressPool;
  readonly ports: PortPool;
}

export function serviceCompanions(pools: ServicePools): Companions {
  return {
    async settle(object, old, context, signal) {
      const spec = recordAt(object, 'spec');
      if (spec === undefined || context.subresource !== '') return;
      const { families } = pools.addresses;
      const stored = recordAt(old, 'spec');
      const before = stored === undefined ? undefined : completeOldSpec(stored, families);
      const errors = settleFamilies(spec, before, families);
      if (errors.length > 0) throw invalid(serviceKind, nameOf(object), errors);
      const settling = { object, spec, before, context, signal };
      await settleAddresses(pools.addresses, settling);
      await settlePorts(pools.ports, settling);
    },
    of: async (write, signal) => companyOf(await claimsOf(pools, write, signal)),
  };
}

const serviceKind = { group: '', kind: 'Service' };

interface Settling {
  readonly object: Readonly<ApiObject>;
  /** Changed. */
  readonly spec: JsonObject;
  readonly before: Spec | undefined;
  readonly context: WriteContext;
  readonly signal: AbortSignal;
}

async function settleAddresses(pool: AddressPool, settling: Settling): Promise<void> {
  const { object, spec, before, context, signal } = settling;
  const wanted = firstToAllocate(spec, before);
  if (wanted === undefined) return;
  const asking = { dryRun: context.dryRun, signal };
  const addresses = [...textsAt(spec, 'clusterIPs')];
  const families = textsAt(spec, 'ipFamilies');
  for (const [at, family] of families.entries()) {
    if (at < wanted) continue;
    const stated = addresses[at] ?? '';
    if (stated !== '') {
      const problem = await pool.refusalOf(canonicalIp(stated) ?? stated, asking);
      if (problem === undefined) continue;
      const detail = `failed to allocate IP ${stated}: ${problem}`;
      throw refused(object, 'spec.clusterIPs', addresses, detail);
    }
    const chosen = await pool.choose(family as IpFamily, asking);
    if (chosen === undefined) {
      throw internalError('failed to allocate a serviceIP: range is full');
    }
    addresses[at] = chosen;
  }
  if (addresses[0] === undefined) return;
  spec['clusterIPs'] = addresses;
  spec['clusterIP'] = addresses[0];
}

/** Place of the first address that the service does not have yet; undefined: it has all. */
function firstToAllocate(spec: Spec, before: Spec | undefined): number | undefined {
  if (!needsClusterIp(spec) || isHeadless(spec) || staysPreferred(spec, before)) {
    return undefined;
  }
  if (before === undefined || !needsClusterIp(before)) return 0;
  if (isHeadless(before)) return undefined;
  if (textsAt(before, 'clusterIPs').length === 0) return 0;
  const [now, then] = [spec, before].map((one) => textsAt(one, 'ipFamilies').length);
  return now === 2 && then === 1 ? 1 : undefined;
}

async function settlePorts(pool: PortPool, settling: Settling): Promise<void> {
  const { object, spec, before, context, signal } = settling;
  const asking = { dryRun: context.dryRun, signal };
  /** What the service has, or takes with this write. */
  const mine = new Set(before === undefined ? [] : claimedPorts(before));
  const stated = claimedPorts(spec);
  const take = async (port: number, field: string): Promise<void> => {
    const problem = mine.has(port)
      ? 'provided port is already allocated'
      : await pool.refusalOf(port, asking);
    if (problem !== undefined) throw refused(object, field, port, problem);
    mine.add(port);
  };
  const choose = async (what: string): Promise<number> => {
    const port = await pool.choose(new Set([...mine, ...stated]), asking);
    if (port === undefined) {
      throw internalError(`failed to allocate a ${what}: range is full`);
    }
    mine.add(port);
    return port;
  };
  if (isOnNodes(spec)) await settleNodePorts(spec, before, { take, choose });
  const health = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (!needsHealthCheck(spec)) return;
  if (health === 0) spec['healthCheckNodePort'] = await choose('HealthCheck NodePort');
  else if (before === undefined || !needsHealthCheck(before)) {
    await take(health, 'spec.healthCheckNodePort');
  }
}

interface PortActions {
  readonly take: (port: number, field: string) => Promise<void>;
  readonly choose: (what: string) => Promise<number>;
}

/** Ports of one number share a port on nodes, whatever their protocols, when the service is new. */
async function settleNodePorts(
  spec: Spec,
  before: Spec | undefined,
  { take, choose }: PortActions,
): Promise<void> {
  const ports = recordsAt(spec, 'ports');
  const had = new Set(before === undefined ? [] : nodePortsOf(before));
  const canChoose = needsNodePorts(spec);
  /** By number of the port; of an update, what was taken. */
  const shared = new Map<number, number>();
  for (const [at, port] of ports.entries()) {
    const stated = numberAt(port, 'nodePort') ?? 0;
    if (stated === 0 && !canChoose) continue;
    const field = `spec.ports[${String(at)}].nodePort`;
    if (before !== undefined) {
      if (stated === 0) port['nodePort'] = await choose('nodePort');
      else if (!had.has(stated)) await take(stated, field);
      had.add(numberAt(port, 'nodePort') ?? 0);
      continue;
    }
    const number = numberAt(port, 'port') ?? 0;
    const known = shared.get(number);
    if (known !== undefined) {
      if (stated === 0) port['nodePort'] = known;
      else if (stated !== known) await take(stated, field);
      continue;
    }
    const requested = ports.find(
      (one) => numberAt(one, 'port') === number && (numberAt(one, 'nodePort') ?? 0) !== 0,
    );
    const wished = numberAt(requested, 'nodePort') ?? 0;
    if (wished === 0) port['nodePort'] = await choose('nodePort');
    else {
      await take(wished, field);
      port['nodePort'] = wished;
    }
    shared.set(number, numberAt(port, 'nodePort') ?? 0);
  }
}

const refused = (
  object: Readonly<ApiObject>,
  field: string,
  badValue: unknown,
  detail: string,
): StatusError =>
  invalid(serviceKind, nameOf(object), [{ reason: 'FieldValueInvalid', field, badValue, detail }]);

/** Canonical. */
export function claimedAddresses(spec: Spec): readonly string[] {
  if (!needsClusterIp(spec) || isHeadless(spec)) return [];
  const listed = textsAt(spec, 'clusterIPs');
  const stated = listed.length > 0 ? listed : [textAt(spec, 'clusterIP')];
  return stated.flatMap((address) => canonicalIp(address) ?? []);
}

/** Each once, although protocols share them. */
export function claimedPorts(spec: Spec): readonly number[] {
  const health = needsHealthCheck(spec) ? (numberAt(spec, 'healthCheckNodePort') ?? 0) : 0;
  const onNodes = isOnNodes(spec) ? nodePortsOf(spec) : [];
  return [...new Set([...onNodes, health])].filter((port) => port !== 0);
}

async function claimsOf(
  { addresses, ports }: ServicePools,
  { object, old }: CompanionWrite,
  signal: AbortSignal,
): Promise<readonly Claim[]> {
  // What cannot be read is released by those who repair.
  const stored = old === undefined || old.corrupted ? undefined : old.object();
  const metadata = (object ?? stored)?.metadata;
  const holder: Holder = { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
  const now = recordAt(object, 'spec') ?? {};
  const before = recordAt(stored, 'spec') ?? {};
  const isWritten = object !== undefined;
  const [address, port] = [
    difference(isWritten ? claimedAddresses(now) : [], claimedAddresses(before)),
    difference(isWritten ? claimedPorts(now) : [], claimedPorts(before)),
  ];
  const claims = await Promise.all([
    ...address.added.map((one) => Promise.resolve(addresses.claim(one, holder))),
    ...address.removed.map((one) => addresses.release(one, holder, signal)),
    ...port.added.map((one) => Promise.resolve(ports.claim(one, holder))),
    ...port.removed.map((one) => ports.release(one, holder, signal)),
  ]);
  return withoutRepeats(claims.flat().filter((claim) => claim !== undefined));
}

function difference<T>(
  now: readonly T[],
  before: readonly T[],
): { readonly added: readonly T[]; readonly removed: readonly T[] } {
  return {
    added: now.filter((one) => !before.includes(one)),
    removed: before.filter((one) => !now.includes(one)),
  };
}

/** Two addresses of one range depend on it once. */
function withoutRepeats(claims: readonly Claim[]): readonly Claim[] {
  const seen = new Set<string>();
  return claims.filter(({ condition: { key } }) => !seen.has(key) && seen.add(key));
}

// Warnings of a pod's containers.
import { limits } from '../../base/limits.ts';
import { isSet, numberAt, recordAt, recordIn, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Holder } from '../validator.ts';
import { noSeccomp, seccompKeyPrefix } from './pod-annotations.ts';
import { armorKeyPrefix, armorWarning } from './pod-armor.ts';
import { containerLists } from './pod-systems.ts';
import { fractionWarnings } from './resource-lists.ts';

interface Context {
  readonly annotations: Holder;
  readonly annotationsPath: string;
  readonly naming: NamingProfile;
  /** Of pods, those that complete them have warned of AppArmor. */
  readonly isPod: boolean;
}

/** `path` is that of the pod's spec. */
export function containerWarnings(
  spec: JsonObject,
  path: string,
  context: Context,
): readonly string[] {
  const places = containerLists.flatMap((list) =>
    recordsAt(spec, list).map((container, at) => ({
      container,
      where: `${path}.${list}[${String(at)}]`,
    })),
  );
  const hasArmor = recordIn(spec, 'securityContext', 'appArmorProfile') !== undefined;
  const warnings = places.flatMap(({ container, where }) => [
    ...profileWarnings(container, hasArmor, context),
    ...resourceWarnings(recordAt(container, 'resources'), `${where}.resources`),
    ...envWarnings(recordsAt(container, 'env'), `${where}.env`),
  ]);
  const ports = new Ports();
  for (const { container, where } of places) {
    for (const [at, port] of recordsAt(container, 'ports').entries()) {
      warnings.push(...ports.add(port, `${where}.ports[${String(at)}]`));
    }
  }
  return warnings;
}

function profileWarnings(
  container: JsonObject,
  hasArmor: boolean,
  { annotations, annotationsPath, naming, isPod }: Context,
): readonly string[] {
  if (annotations === undefined) return [];
  const name = textAt(container, 'name');
  const own = recordAt(container, 'securityContext');
  const warnings: string[] = [];
  const seccomp = seccompKeyPrefix(naming) + name;
  if (!isSet(own, 'seccompProfile') && Object.hasOwn(annotations, seccomp)) {
    warnings.push(`${annotationsPath}[${seccomp}]: ${noSeccomp}`);
  }
  const armor = armorKeyPrefix(naming) + name;
  const isArmed = isPod || hasArmor || isSet(own, 'appArmorProfile');
  if (!isArmed && Object.hasOwn(annotations, armor)) {
    warnings.push(`${annotationsPath}[${armor}]: ${armorWarning}`);
  }
  return warnings;
}

const wholeResources = ['memory', 'ephemeral-storage'];

export const overheadWarnings = (overhead: Holder, path: string): readonly string[] =>
  wholeResources.flatMap((name) => fractionWarnings(overhead, name, path));

const resourceWarnings = (resources: Holder, path: string): readonly string[] =>
  wholeResources.flatMap((name) =>
    ['limits', 'requests'].flatMap((list) =>
      fractionWarnings(recordAt(resources, list), name, `${path}.${list}`),
    ),
  );

function envWarnings(env: readonly JsonObject[], path: string): readonly string[] {
  const seen = new Set<string>();
  return env.flatMap((variable, at) => {
    const name = textAt(variable, 'name');
    const isNew = !seen.has(name);
    seen.add(name);
    // What adds something to the value before it does not hide that.
    const [value, earlier] = [textAt(variable, 'value'), `$(${name})`];
    const isMade = value.includes(earlier) && value !== earlier;
    if (isNew || (isMade && !isSet(variable, 'valueFrom'))) return [];
    const hides = `hides previous definition of ${JSON.stringify(name)}`;
    return [`${path}[${String(at)}]: ${hides}, which may be dropped when using apply`];
  });
}

interface PlacedPort {
  readonly at: number;
  readonly path: string;
  readonly hostIP: string;
  readonly hostPort: number;
}

/** Ports of a pod that name one port of its address twice. */
class Ports {
  #count = 0;
  #warned = 0;
  readonly #placed = new Map<string, PlacedPort[]>();

  add(port: JsonObject, path: string): readonly string[] {
    const hostIP = textAt(port, 'hostIP');
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    const key = `${String(numberAt(port, 'containerPort') ?? 0)}/${textAt(port, 'protocol')}`;
    const own: PlacedPort = { at: this.#count, path, hostIP, hostPort };
    this.#count += 1;
    const warnings: string[] = [];
    if (hostIP !== '' && hostPort === 0) {
      warnings.push(`${path}: hostIP set without hostPort: ${shownPort(port)}`);
    }
    for (const other of this.#rivals(key, own)) {
      if (this.#warned >= limits.portWarningsMax) break;
      this.#warned += 1;
      warnings.push(`${path}: ${rivalry(own, other)} port definition with ${other.path}`);
    }
    const onPort = `${key} ${String(hostPort)}`;
    for (const name of [key, onPort, `${onPort} ${hostIP}`]) {
      const list = this.#placed.get(name);
      if (list === undefined) this.#placed.set(name, [own]);
      else list.push(own);
    }
    return warnings;
  }

  /** Those that stand before it and are in its way. */
  #rivals(key: string, { hostIP, hostPort }: PlacedPort): readonly PlacedPort[] {
    if (this.#warned >= limits.portWarningsMax) return [];
    const of = (name: string): readonly PlacedPort[] => this.#placed.get(name) ?? [];
    if (hostPort === 0) return of(key);
    const onPort = `${key} ${String(hostPort)}`;
    const same = hostIP === '' ? of(onPort) : [...of(`${onPort} ${hostIP}`), ...of(`${onPort} `)];
    return [...of(`${key} 0`), ...same].sort((left, right) => left.at - right.at);
  }
}

function rivalry(port: PlacedPort, other: PlacedPort): string {
  const isSame = port.hostIP === other.hostIP && port.hostPort === other.hostPort;
  if (isSame) return 'duplicate';
  const isAny = port.hostPort === 0 || other.hostPort === 0;
  return isAny ? 'overlapping' : 'dangerously ambiguous';
}

function shownPort(port: JsonObject): string {
  const [hostPort, containerPort] = [numberAt(port, 'hostPort'), numberAt(port, 'containerPort')];
  return (
    `{Name:${textAt(port, 'name')} HostPort:${String(hostPort ?? 0)} ` +
    `ContainerPort:${String(containerPort ?? 0)} Protocol:${textAt(port, 'protocol')} ` +
    `HostIP:${textAt(port, 'hostIP')}}`
  );
}

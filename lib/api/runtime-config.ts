// Which resources are served: the `--runtime-config` flag over the defaults in the .proto files.
// Later keys of the same kind win; narrower keys win over wider ones, whatever their order.

/** Keys as written (`api/beta`, `apps/v1`, `apps/v1/deployments`) to on or off. */
export type RuntimeConfig = ReadonlyMap<string, boolean>;

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  readonly enabledByDefault: boolean;
  readonly resources: readonly string[];
}

const stages: Readonly<Record<string, RegExp>> = {
  'api/all': /^/,
  'api/ga': /^v[0-9]+$/,
  'api/beta': /^v[0-9]+beta[0-9]+$/,
  'api/alpha': /^v[0-9]+alpha[0-9]+$/,
};
const keyOf = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`;

/** Says for each resource whether it is served. @throws Error that names keys which fit nothing. */
export function servedBy(
  versions: readonly ServedVersion[],
  config: RuntimeConfig,
): (group: string, version: string, resource: string) => boolean {
  checkKeys(versions, config);
  const enabled = new Map<string, boolean>();
  for (const { group, version, enabledByDefault, resources } of versions) {
    const key = keyOf(group, version);
    let isOn = enabledByDefault;
    for (const [stage, pattern] of Object.entries(stages)) {
      if (pattern.test(version)) isOn = config.get(stage) ?? isOn;
    }
    isOn = config.get(key) ?? config.get(group === '' ? `api/${key}` : key) ?? isOn;
    for (const resource of resources) {
      enabled.set(`${key}/${resource}`, config.get(`${key}/${resource}`) ?? isOn);
    }
  }
  return (group, version, resource) => enabled.get(`${keyOf(group, version)}/${resource}`) ?? false;
}

function checkKeys(versions: readonly ServedVersion[], config: RuntimeConfig): void {
  const known = new Set(Object.keys(stages));
  for (const { group, version, resources } of versions) {
    const key = keyOf(group, version);
    known.add(key);
    if (group === '') known.add(`api/${key}`);
    for (const resource of resources) known.add(`${key}/${resource}`);
  }
  const unknown = [...config.keys()].filter((key) => !known.has(key));
  if (unknown.length === 0) return;
  const list = unknown.map((key) => JSON.stringify(key)).join(', ');
  throw new Error(
    `unknown ${list}; a key is api/all, api/ga, api/beta, api/alpha, ` +
      'a served group/version or group/version/resource',
  );
}

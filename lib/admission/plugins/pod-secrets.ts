// Which secrets a pod uses, by every way that there is, and which of them its account does not
// allow.
import { asRecord, isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';

type Holder = Readonly<JsonObject>;

const kindsOf = {
  initContainers: 'init container',
  containers: 'container',
  ephemeralContainers: 'ephemeral container',
} as const;
type ContainerList = keyof typeof kindsOf;
const lists = Object.keys(kindsOf) as readonly ContainerList[];

/** What is refused of the volumes, containers and pull secrets of a new pod. */
export function secretsProblem(spec: Holder, account: Holder): string | undefined {
  const allowed = namesOf(account, 'secrets');
  const of = `service account ${accountName(account)} does not reference that`;
  for (const volume of recordsAt(spec, 'volumes')) {
    const secret = textAt(recordAt(volume, 'secret'), 'secretName');
    if (!isSet(volume, 'secret') || allowed.has(secret)) continue;
    const text = JSON.stringify(secret);
    return `volume with secret.secretName=${text} is not allowed because ${of} secret`;
  }
  const problem = containersProblem(spec, account, ['initContainers', 'containers']);
  if (problem !== undefined) return problem;
  const pulls = namesOf(account, 'imagePullSecrets');
  for (const [at, secret] of recordsAt(spec, 'imagePullSecrets').entries()) {
    const name = textAt(secret, 'name');
    if (pulls.has(name)) continue;
    const where = `imagePullSecrets[${String(at)}].name=${JSON.stringify(name)}`;
    return `${where} is not allowed because ${of} imagePullSecret`;
  }
  return undefined;
}

/** Of the containers that are put into a pod that runs. */
export const ephemeralSecretsProblem = (spec: Holder, account: Holder): string | undefined =>
  containersProblem(spec, account, ['ephemeralContainers']);

const accountName = (account: Holder): string => textAt(recordAt(account, 'metadata'), 'name');

const namesOf = (account: Holder, list: string): ReadonlySet<string> =>
  new Set(recordsAt(account, list).map((one) => textAt(one, 'name')));

function containersProblem(
  spec: Holder,
  account: Holder,
  of: readonly ContainerList[],
): string | undefined {
  const allowed = namesOf(account, 'secrets');
  for (const list of of) {
    for (const container of recordsAt(spec, list)) {
      const other = usesOf(container).find(({ secret }) => !allowed.has(secret));
      if (other === undefined) continue;
      const who = `${kindsOf[list]} ${textAt(container, 'name')} with ${other.by}`;
      return (
        `${who} referencing secret.secretName=${JSON.stringify(other.secret)} is not allowed ` +
        `because service account ${accountName(account)} does not reference that secret`
      );
    }
  }
  return undefined;
}

interface Use {
  readonly secret: string;
  readonly by: string;
}

/** In the environment of a container. */
const usesOf = (container: Holder): readonly Use[] => [
  ...recordsAt(container, 'env').flatMap((variable) => {
    const key = recordAt(recordAt(variable, 'valueFrom'), 'secretKeyRef');
    const by = `envVar ${textAt(variable, 'name')}`;
    return key === undefined ? [] : [{ secret: textAt(key, 'name'), by }];
  }),
  ...recordsAt(container, 'envFrom').flatMap((source) => {
    const secret = recordAt(source, 'secretRef');
    return secret === undefined ? [] : [{ secret: textAt(secret, 'name'), by: 'envFrom' }];
  }),
];

/** Whether anything of the pod names a secret. */
export const mountsSecrets = (spec: Holder): boolean =>
  recordsAt(spec, 'imagePullSecrets').length > 0 ||
  lists.some((list) => recordsAt(spec, list).some((one) => usesOf(one).length > 0)) ||
  recordsAt(spec, 'volumes').some(
    (volume) =>
      Object.values(volume).some(namesSecret) ||
      recordsAt(recordAt(volume, 'projected'), 'sources').some((source) => isSet(source, 'secret')),
  );

/** As the sources of volumes do. */
function namesSecret(source: JsonValue | undefined): boolean {
  const of = asRecord(source);
  return ['secretName', 'secretRef', 'nodePublishSecretRef'].some((name) => isSet(of, name));
}

// Names of images: `[domain/]path[:tag][@digest]`, where a name without a domain is one of the
// public registry and a single component stands for `library/component`.

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const domain = new RegExp(`^(?:${label}(?:\\.${label})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?$`);
const path = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const tagged = /^\w[\w.-]{0,127}$/;
const digests = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
const bareDigest = /^[a-f0-9]{64}$/;
const publicDomain = 'docker.io';
const nameLengthMax = 255;
/** No name, tag and digest together are longer. */
const imageLengthMax = 600;

/**
 * The tag of an image, `latest` where neither it nor a digest is named, '' with a digest alone.
 * undefined: that is no name of an image.
 */
export function imageTagOf(image: string): string | undefined {
  if (image.length > imageLengthMax || bareDigest.test(image)) return undefined;
  const at = image.indexOf('@');
  const digest = at < 0 ? undefined : image.slice(at + 1);
  if (digest !== undefined && !digests.test(digest)) return undefined;
  const [host, rest] = splitDomain(at < 0 ? image : image.slice(0, at));
  const colon = rest.indexOf(':');
  const name = colon < 0 ? rest : rest.slice(0, colon);
  const tag = colon < 0 ? undefined : rest.slice(colon + 1);
  const isNamed =
    `${host}/${name}`.length <= nameLengthMax &&
    domain.test(host) &&
    name.split('/').every((part) => path.test(part));
  if (!isNamed || (tag !== undefined && !tagged.test(tag))) return undefined;
  return tag ?? (digest === undefined ? 'latest' : '');
}

/** The first component is a domain if it looks like one. */
function splitDomain(named: string): readonly [host: string, rest: string] {
  const slash = named.indexOf('/');
  const first = named.slice(0, Math.max(slash, 0));
  const isDomain = /[.:A-Z]/.test(first) || first === 'localhost';
  const host = isDomain && first !== 'index.docker.io' ? first : publicDomain;
  const rest = isDomain ? named.slice(slash + 1) : named;
  return [host, host === publicDomain && !rest.includes('/') ? `library/${rest}` : rest];
}

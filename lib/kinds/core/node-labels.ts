// Labels of nodes that newer ones took the place of.
import type { NamingProfile } from '../../api/vendor.ts';

const replaced = [
  ['beta.{kubernetes}.io/arch', 'v1.14', '{kubernetes}.io/arch'],
  ['beta.{kubernetes}.io/os', 'v1.14', '{kubernetes}.io/os'],
  ['beta.{kubernetes}.io/instance-type', 'v1.17', 'node.{kubernetes}.io/instance-type'],
  ['failure-domain.beta.{kubernetes}.io/region', 'v1.17', 'topology.{kubernetes}.io/region'],
  ['failure-domain.beta.{kubernetes}.io/zone', 'v1.17', 'topology.{kubernetes}.io/zone'],
] as const;

/** Since when a label is deprecated, and what to use; undefined: it is not. */
export function deprecatedLabelText(label: string, naming: NamingProfile): string | undefined {
  const found = replaced.find(([name]) => naming.resolve(name) === label);
  if (found === undefined) return undefined;
  const [, since, newer] = found;
  return `deprecated since ${since}; use "${naming.resolve(newer)}" instead`;
}

// The file of --tracing-config-file: a TracingConfiguration. Decoding is strict; the names of
// targets are those of gRPC, as far as this server can dial them.
import { FieldErrors } from '../../lib/api/field-errors.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import { fieldErrorMessage } from '../../lib/base/status.ts';
import { StrictFields } from '../../lib/codec/strict-fields.ts';
import type { TracingConfiguration } from '../../lib/telemetry/open-tracing.ts';

const rateMax = 1_000_000;
const versions = ['v1', 'v1beta1', 'v1alpha1'];

/**
 * @param text YAML or JSON
 * @throws Error that names each wrong field
 */
export function readTracingConfiguration(
  text: string,
  naming: Pick<NamingProfile, 'resolve'>,
): TracingConfiguration {
  const apiVersions = versions.map((version) => naming.resolve(`apiserver.config.{v}/${version}`));
  const root = StrictFields.read(text, { kind: 'TracingConfiguration', apiVersions });
  const endpoint = root.optionalText('endpoint') ?? 'localhost:4317';
  const rate = root.integer('samplingRatePerMillion') ?? 0;
  root.finish();
  const errors = new FieldErrors();
  if (rate < 0) errors.invalid('samplingRatePerMillion', rate, 'sampling rate must be positive');
  if (rate > rateMax) {
    const detail = 'sampling rate per million must be less than or equal to one million';
    errors.invalid('samplingRatePerMillion', rate, detail);
  }
  const target = targetOf(endpoint);
  if ('problem' in target) errors.invalid('endpoint', endpoint, target.problem);
  if (errors.list.length > 0 || 'problem' in target) {
    const texts = errors.list.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
    throw new Error(texts.join('; '));
  }
  return { target: target.name, samplingRatePerMillion: rate };
}

type Target = { readonly name: string } | { readonly problem: string };

const place = /^(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::(?<port>\d{1,5}))?$/;
const portMax = 65_535;

function targetOf(endpoint: string): Target {
  const [, scheme = 'dns', rest = endpoint] = /^([^/]*):\/\/(.*)$/s.exec(endpoint) ?? [];
  switch (scheme) {
    case 'dns':
      return placeOf(endpoint === rest ? rest : withoutAuthority(rest));
    case 'unix':
      return rest.startsWith('/')
        ? { name: `unix://${rest}` }
        : { problem: 'must be unix:///PATH: the path of a socket is absolute' };
    case 'unix-abstract':
      return { problem: 'abstract sockets cannot be dialled: use a path, unix:///PATH' };
    default:
      return {
        problem:
          `unsupported scheme: ${scheme}. Options are none, dns, or unix; the connection is in ` +
          'the clear',
      };
  }
}

/** Of `/HOST:PORT`: which DNS server is asked is the system's to say. */
const withoutAuthority = (rest: string): string | undefined =>
  rest.startsWith('/') ? rest.slice(1) : undefined;

function placeOf(text: string | undefined): Target {
  if (text === undefined) {
    return { problem: 'must be HOST:PORT or dns:///HOST:PORT: no server of names is chosen here' };
  }
  const match = place.exec(text);
  if (match === null) return { problem: 'must be HOST:PORT, with brackets around an IPv6 address' };
  const { port } = match.groups ?? {};
  if (Number(port ?? 1) > portMax) return { problem: `there is no port ${String(port)}` };
  return { name: `dns://${text}` };
}

// The folder of files that a plugin's document of --admission-control-config-file names.
import { isAbsolute } from 'node:path';
import type { JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { StrictFields } from '../codec/strict-fields.ts';
import type { FeatureGates } from '../config/gates.ts';

/** The kinds of the documents of the plugins that may be configured in files. */
const documentKinds: Readonly<Record<string, string>> = {
  MutatingAdmissionPolicy: 'MutatingAdmissionPolicyConfiguration',
  MutatingAdmissionWebhook: 'WebhookAdmissionConfiguration',
  ValidatingAdmissionPolicy: 'ValidatingAdmissionPolicyConfiguration',
  ValidatingAdmissionWebhook: 'WebhookAdmissionConfiguration',
};

/**
 * undefined: the document names none.
 * @throws Error that names the field
 */
export function manifestFolderOf(
  plugin: string,
  document: JsonObject,
  { naming, gates }: { naming: NamingProfile; gates: Pick<FeatureGates, 'isEnabled'> },
): string | undefined {
  const kind = documentKinds[plugin] ?? '';
  const apiVersions = [naming.resolve('apiserver.config.{v}/v1')];
  const root = StrictFields.of(document, { kind, apiVersions });
  if (kind === 'WebhookAdmissionConfiguration') root.text('kubeConfigFile'); // not ours
  const folder = root.text('staticManifestsDir');
  root.finish();
  if (folder === '') return undefined;
  if (!gates.isEnabled(gate)) {
    throw new Error(
      `staticManifestsDir: Forbidden: staticManifestsDir requires the ${gate} ` +
        'feature gate to be enabled',
    );
  }
  if (isAbsolute(folder)) return folder;
  const shown = JSON.stringify(folder);
  throw new Error(`staticManifestsDir: Invalid value: ${shown}: must be an absolute file path`);
}

const gate = 'ManifestBasedAdmissionControlConfig';

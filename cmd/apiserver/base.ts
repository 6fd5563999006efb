// What every layer is built with: flags, clock, gates, spelling, metrics, scheme, files.
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import type { Scheme } from '../../lib/api/scheme.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import { systemClock } from '../../lib/base/clock.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { createStoredMedia, storedMediaName } from '../../lib/codec/stored-media.ts';
import type { ClientParts } from '../../lib/client/open-target.ts';
import type { StoredMedia } from '../../lib/codec/stored-media.ts';
import { featureGates } from '../../lib/config/gates.ts';
import type { FeatureGates } from '../../lib/config/gates.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { createMetrics } from '../../lib/telemetry/metrics.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';
import type { Tracing } from '../../lib/telemetry/tracing.ts';
import { clientParts } from './client-parts.ts';
import { chosenControllers } from './controllers.ts';
import type { ControllerRow } from './controllers.ts';
import { chosenPlugins } from './chosen-plugins.ts';
import type { ChosenPlugins } from './chosen-plugins.ts';
import { DataDirectory, releaseOrWarn } from './data-directory.ts';
import { orFlagError } from './from-flags.ts';
import { givenAuthorization } from './given-authorization.ts';
import type { GivenAuthorization } from './given-authorization.ts';
import { readGivenAuthentication } from './given-authentication.ts';
import type { GivenAuthentication } from './given-authentication.ts';
import { readGivenFiles } from './given-files.ts';
import type { GivenFiles } from './given-files.ts';
import { describeServer } from './observers.ts';
import { addressWarning, advertisedAddress } from './own-address.ts';
import { release, versionInfo } from './version.ts';
import type { WorkerLink } from './workers/worker-link.ts';

/** What every layer is built with. */
export interface Base {
  readonly flags: Flags;
  readonly flagTexts: ReadonlyMap<string, string>;
  /** Names of flags that the command line has. */
  readonly givenFlags: ReadonlySet<string>;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly gates: FeatureGates;
  readonly naming: NamingProfile;
  readonly metrics: Metrics;
  readonly directory: DataDirectory;
  readonly files: GivenFiles;
  readonly authorization: GivenAuthorization;
  readonly authentication: GivenAuthentication;
  readonly controllers: readonly ControllerRow[];
  /** Where clients reach this replica. */
  readonly address: string;
  readonly scheme: Scheme;
  /** The encoding of objects in etcd. */
  readonly media: StoredMedia;
  /** undefined: requests are not traced. */
  readonly tracing?: Tracing | undefined;
  /** undefined: there is one process, this one. */
  readonly worker?: WorkerLink | undefined;
  /** What outgoing calls share. */
  readonly calls: ClientParts;
  /** Those of admission that are on. */
  readonly plugins: ChosenPlugins;
  /** Fires when the start is given up. */
  readonly signal: AbortSignal;
  /** What was started, ended in reverse order. */
  readonly started: AsyncDisposableStack;
}

/**
 * All that can be refused without etcd: nothing is started before.
 * @throws FlagError with a message for the user.
 */
export function openBase(
  given: Pick<
    Base,
    'flags' | 'flagTexts' | 'givenFlags' | 'logger' | 'signal' | 'started' | 'tracing' | 'worker'
  >,
): Base {
  const { flags, logger, started, tracing, worker } = given;
  const dataDir = flags['data-dir'];
  const clock = systemClock;
  const files = readGivenFiles(flags);
  const warning = addressWarning(flags);
  if (warning !== undefined) logger.warn(warning);
  const address = advertisedAddress(flags);
  const gates = featureGates(flags['feature-gates']);
  for (const note of gates.notes) logger.warn(note);
  const controllers = orFlagError('controllers', () => chosenControllers(flags.controllers));
  const naming = namingProfile(flags.naming);
  const authorization = givenAuthorization(flags, naming);
  for (const note of authorization.notes) logger.warn(note);
  const authentication = readGivenAuthentication({ ...given, files, naming, gates });
  const plugins = chosenPlugins(flags, naming);
  for (const note of plugins.notes) logger.warn(note);
  const metrics = orFlagError('show-hidden-metrics-for-version', () =>
    createMetrics({
      release,
      showHiddenFor: flags['show-hidden-metrics-for-version'],
      disabled: flags['disabled-metrics'],
      resolve: (name) => naming.resolve(name),
    }),
  );
  const calls = clientParts({ clock, logger, metrics, tracing });
  describeServer(metrics, { version: versionInfo, naming, gates });
  const scheme = orFlagError('runtime-config', () =>
    builtInScheme({
      profile: naming,
      runtimeConfig: flags['runtime-config'],
      isOn: (gate) => gates.isEnabled(gate),
      nowMs: () => clock.nowMs(),
    }),
  );
  const hasCbor = gates.isOn('CBORServingAndStorage');
  const media = orFlagError('storage-media-type', () =>
    createStoredMedia(storedMediaName(flags['storage-media-type'], { naming, hasCbor }), naming),
  );
  const directory = worker ? DataDirectory.ofParent(dataDir) : DataDirectory.open(dataDir);
  if (worker === undefined) started.defer(() => releaseOrWarn(directory, given.logger));
  const opened = { clock, gates, naming, metrics, calls, directory, files, address, scheme };
  return { ...given, ...opened, authentication, authorization, controllers, media, plugins };
}

// The webhooks of all configurations of one kind, as they are at the moment of asking: those of
// files, then those of the API by the names of their configurations. Each object is read once, and
// the index over all of them is made again when one has changed.
import type { Item } from '../../cacher/resource-view.ts';
import { isConfiguration } from '../match/excluded.ts';
import { MatchIndex } from '../match/match-index.ts';
import type { Candidate } from '../match/match-index.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import type { StaticManifest } from '../static-manifests.ts';
import { webhooksOf } from './configured-webhook.ts';
import type { ConfiguredWebhook } from './configured-webhook.ts';

export interface PlacedWebhook {
  readonly webhook: ConfiguredWebhook;
  /** In the list of all of its kind. */
  readonly place: number;
}

export type WebhookCandidate = Candidate<PlacedWebhook>;

type Resource = 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations';
type Parts = Pick<PluginParts, 'objects' | 'manifests' | 'served' | 'naming'>;

export class WebhookSource {
  readonly #all: () => readonly Item[];
  readonly #files: () => readonly StaticManifest[];
  readonly #served: Parts['served'];
  readonly #isConfiguration: ReturnType<typeof isConfiguration>;
  readonly #read = new WeakMap<StaticManifest, readonly ConfiguredWebhook[]>();
  #known: Known | undefined;

  constructor(parts: Parts, resource: Resource) {
    const objects = parts.objects('admissionregistration.{v}', resource);
    this.#all = () => objects?.view.all() ?? none;
    this.#files = () => parts.manifests.of(resource);
    this.#served = parts.served;
    this.#isConfiguration = isConfiguration(parts.naming);
  }

  /** In their order. The name and the selectors are still to be asked. */
  candidates(request: AdmissionRequest): readonly WebhookCandidate[] {
    const { ofAll, ofFiles } = this.#now();
    return (this.#isConfiguration(request) ? ofFiles : ofAll).candidates(request);
  }

  #now(): Known {
    const [items, files] = [this.#all(), this.#files()];
    const known = this.#known;
    if (known?.items === items && known.files === files) return known;
    const first = files.flatMap((file) => this.#webhooksOf(file));
    // A view shows its items in the order of their names.
    const placed = [...first, ...items.flatMap((item) => this.#webhooksOf(item))];
    const entries = placed.map((webhook, place) => ({ webhook, place }));
    this.#known = {
      items,
      files,
      ofAll: this.#indexOf(entries),
      ofFiles: this.#indexOf(entries.slice(0, first.length)),
    };
    return this.#known;
  }

  #indexOf(entries: readonly PlacedWebhook[]): MatchIndex<PlacedWebhook> {
    return new MatchIndex(entries, ({ webhook }) => webhook.criteria, this.#served);
  }

  #webhooksOf(item: StaticManifest): readonly ConfiguredWebhook[] {
    let read = this.#read.get(item);
    if (read === undefined) {
      read = item.corrupted ? [] : webhooksOf(item.object());
      this.#read.set(item, read);
    }
    return read;
  }
}

interface Known {
  readonly items: readonly Item[];
  readonly files: readonly StaticManifest[];
  readonly ofAll: MatchIndex<PlacedWebhook>;
  readonly ofFiles: MatchIndex<PlacedWebhook>;
}

const none: readonly never[] = [];

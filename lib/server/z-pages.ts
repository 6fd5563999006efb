// /statusz and /flagz: what this process is, and the flags it runs with, as text for people, or as
// a versioned document for those who ask for one.
import type { JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { formatTime } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { releasesOf } from '../base/releases.ts';
import { notAcceptable } from '../base/status.ts';
import type { Encoding } from '../codec/encodings.ts';
import { stringify } from '../codec/json.ts';
import { parseAccept } from '../codec/media-type.ts';
import type { FeatureGates } from '../config/gates.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { sendNow } from './respond.ts';
import { wantsPretty } from './wants-pretty.ts';

export interface ZPagesOptions {
  readonly naming: NamingProfile;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly startedAtMs: number;
  /** As `/version` says it. */
  readonly version: Readonly<Record<string, string>>;
  /** Each flag with its value in words. */
  readonly flags: ReadonlyMap<string, string>;
  /** What there is beside these pages for operators. */
  readonly paths: readonly string[];
  readonly encodings: readonly Encoding[];
  /** Each page has one. */
  readonly gates: FeatureGates;
}

export type ZPage = (request: HttpRequest, response: HttpResponse) => void;

/** In both forms. */
interface Shown {
  readonly kind: string;
  readonly text: () => string;
  readonly members: () => JsonObject;
}

const plain = 'text/plain';
const versions: ReadonlySet<string> = new Set(['v1beta1', 'v1alpha1']);

/** Those that are switched on, by path. */
export function createZPages(options: ZPagesOptions): ReadonlyMap<string, ZPage> {
  const { gates } = options;
  const pages = new Map<string, ZPage>();
  if (gates.isOn('ComponentFlagz')) pages.set('/flagz', flagzPage(options));
  if (gates.isOn('ComponentStatusz')) {
    const roots = options.paths.filter((path) => path.lastIndexOf('/') === 0);
    const paths = [...roots, ...pages.keys(), '/statusz'].sort();
    pages.set('/statusz', statuszPage({ ...options, paths }));
  }
  return pages;
}

function statuszPage(options: ZPagesOptions): ZPage {
  const { naming, clock, startedAtMs, version, paths } = options;
  const { binary, emulation, minCompatibility } = releasesOf(version);
  const goVersion = version['goVersion'] ?? '';
  const uptimeSeconds = (): number => Math.floor((clock.nowMs() - startedAtMs) / 1000);
  return zPage(options, {
    kind: 'Statusz',
    text: () =>
      textPage(`${componentName(naming)} statusz`, [
        `Started: ${unixDate(startedAtMs)}`,
        `Up: ${duration(uptimeSeconds())}`,
        `Go version: ${goVersion}`,
        `Binary version: ${binary}`,
        `Emulation version: ${emulation}`,
        `Paths: ${paths.join(' ')}`,
      ]),
    members: () => ({
      startTime: formatTime(startedAtMs),
      uptimeSeconds: uptimeSeconds(),
      goVersion,
      binaryVersion: binary,
      emulationVersion: emulation,
      minimumCompatibilityVersion: minCompatibility,
      paths: [...paths],
    }),
  });
}

function flagzPage(options: ZPagesOptions): ZPage {
  const flags = [...options.flags].sort(([one], [other]) => (one < other ? -1 : 1));
  return zPage(options, {
    kind: 'Flagz',
    text: () =>
      textPage(
        `${componentName(options.naming)} flags`,
        flags.map(([name, value]) => `${name}=${value}`),
      ),
    members: () => ({ flags: Object.fromEntries(flags) }),
  });
}

const componentName = (naming: NamingProfile): string => naming.resolve('{kube}-apiserver');

function zPage({ naming, encodings }: ZPagesOptions, shown: Shown): ZPage {
  const group = naming.resolve('config.{v}');
  const structured = encodings.filter(({ pretty, rewrite }) => pretty ?? rewrite);
  return function answerZPage(request, response) {
    const as = negotiated(request.headers.accept, { group, kind: shown.kind }, structured);
    if (as === undefined) {
      const head = { status: 200, contentType: `${plain}; charset=utf-8` };
      sendNow(request, response, head, Buffer.from(shown.text()));
      return;
    }
    const { encoding, version } = as;
    const object: JsonObject = {
      kind: shown.kind,
      apiVersion: `${group}/${version}`,
      metadata: { name: componentName(naming) },
      ...shown.members(),
    };
    const json = Buffer.from(stringify(object));
    const rewrite = encoding.rewrite ?? (wantsPretty(request) ? encoding.pretty : undefined);
    const head = { status: 200, contentType: encoding.mediaType };
    sendNow(request, response, head, rewrite?.whole(json) ?? json);
  };
}

/** undefined: as text. @throws StatusError 406. */
function negotiated(
  accept: string | undefined,
  { group, kind }: { readonly group: string; readonly kind: string },
  structured: readonly Encoding[],
): { readonly encoding: Encoding; readonly version: string } | undefined {
  if (accept === undefined || accept.trim() === '') return undefined;
  for (const { type, subtype, quality, parameters } of parseAccept(accept)) {
    if (quality === 0) break;
    const name = `${type}/${subtype}`;
    if (['*/*', 'text/*', plain].includes(name)) return undefined;
    const encoding = structured.find(({ mediaType }) => mediaType === name);
    const version = parameters.get('v') ?? '';
    const isOurs = parameters.get('g') === group && parameters.get('as') === kind;
    if (encoding !== undefined && isOurs && versions.has(version)) return { encoding, version };
  }
  const offers = structured.map(({ mediaType }) => `${mediaType};v=v1beta1;g=${group};as=${kind}`);
  throw notAcceptable([plain, ...offers]);
}

const textPage = (title: string, lines: readonly string[]): string =>
  ['', title, notParseable, '', ...lines, ''].join('\n');

const notParseable =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility ' +
  'guarantees and is for debugging purposes only.';

/** `Wed Oct 16 21:03:43 UTC 2024` */
function unixDate(ms: number): string {
  const [, day = '', month = '', year = '', time = ''] =
    /^(\w+), (\d+ \w+) (\d+) (\S+) GMT$/.exec(new Date(ms).toUTCString()) ?? [];
  const [date = '', name = ''] = month.split(' ');
  return `${day} ${name} ${String(Number(date)).padStart(2)} ${time} UTC ${year}`;
}

function duration(seconds: number): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = String(Math.floor(seconds / 3600));
  return `${hours} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

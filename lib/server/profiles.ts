// /debug/pprof/: what the process spends its time on, for those who may read these paths. A profile
// is V8's own format, which browsers' and editors' tools open; it is taken one at a time.
import { Session } from 'node:inspector/promises';
import { pause } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { badRequest, tooManyRequests } from '../base/status.ts';
import type { HttpRequest, HttpResponse } from './request-context.ts';
import { sendNow } from './respond.ts';

type ProfilePage = (request: HttpRequest, response: HttpResponse) => void | Promise<void>;

const { profileSecondsDefault, profileSecondsMax } = limits;
const root = '/debug/pprof/';
/** A file to keep, whatever a browser would make of it. */
const asFile = {
  'content-disposition': 'attachment; filename="profile.cpuprofile"',
  'x-content-type-options': 'nosniff',
};

const index = `${root}

profile?seconds=N
    CPU profile of the next N seconds (${profileSecondsDefault} unless given, at most \
${profileSecondsMax}), as V8 writes it: open it as profile.cpuprofile.
`;

/** By path; the root of the server lists none of them, as upstream. */
export function profilePages(clock: Clock): ReadonlyMap<string, ProfilePage> {
  let isTaking = false;

  const showIndex: ProfilePage = (request, response) => {
    const head = { status: 200, contentType: 'text/plain; charset=utf-8' };
    sendNow(request, response, head, Buffer.from(index));
  };

  const takeProfile: ProfilePage = async (request, response) => {
    const { info, signal } = request.context;
    const seconds = secondsOf(info.query.get('seconds'));
    if (isTaking) throw tooManyRequests('a profile is being taken', seconds);
    isTaking = true;
    try {
      const profile = await cpuProfile(() => pause(clock, seconds * 1_000, signal));
      const head = { status: 200, contentType: 'application/octet-stream', headers: asFile };
      sendNow(request, response, head, Buffer.from(JSON.stringify(profile)));
    } finally {
      isTaking = false;
    }
  };

  return new Map([
    [root, showIndex],
    [`${root}profile`, takeProfile],
  ]);
}

/** @throws StatusError 400 */
function secondsOf(given: string | null): number {
  if (given === null || given === '') return profileSecondsDefault;
  const seconds = Number(given);
  if (/^\d+$/.test(given) && seconds >= 1 && seconds <= profileSecondsMax) return seconds;
  throw badRequest(`seconds must be a whole number from 1 to ${String(profileSecondsMax)}`);
}

async function cpuProfile(taken: () => Promise<void>): Promise<unknown> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await taken();
    const { profile } = await session.post('Profiler.stop');
    return profile;
  } finally {
    session.disconnect();
  }
}

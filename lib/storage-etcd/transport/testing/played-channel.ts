// A channel of the transport of its own, connected to a member that the test plays.
import { EtcdError, effectOf } from '../../etcd-error.ts';
import type { Method } from '../../rpc.ts';
import { Http2Channel } from '../http2-channel.ts';
import { frameType } from '../../../http2/frames.ts';
import { RawMember } from './raw-member.ts';
import { dataFrame } from '../../../http2/testing/raw-connection.ts';
import type { Frame, RawConnection } from '../../../http2/testing/raw-connection.ts';

const { data, headers } = frameType;

export const echo: Method<string, string> = {
  path: '/test.Echo/Echo',
  name: 'Echo/Echo',
  encode: (text) => Buffer.from(text),
  decode: (bytes) => bytes.toString('utf8'),
};
const closing: (() => void)[] = [];
/** Called by `closeAll`. */
export function onClosing(close: () => void): void {
  closing.push(close);
}

export function closeAll(): void {
  for (const close of closing.splice(0)) close();
}

export const soon = (): number => Date.now() + 20_000;
export const terms = (): { deadlineMs: number } => ({ deadlineMs: soon() });
export const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

export interface Played {
  readonly channel: Http2Channel;
  readonly member: RawMember;
  readonly connection: RawConnection;
  readonly lostCount: () => number;
}

type Settings = readonly (readonly [id: number, value: number])[];

/** Not yet connected. */
export async function newChannel(firstStreamId = 1): Promise<Omit<Played, 'connection'>> {
  const member = await RawMember.listen();
  let lostCount = 0;
  const channel = new Http2Channel({
    target: member.target,
    secrets: undefined,
    keepaliveMs: 10_000,
    onLost: () => lostCount++,
    firstStreamId,
  });
  closing.push(() => {
    channel.close();
    member.close();
  });
  return { member, channel, lostCount: () => lostCount };
}

export async function play(own: Settings = [], firstStreamId = 1): Promise<Played> {
  const { member, channel, lostCount } = await newChannel(firstStreamId);
  const connecting = channel.connect(soon());
  const connection = await member.accepted();
  connection.greet(own);
  if (!(await connecting)) throw new Error('no connection');
  return { channel, member, connection, lostCount };
}

export async function failureOf(call: Promise<string>): Promise<EtcdError> {
  const error: unknown = await call.catch((reason: unknown) => reason);
  if (!(error instanceof EtcdError)) throw new Error(`it ended with ${String(error)}`);
  return error;
}
export const effect = async (call: Promise<string>): Promise<string> =>
  effectOf(await failureOf(call));

export const bodyOf = (frames: readonly Frame[], streamId: number): Buffer =>
  Buffer.concat(
    frames
      .filter((frame) => frame.type === data && frame.streamId === streamId)
      .map(({ payload }) => payload),
  );
export const begun = (frames: readonly Frame[]): number[] =>
  frames.filter(({ type }) => type === headers).map(({ streamId }) => streamId);

/** The beginning of a message of 64 MiB, or more of it. */
export function contents(streamId: number, bytes: number): Buffer[] {
  const content = Buffer.alloc(bytes);
  content[1] = 4;
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes; at += 16_384) {
    frames.push(dataFrame(streamId, content.subarray(at, at + 16_384)));
  }
  return frames;
}
export const updates = (frames: readonly Frame[]): [number, number][] =>
  frames
    .filter(({ type }) => type === frameType.windowUpdate)
    .map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]);

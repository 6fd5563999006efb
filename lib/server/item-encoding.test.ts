// A list of documents from its items is, in each encoding, the list as a whole.
import { expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import { createEncodings } from '../codec/encodings.ts';
import { createDiscovery } from '../discovery/discovery.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { encodeItems } from './item-encoding.ts';

const profile = namingProfile('kubernetes');
const scheme = builtInScheme({ profile });
const encodings = createEncodings(profile, { cbor: true });
const discovery = createDiscovery({ scheme, groups: scheme.groups, serverAddress: 'x' });

test.each(
  encodings.flatMap((encoding) =>
    [false, true].map((pretty) => [encoding.mediaType, pretty, encoding] as const),
  ),
)('%s, pretty: %s', async (_mediaType, pretty, encoding) => {
  const document = await discovery.aggregated('/apis', 'v2');
  if (document === undefined) throw new Error('there are groups');
  const { object, type } = document;
  const read = (bytes: Uint8Array): unknown => encoding.codec.decode(bytes, type).object;
  const whole = read(encoding.codec.encode(object, type));
  for (const _again of [1, 2]) {
    const pieces = await encodeItems(object, type, encoding, { pretty });
    const bytes = Buffer.concat([...pieces]);
    expect(bytes.length).toBe(pieces.totalBytes);
    expect(read(bytes)).toEqual(whole);
  }
});

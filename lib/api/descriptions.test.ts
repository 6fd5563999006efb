import { describe, expect, test } from '@jest/globals';
import { commentText } from './descriptions.ts';
import { loadProto } from './load-proto.ts';
import type { FieldInfo, TypeInfo } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const { packages, types } = loadProto(namingProfile('kubernetes'));
const stable = /\/v[0-9]+$/;
/** Versions that can be served or are stable, and the packages that these share. */
const described = [...packages.values()].filter(
  ({ id, served }) => served || stable.test(id) || !id.includes('/'),
);
const shownFields = (type: TypeInfo): readonly FieldInfo[] =>
  type.special !== undefined || type.isNamedList
    ? []
    : type.fields.filter(({ jsonName }) => jsonName !== '' && jsonName !== '-');

/** Words that say nothing by themselves. */
const empty = new Set(
  'a an the of is are be to for and or this that it its in on by field value values'.split(' '),
);
const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/(?<=..)(ies|es|s)$/, ''))
    .filter((word) => word !== '' && !empty.has(word));

/** Whether a text only says the name once more. */
function repeats(name: string, text: string): boolean {
  const known = new Set(wordsOf(name));
  return wordsOf(text).every((word) => known.has(word));
}

test.each([
  ['nodeName', 'The name of the node.', true],
  ['podIPs', 'pod IPs', true],
  ['ConfigMap', 'A config map.', true],
  ['nodeName', '', true],
  ['nodeName', 'Node that the pod runs on.', false],
])('%s: “%s” repeats the name: %s', (name, text, expected) => {
  expect(repeats(name, text)).toBe(expected);
});

describe('words', () => {
  test('every kind has some', () => {
    const missing = described.flatMap(({ types: all }) =>
      all.filter(({ description }) => description === undefined).map(({ id }) => id),
    );
    expect(missing).toEqual([]);
  });

  test('every field has some', () => {
    const missing = described.flatMap(({ types: all }) =>
      all.flatMap((type) =>
        shownFields(type)
          .filter(({ description }) => description === undefined)
          .map(({ jsonName }) => `${type.id}.${jsonName}`),
      ),
    );
    expect(missing).toEqual([]);
  });

  test('say more than the name', () => {
    const idle = described.flatMap(({ types: all }) =>
      all.flatMap((type) => {
        const own = repeats(type.name, type.description ?? 'none here') ? [type.id] : [];
        const inner = shownFields(type)
          .filter(({ jsonName, description }) => repeats(jsonName, description ?? 'none here'))
          .map(({ jsonName }) => `${type.id}.${jsonName}`);
        return [...own, ...inner];
      }),
    );
    expect(idle).toEqual([]);
  });

  test('are sentences that end, without unresolved names', () => {
    const texts = described.flatMap(({ types: all }) =>
      all.flatMap((type) => [type, ...shownFields(type)].map((one) => one.description ?? '')),
    );
    expect(texts.length).toBeGreaterThan(2000);
    expect(texts.filter((text) => !/[.`)]$/.test(text))).toEqual([]);
    expect(texts.filter((text) => /\{(v|kube|kubernetes)\}|^[a-z]/.test(text))).toEqual([]);
  });

  test('are inherited by other versions of a kind, field by field', () => {
    const beta = types.get('flowcontrol/v1beta3.FlowSchemaSpec');
    const settled = types.get('flowcontrol/v1.FlowSchemaSpec');
    expect(beta?.description).toBe(settled?.description);
    expect(beta?.fieldByJsonName.get('matchingPrecedence')?.description).toMatch(/lowest number/);
    expect(types.get('certificates/v1alpha1.ClusterTrustBundle')?.description).toMatch(/trust/);
  });
});

test('a comment is one line per paragraph', () => {
  expect(commentText('One\n  two.\n\nThree.\n')).toBe('One two.\n\nThree.');
  expect(commentText('  \n')).toBeUndefined();
  expect(commentText(null)).toBeUndefined();
});

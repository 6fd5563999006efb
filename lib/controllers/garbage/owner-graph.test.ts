import { expect, test } from '@jest/globals';
import type { OwnerReference } from '../../codec/ownership.ts';
import { OwnerGraph } from './owner-graph.ts';
import type { OwnedNode, Source } from './owner-graph.ts';

/** `a!` blocks its owner `a`. */
const references = (text: string): OwnerReference[] =>
  text
    .split(' ')
    .filter(Boolean)
    .map((one) => {
      const uid = one.replace('!', '');
      const of = { apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid };
      return one.endsWith('!') ? { ...of, blockOwnerDeletion: true } : of;
    });

class Fixture {
  readonly source: Source = { round: 1 };
  readonly unblocked: string[] = [];
  readonly graph = new OwnerGraph<Source>(({ uid }) => this.unblocked.push(uid));

  /** @returns the owners that are new. */
  see(uid: string, owners = ''): string[] {
    const added = this.graph.setOwners(this.node(uid), references(owners));
    this.graph.drop(this.node(uid));
    return added.map((one) => one.uid);
  }

  node(uid: string): OwnedNode<Source> {
    const known = this.graph.get(uid);
    return known ?? this.graph.place(uid, { source: this.source, namespace: 'n', name: uid });
  }

  /** `owner: dependents`, of owners in order. */
  get edges(): string[] {
    return [...this.graph.nodes]
      .map(
        (node) =>
          [
            node.uid,
            this.graph
              .dependentsOf(node)
              .map(({ uid }) => uid)
              .sort(),
          ] as const,
      )
      .filter(([, dependents]) => dependents.length > 0)
      .map(([uid, dependents]) => `${uid}: ${dependents.join(' ')}`)
      .sort();
  }
}

test('has nodes of what owns and is owned, and of nothing else', () => {
  const of = new Fixture();
  of.see('lonely');
  expect(of.graph.size).toBe(0);
  expect(of.see('a', 'x y!')).toEqual(['x', 'y']);
  expect(of.see('b', 'x')).toEqual(['x']);
  expect(of.edges).toEqual(['x: a b', 'y: a']);
  expect(of.graph.size).toBe(4);
});

test('changes of owners give what is new and forget what nobody names any more', () => {
  const of = new Fixture();
  of.see('a', 'x y!');
  expect(of.see('a', 'x y!')).toEqual([]);
  expect(of.see('a', 'y x z')).toEqual(['z']);
  expect(of.see('a', 'z z! z')).toEqual([]);
  expect(of.edges).toEqual(['z: a']);
  expect([of.graph.get('x'), of.graph.get('y'), of.node('z').blockingCount]).toEqual([
    undefined,
    undefined,
    1,
  ]);
  of.see('a');
  expect(of.graph.size).toBe(0);
});

test('an object that is gone leaves its owners; what it owned stays linked to it', () => {
  const of = new Fixture();
  of.see('b', 'a');
  of.see('c', 'b!');
  of.graph.remove(of.node('b'));
  expect(of.edges).toEqual(['b: c']);
  expect(of.graph.get('b')).toMatchObject({ isGone: true, source: undefined, blockingCount: 1 });
  of.graph.remove(of.node('c'));
  expect(of.graph.size).toBe(0);
});

test.each<[claim: string, change: (of: Fixture) => void, unblocked: string[]]>([
  ['one of two that block it goes', (of) => of.graph.remove(of.node('b')), []],
  [
    'the last that blocks it goes',
    (of) => ['b', 'c'].forEach((uid) => of.graph.remove(of.node(uid))),
    ['a'],
  ],
  [
    'they block it no more, or name it no more',
    (of) => {
      of.see('b', 'a');
      of.see('c');
    },
    ['a'],
  ],
  [
    'one blocks it again before the last goes',
    (of) => {
      of.see('b', 'a');
      of.see('b', 'a!');
      of.graph.remove(of.node('c'));
    },
    [],
  ],
])('whether an owner in the foreground may go, when %s', (_claim, change, unblocked) => {
  const of = new Fixture();
  of.node('a').waiting = 'foreground';
  for (const uid of ['b', 'c', 'd']) of.see(uid, uid === 'd' ? 'a' : 'a!');
  change(of);
  expect(of.unblocked).toEqual(unblocked);
});

test('what owns itself neither blocks itself nor keeps its node', () => {
  const of = new Fixture();
  expect(of.see('a', 'a!')).toEqual(['a']);
  expect(of.node('a').blockingCount).toBe(0);
  of.graph.remove(of.node('a'));
  expect(of.graph.get('a')?.owners).toBeUndefined();
  of.see('b', 'b');
  of.see('b');
  expect(of.graph.get('b')).toBeUndefined();
});

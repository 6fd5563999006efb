import { describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../../codec/codec.ts';
import { daemonSetStrategy } from './daemon-sets.ts';
import { deploymentStrategy } from './deployments.ts';
import { writeContext } from '../testing/write-context.ts';

const context = writeContext({ apiVersion: 'apps/v1' });
const isOn = (): boolean => true;
const annotated = (name: string, text: string): ApiObject => ({
  metadata: { annotations: { [name]: text } },
  spec: { template: {} },
});

describe('the count of versions of the template of a daemon set', () => {
  const name = 'deprecated.daemonset.template.generation';
  const prepared = (text: string, stored?: ApiObject): string | undefined => {
    const object = annotated(name, text);
    daemonSetStrategy.prepare?.(object, stored, context, isOn);
    return object.metadata?.annotations?.[name];
  };
  test.each([
    ['7', '7'],
    ['+7', '7'],
    ['0', '1'],
    ['-3', '1'],
    ['9223372036854775807', '9223372036854775807'],
  ])('of a new one is the number %s, or 1', (text, expected) => {
    expect(prepared(text)).toBe(expected);
  });
  test('of a stored one is that of before', () => {
    expect(prepared('9', annotated(name, '4'))).toBe('4');
    expect(prepared('9', { ...annotated(name, '4'), spec: {} })).toBe('5');
  });
  test.each(['true', '', '1.5', '9223372036854775808'])('is refused when it is %j', (text) => {
    expect(() => prepared(text)).toThrow('no whole number');
    expect(() => prepared(text, annotated(name, '4'))).toThrow('no whole number');
  });
});

describe('the revision that a deployment goes back to', () => {
  const prepare = (text: string): void => {
    const object = annotated('deprecated.deployment.rollback.revision', text);
    deploymentStrategy.prepare?.(object, undefined, context, isOn);
  };
  test.each(['', '0', '12'])('is %j', (text) => {
    expect(() => {
      prepare(text);
    }).not.toThrow();
  });
  test('is refused when it is no number', () => {
    expect(() => {
      prepare('x');
    }).toThrow('no whole number');
  });
});

import { expect, test } from '@jest/globals';
import {
  fieldSelectorAttribute,
  labelSelectorAttribute,
  selectedName,
} from './selector-attribute.ts';

test.each([
  ['env=prod', { requirements: [{ key: 'env', operator: 'in', values: ['prod'] }] }],
  [
    'env!=prod,!tier,n>4',
    {
      requirements: [
        { key: 'env', operator: 'notIn', values: ['prod'] },
        { key: 'tier', operator: 'notExists', values: [] },
        { key: 'n', operator: 'greaterThan', values: ['4'] },
      ],
    },
  ],
  ['', undefined],
  ['env=prod=x', { rawSelector: 'env=prod=x' }],
  [`env=${'x'.repeat(64)}`, { rawSelector: `env=${'x'.repeat(64)}` }],
])('labels %s', (text, attribute) => {
  expect(labelSelectorAttribute(text)).toEqual(attribute);
});

test.each([
  [
    'spec.nodeName=n,made.up!=',
    {
      requirements: [
        { key: 'spec.nodeName', operator: 'in', values: ['n'] },
        { key: 'made.up', operator: 'notIn', values: [''] },
      ],
    },
    '',
  ],
  [
    String.raw`metadata.name=a\,b`,
    { requirements: [{ key: 'metadata.name', operator: 'in', values: ['a,b'] }] },
    'a,b',
  ],
  [
    'metadata.name!=a',
    { requirements: [{ key: 'metadata.name', operator: 'notIn', values: ['a'] }] },
    '',
  ],
  [',', undefined, ''],
  ['metadata.name', { rawSelector: 'metadata.name' }, ''],
])('fields %s', (text, attribute, name) => {
  expect(fieldSelectorAttribute(text)).toEqual(attribute);
  expect(selectedName(fieldSelectorAttribute(text))).toBe(name);
});

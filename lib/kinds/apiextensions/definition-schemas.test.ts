// What the schemas of definitions are told, word for word, and which formats nobody checks.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import {
  created,
  definition,
  inSpec,
  prefix,
  root,
  rulePath,
  rules,
  schemaOf,
  told,
  withProperties,
  withVersion,
} from './testing/definitions.ts';

describe('the schema of a new definition', () => {
  test('beside a status subresource shows the whole schema in the internal form', () => {
    const [error = ''] = created(
      withVersion({ subresources: { status: {} }, schema: schemaOf({}, { minProperties: 0 }) }),
    );
    expect(error).toContain(
      `${root}: Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object",` +
        '"Nullable":false,"Format":"","Title":"","Default":null,"Maximum":null,',
    );
    expect(error).toContain('"MinProperties":0,"Required":null,"Items":null,');
    expect(error).toMatch(
      /: only \[Description Type .* XValidations\] fields are allowed at the root of the schema/,
    );
  });

  test.each<[string, JsonObject, readonly string[]]>([
    [
      'a rule that is blank',
      rules({ rule: ' ' }),
      [`${rulePath(0)}.rule: Required value: rule is not specified`],
    ],
    [
      'a message that is blank',
      rules({ rule: 'true', message: ' ' }),
      [`${rulePath(0)}.message: Invalid value: " ": must be non-empty if specified`],
    ],
    [
      'a message of two lines',
      rules({ rule: 'true', message: 'a\nb' }),
      [`${rulePath(0)}.message: Invalid value: "a\\nb": must not contain line breaks`],
    ],
    [
      'a rule of two lines without a message',
      rules({ rule: 'true\n|| true' }, { rule: '\ntrue\n' }),
      [
        `${rulePath(0)}.message: Required value: ` +
          'message must be specified if rule contains line breaks',
      ],
    ],
    [
      'a path that leads nowhere',
      rules({ rule: 'nope', fieldPath: '.x' }),
      [`${rulePath(0)}.fieldPath: Invalid value: ".x": must be a valid path`],
    ],
    [
      'a rule that is no claim, shown with all its members',
      rules({ rule: '1' }),
      [
        `${rulePath(0)}.rule: Invalid value: {"Rule":"1","Message":"","MessageExpression":"",` +
          '"Reason":null,"FieldPath":"","OptionalOldSelf":null}: ' +
          'cel expression must evaluate to a bool',
      ],
    ],
    [
      'an optional oldSelf that nobody uses',
      rules({ rule: 'true', optionalOldSelf: true }),
      [
        `${rulePath(0)}.optionalOldSelf: Invalid value: true: ` +
          'may not be set if oldSelf is not used in rule',
      ],
    ],
    [
      'failures of expressions come after those of the schema',
      { ...rules({ rule: 'nope' }), format: 'date' },
      [expect.stringContaining(`${rulePath(0)}.rule: Invalid value: `) as unknown as string],
    ],
  ])('refuses %s', (_name, a, errors) => {
    expect(created(withProperties({ a }))).toEqual(errors);
  });

  test('oldSelf is for values that have an older one, also in atomic maps', () => {
    const change = rules({ rule: 'self == oldSelf' });
    const list = {
      type: 'array',
      maxItems: 2,
      items: { type: 'array', maxItems: 2, items: change },
    };
    const map = { type: 'object', [`${prefix}map-type`]: 'atomic', properties: { b: change } };
    expect(created(withProperties({ list, map }))).toEqual([
      `${inSpec}[list].items.items.${prefix}validations[0].rule: Invalid value: ` +
        '"self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema ' +
        `within ${inSpec}[list]`,
    ]);
  });

  test('names the four dearest rules of a schema that is too dear as a whole', () => {
    const property = (maxLength: number): JsonObject => ({
      ...{ type: 'string', maxLength },
      [`${prefix}validations`]: [{ rule: 'self.contains(self)' }],
    });
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_item, at) => [`f${String(at)}`, property(5_000)]),
    );
    const errors = created(withProperties({ ...properties, dear: property(5_100) }));
    expect(errors).toHaveLength(5);
    expect(errors[0]).toBe(
      `${inSpec}[dear].${prefix}validations[0].rule: Forbidden: contributed to estimated rule ` +
        'cost total exceeding cost limit for entire OpenAPIv3 schema',
    );
    const total =
      'estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of';
    expect(errors[4]?.replace(/\d\.\d+x.*/, 'F')).toBe(
      `${root}: Forbidden: ${prefix}validations ${total} F`,
    );
  });

  test('names such as those of prototypes are names like any other', () => {
    const properties = JSON.parse(
      '{"__proto__":{"type":"string","default":"a"},' +
        '"constructor":{"type":"integer","default":"x"}}',
    ) as JsonObject;
    expect(created(withProperties(properties))).toEqual([
      `${inSpec}[constructor].default: Invalid value: "string":  in body must be of type ` +
        'integer: "string"',
    ]);
  });
});

const unknown = (format: string): string => `unrecognized format ${JSON.stringify(format)}`;

describe('formats that nobody checks', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['a format of texts', { a: { type: 'string', format: 'date-time' } }, []],
    ['a format of another type', { a: { type: 'integer', format: 'date' } }, ['date']],
    ['a format that does not exist', { a: { type: 'string', format: 'x' } }, ['x']],
    ['a format of integers', { a: { type: 'integer', format: 'int64' } }, []],
    ['a format of an object', { a: { type: 'object', format: 'date' } }, ['date']],
    [
      'one format at two places',
      { a: { type: 'string', format: 'x' }, b: { type: 'string', not: { format: 'x' } } },
      ['x'],
    ],
  ])('%s', (_name, properties, formats) => {
    const { errors, warnings } = told(definition(withProperties(properties)));
    expect({ errors, warnings }).toEqual({ errors: [], warnings: formats.map(unknown) });
  });

  test('are not told again once they are stored', () => {
    const a = { type: 'string', format: 'x' };
    const b = { type: 'string', format: 'y' };
    const old = definition(withProperties({ a }));
    const now = definition(withProperties({ a, b }));
    expect(told(now, old).warnings).toEqual([unknown('y')]);
  });
});

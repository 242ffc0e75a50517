/** Any JSON Schema, ours and foreign ones, as each API takes it. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { fitSchema, type JsonSchema } from '../../src/providers/schema.ts';

const dialects = ['plain', 'gemini'] as const;

/** As it is: zod would leave `__proto__` out. */
function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = (one: unknown): one is Readonly<Record<string, unknown>> =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  return isRecord(value) ? value : {};
}

describe('fitSchema', () => {
  const builtIn = z.strictObject({
    mode: z.literal('fast'),
    kind: z.discriminatedUnion('type', [
      z.object({ type: z.literal('a'), count: z.int().positive() }),
      z.object({ type: z.literal('b'), at: z.iso.datetime().nullable() }),
    ]),
    pair: z.tuple([z.string(), z.number()]).optional(),
    level: z.enum(['low', 'high']).default('low'),
    flags: z.record(z.string(), z.boolean()).optional(),
  });
  const schema = z.toJSONSchema(builtIn, { io: 'input' });

  it('puts zod’s schemas in Gemini’s words', () => {
    expect(fitSchema(schema, 'gemini')).toEqual({
      type: 'object',
      properties: {
        mode: { type: 'string', enum: ['fast'] },
        kind: {
          anyOf: [
            {
              type: 'object',
              properties: {
                type: { type: 'string', enum: ['a'] },
                count: { type: 'integer', minimum: 1 },
              },
              required: ['type', 'count'],
            },
            {
              type: 'object',
              properties: {
                type: { type: 'string', enum: ['b'] },
                at: { type: 'string', format: 'date-time' },
              },
              required: ['type', 'at'],
            },
          ],
        },
        pair: {
          type: 'array',
          minItems: 2,
          maxItems: 2,
          items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
        },
        level: { type: 'string', enum: ['low', 'high'] },
        flags: { type: 'object' },
      },
      required: ['mode', 'kind'],
    });
  });

  it('leaves them nearly as they are for the others', () => {
    const fitted = fitSchema(schema, 'plain');
    expect(fitted).not.toHaveProperty('$schema');
    expect(fitted).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['mode', 'kind'],
    });
    expect(JSON.stringify(fitted)).not.toContain('oneOf');
    expect(JSON.stringify(fitted)).not.toContain('9007199254740991');
  });

  it('makes an object of any root', () => {
    const branch = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'string' } },
    });
    expect(fitSchema({ anyOf: [branch('a'), branch('b')] }, 'plain')).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
    });
    expect(fitSchema({}, 'gemini')).toEqual({ type: 'object', properties: {} });
  });

  it('stays finite where references multiply', () => {
    const defs = Object.fromEntries(
      Array.from({ length: 20 }, (_, level) => [
        `d${level}`,
        {
          type: 'object',
          properties: {
            a: { $ref: `#/$defs/d${level + 1}` },
            b: { $ref: `#/$defs/d${level + 1}` },
          },
        },
      ]),
    );
    const bomb = {
      type: 'object',
      properties: { top: { $ref: '#/$defs/d0' } },
      $defs: { ...defs, d20: { type: 'string' } },
    };
    expect(JSON.stringify(fitSchema(bomb, 'gemini')).length).toBeLessThan(1_000_000);
  });

  const text = { type: 'string' } as const;
  const person = { type: 'object', properties: { name: text }, required: ['name'] };
  /** A schema with one property, as both dialects have that property. */
  const propertyOf = (property: unknown, rest: JsonSchema = {}) => {
    const schema = { type: 'object', properties: { p: property }, ...rest };
    const [plain, gemini] = dialects.map((dialect) => {
      const { properties } = fitSchema(schema, dialect);
      return z.object({ p: z.unknown() }).parse(properties).p;
    });
    return { plain, gemini };
  };

  it.each(dialects)('keeps all kinds of a union at the root (%s)', (dialect) => {
    const kind = (name: string, own: object) => ({
      type: 'object',
      properties: { kind: { type: 'string', const: name }, id: text, ...own },
      required: ['kind', 'id', ...Object.keys(own)],
      additionalProperties: false,
    });
    const union = { oneOf: [kind('a', { x: text }), kind('b', { y: { type: 'number' } })] };
    const properties = {
      kind: { type: 'string', enum: ['a', 'b'] },
      id: text,
      x: text,
      y: { type: 'number' },
    };
    const closed = dialect === 'plain' ? { additionalProperties: false } : {};
    const expected = { type: 'object', properties, required: ['kind', 'id'], ...closed };
    expect(fitSchema(union, dialect)).toEqual(expected);
    const zodUnion = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), x: z.string() }),
      z.object({ kind: z.literal(['b', 'c']), x: z.number() }),
    ]);
    expect(fitSchema(z.toJSONSchema(zodUnion, { io: 'input' }), dialect)).toEqual({
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['a', 'b', 'c'] },
        x: { anyOf: [text, { type: 'number' }] },
      },
      required: ['kind', 'x'],
    });
  });

  it.each(dialects)('joins unions in unions, references and what stands beside (%s)', (dialect) => {
    const schema = {
      $defs: { A: { anyOf: [person, { $ref: '#/$defs/B' }] }, B: { properties: { b: text } } },
      required: ['own'],
      properties: { own: text },
      anyOf: [{ $ref: '#/$defs/A' }, { required: ['own'] }, { type: 'null' }, { type: 'string' }],
    };
    expect(fitSchema(schema, dialect)).toEqual({
      type: 'object',
      properties: { own: text, name: text, b: text },
      required: ['own'],
    });
  });

  it.each(dialects)('joins all parts of the root (%s)', (dialect) => {
    const schema = {
      allOf: [{ $ref: '#/$defs/Person' }, { properties: { age: { type: 'integer' } } }],
      required: ['age'],
      $defs: { Person: person },
    };
    expect(fitSchema(schema, dialect)).toEqual({
      type: 'object',
      properties: { name: text, age: { type: 'integer' } },
      required: ['age', 'name'],
    });
    expect(fitSchema({ $ref: '#/definitions/P', definitions: { P: person } }, dialect)).toEqual(
      person,
    );
  });

  it('writes references and parts out everywhere (pydantic)', () => {
    const $defs = { Person: person, Level: { enum: [1, 2, 3], type: 'integer' } };
    const wrapped = { allOf: [{ $ref: '#/$defs/Person' }], description: 'Who' };
    const who = { ...person, description: 'Who' };
    expect(propertyOf(wrapped, { $defs })).toEqual({ plain: who, gemini: who });
    const beside = { $ref: '#/$defs/Level', description: 'How much.' };
    expect(propertyOf(beside, { $defs })).toEqual({
      plain: { type: 'integer', enum: [1, 2, 3], description: 'How much.' },
      gemini: {
        type: 'integer',
        minimum: 1,
        maximum: 3,
        description: 'How much. One of: 1, 2, 3',
      },
    });
    const map = { type: 'object', additionalProperties: { oneOf: [text, wrapped] } };
    expect(propertyOf(map, { $defs }).plain).toEqual({
      type: 'object',
      additionalProperties: { anyOf: [text, who] },
    });
    expect(propertyOf({ not: { oneOf: [text] } }).plain).toEqual({ not: { anyOf: [text] } });
  });

  it.each<[string, unknown, object]>([
    [
      'a nullable enum',
      { type: ['string', 'null'], enum: ['x', 'y', null] },
      { type: 'string', enum: ['x', 'y'] },
    ],
    [
      'whole numbers',
      { enum: [3, 1] },
      { type: 'integer', minimum: 1, maximum: 3, description: 'One of: 3, 1' },
    ],
    [
      'numbers',
      { enum: [1, 0.5] },
      { type: 'number', minimum: 0.5, maximum: 1, description: 'One of: 1, 0.5' },
    ],
    [
      'a number',
      { const: 2, description: 'Version' },
      { type: 'integer', minimum: 2, maximum: 2, description: 'Version. One of: 2' },
    ],
    ['a switch', { const: true }, { type: 'boolean', description: 'One of: true' }],
    ['an empty text', { enum: ['', 'a'] }, { type: 'string', description: 'One of: "", "a"' }],
    [
      'mixed values',
      { enum: ['auto', 1, null] },
      {
        anyOf: [
          { type: 'string', enum: ['auto'] },
          { type: 'integer', minimum: 1, maximum: 1, description: 'One of: 1' },
        ],
      },
    ],
    [
      'null in a union',
      { anyOf: [{ type: 'null' }, text], description: 'd' },
      { type: 'string', description: 'd' },
    ],
    ['null alone', { type: ['null'] }, { type: 'null' }],
    ['null alone in a union', { anyOf: [{ type: 'null' }] }, { type: 'null' }],
    ['null as a value', { const: null }, { type: 'null' }],
    [
      'several types',
      { type: ['object', 'string', 'null'], properties: { a: text }, required: ['a', 'b'] },
      { anyOf: [{ type: 'object', properties: { a: text }, required: ['a'] }, text] },
    ],
    [
      'names that are not there',
      { properties: { a: text }, required: ['z'] },
      { type: 'object', properties: { a: text } },
    ],
    [
      'a union of what is required',
      { properties: { a: text, b: text }, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { type: 'object', properties: { a: text, b: text } },
    ],
    ['large letters', { type: 'STRING' }, text],
    ['a type that is none', { type: 'any', description: 'd' }, { description: 'd' }],
    ['anything', true, {}],
    [
      'a tuple',
      { prefixItems: [text, { const: 1 }], items: false },
      {
        type: 'array',
        items: {
          anyOf: [text, { type: 'integer', minimum: 1, maximum: 1, description: 'One of: 1' }],
        },
      },
    ],
    ['an old tuple', { type: 'array', items: [text] }, { type: 'array', items: text }],
    [
      'open bounds',
      { type: 'integer', exclusiveMinimum: 0, maximum: 9 },
      { type: 'integer', minimum: 1, maximum: 9 },
    ],
    [
      'old open bounds',
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      { type: 'integer', minimum: 0 },
    ],
  ])('keeps the shape of %s for Gemini', (_what, property, expected) => {
    expect(propertyOf(property).gemini).toEqual(expected);
  });

  it.each([
    '#/$defs/50%',
    '#/$defs/%E0%A4%A',
    '#/$defs/none',
    '#/properties/p/0/1',
    '#/__proto__/x',
    '#/constructor',
    'https://schemas.example/a.json',
    '',
    '#anchor',
  ])('survives the reference %j', (ref) => {
    const cut = { type: 'object', description: 'd' };
    const fitted = propertyOf({ $ref: ref, description: 'd' });
    expect(fitted).toEqual({ plain: cut, gemini: cut });
  });

  it('finds what is named by escapes', () => {
    const $defs = { 'a/b~c d': text, '50%': { type: 'integer' } };
    expect(propertyOf({ $ref: '#/$defs/a~1b~0c%20d' }, { $defs }).plain).toEqual(text);
    expect(propertyOf({ $ref: '#/$defs/50%' }, { $defs }).plain).toEqual({ type: 'integer' });
  });

  it.each(dialects)('cuts what goes round in circles (%s)', (dialect) => {
    const tree = {
      type: 'object',
      properties: { leaf: text, branches: { type: 'array', items: { $ref: '#' } } },
    };
    const cut = { ...tree.properties, branches: { type: 'array', items: { type: 'object' } } };
    const branches = { type: 'array', items: { type: 'object', properties: cut } };
    expect(fitSchema(tree, dialect)).toEqual({
      type: 'object',
      properties: { leaf: text, branches },
    });
    const $defs = { A: { $ref: '#/$defs/B' }, B: { allOf: [{ $ref: '#/$defs/A' }] } };
    expect(fitSchema({ $ref: '#/$defs/A', $defs }, dialect)).toEqual({
      type: 'object',
      properties: {},
    });
  });

  it.each(dialects)('keeps every property when references multiply (%s)', (dialect) => {
    const names = Array.from({ length: 12 }, (_, place) => `n${place}`);
    const links = names.map((name) => [name, { $ref: `#/$defs/${name}` }]);
    const linked = { type: 'object', properties: Object.fromEntries(links) };
    const $defs = Object.fromEntries(names.map((name) => [name, linked]));
    const properties = { ...Object.fromEntries(links), last: text };
    const fitted = fitSchema({ type: 'object', properties, $defs }, dialect);
    expect(Object.keys(recordOf(fitted['properties']))).toEqual([...names, 'last']);
    expect(fitted).toHaveProperty('properties.last', text);
    expect(fitted).toHaveProperty('properties.n11.properties.n0');
  });

  const nested = (levels: number, wrap: (inner: unknown) => unknown): unknown => {
    let node: unknown = text;
    for (let level = 0; level < levels; level += 1) node = wrap(node);
    return node;
  };

  it.each<[string, (inner: unknown) => unknown]>([
    ['properties', (inner) => ({ type: 'object', properties: { a: inner } })],
    ['unions', (inner) => ({ anyOf: [inner, text] })],
    ['parts', (inner) => ({ allOf: [inner] })],
    ['lists', (inner) => ({ items: inner })],
    ['examples', (inner) => ({ default: inner })],
    ['plain lists', (inner) => [inner]],
  ])('survives 20,000 levels of %s', (_what, wrap) => {
    const { plain, gemini } = propertyOf({ anything: nested(20_000, wrap), ...text });
    expect([plain, gemini]).toEqual([{ ...text }, { ...text }]);
    const deep = propertyOf(nested(20_000, wrap));
    expect(JSON.stringify(deep).length).toBeLessThan(10_000);
  });

  it('stays small where long texts multiply', () => {
    const $defs = { Long: { type: 'string', description: 'x'.repeat(100_000), default: 'y' } };
    const many = Array.from({ length: 4_000 }, (_, place) => [
      `p${place}`,
      { $ref: '#/$defs/Long' },
    ]);
    const schema = { type: 'object', properties: Object.fromEntries(many), $defs };
    for (const dialect of dialects) {
      expect(JSON.stringify(fitSchema(schema, dialect)).length).toBeLessThan(400_000);
    }
  });

  /** Words of schemas in places that are right, and in places that are not. */
  const schemas = fc.letrec<{ node: unknown; some: unknown }>((tie) => {
    const name = fc.constantFrom('a', 'b', 'type', '$ref', '__proto__', 'constructor');
    const map = fc.dictionary(name, tie('node'), { maxKeys: 2 });
    const list = fc.array(tie('node'), { maxLength: 2 });
    const types = fc.constantFrom('string', 'integer', 'number', 'object', 'array', 'null', 'odd');
    const value = fc.constantFrom('a', '', 'b', 1, 2.5, true, null, 'x');
    const any = fc.jsonValue({ maxDepth: 2 });
    const or = <T>(good: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: any });
    const node = fc.record(
      {
        type: or(fc.oneof(types, fc.array(types, { maxLength: 3 }))),
        properties: or(map),
        required: or(fc.array(name, { maxLength: 3 })),
        items: or(fc.oneof(tie('node'), list)),
        prefixItems: or(list),
        anyOf: or(list),
        oneOf: or(list),
        allOf: or(list),
        not: or(tie('node')),
        additionalProperties: or(fc.oneof(fc.boolean(), tie('node'))),
        enum: or(fc.array(value, { maxLength: 3 })),
        const: or(value),
        minimum: or(fc.integer()),
        exclusiveMaximum: or(fc.integer()),
        description: or(fc.string()),
        default: any,
        $defs: or(map),
        $ref: or(
          fc.constantFrom(
            '#',
            '#/$defs/a',
            '#/$defs/b',
            '#/properties/a',
            '#/allOf/0',
            '#/$defs/%',
          ),
        ),
      },
      { requiredKeys: [] },
    );
    return {
      node: fc.oneof({ maxDepth: 2, depthIdentifier: 'node' }, any, node, node),
      some: node,
    };
  });

  const words = new Set(
    'type format title description enum items minItems maxItems minimum maximum anyOf properties required'.split(
      ' ',
    ),
  );
  const listOf = (value: unknown): readonly unknown[] =>
    z.array(z.unknown()).catch([]).parse(value);

  /** What Gemini would not take, anywhere in the schema. */
  const oddIn = (node: unknown): readonly string[] => {
    const schema = recordOf(node);
    const { type, enum: values, anyOf, properties = {}, required, items } = schema;
    const names = Object.keys(recordOf(properties));
    const below = [...listOf(anyOf), ...Object.values(recordOf(properties))];
    return [
      ...Object.keys(schema).filter((word) => !words.has(word)),
      ...(Array.isArray(type) ? ['types'] : []),
      ...(values !== undefined && type !== 'string' ? ['values'] : []),
      ...(anyOf !== undefined && listOf(anyOf).length === 0 ? ['no branch'] : []),
      ...listOf(required).flatMap((name) => (names.some((one) => one === name) ? [] : ['missing'])),
      ...(items === undefined ? below : [...below, items]).flatMap(oddIn),
    ];
  };

  const unions = ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref', '$defs'];

  it('takes anything, and gives what each API takes', () => {
    const foreign = fc.oneof(schemas.some, fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(foreign.map(recordOf), fc.constantFrom(...dialects), (schema, dialect) => {
        const before = JSON.stringify(schema);
        const fitted = fitSchema(schema, dialect);
        expect(fitted).toMatchObject({ type: 'object', properties: {} });
        expect(Object.keys(fitted).filter((word) => unions.includes(word))).toEqual([]);
        expect(JSON.stringify(fitted).length).toBeLessThan(400_000);
        expect(oddIn(fitSchema(fitted, 'gemini'))).toEqual([]);
        // What comes out is taken as it is, and what went in is left as it was.
        expect(fitSchema(fitted, dialect)).toEqual(fitted);
        expect(JSON.stringify(schema)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});

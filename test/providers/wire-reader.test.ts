/** Reading by a schema the quick way gives what zod gives, for plain values and for odd ones. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createWireReader } from '../../src/providers/wire-reader.ts';

const text = z.string().nullish().catch(null);
const schema = z.looseObject({
  type: z.string(),
  index: z.number().optional(),
  isLast: z.boolean().nullish(),
  delta: z.looseObject({ text, count: z.number().nullish().catch(null) }).optional(),
  parts: z
    .array(z.looseObject({ text, input: z.unknown().optional() }))
    .nullish()
    .catch(null),
  error: z.unknown().optional(),
});
const read = createWireReader(schema);

const plain = {
  type: 'a',
  index: 1,
  isLast: null,
  delta: { text: 'x', count: 2, more: [1] },
  parts: [{ text: null, input: { a: 1 } }, {}],
  unknown: { kept: true },
};

describe('createWireReader', () => {
  it('takes a value without faults as it is', () => {
    expect(read(plain)).toBe(plain);
    expect(read(plain)).toEqual(schema.parse(plain));
  });

  it.each<[string, unknown, object]>([
    ['a field of the wrong type', { type: 'a', delta: { text: 7 } }, { delta: { text: null } }],
    ['a list that is none', { type: 'a', parts: 'x' }, { parts: null }],
    ['an odd element of a list', { type: 'a', parts: [{ text: 1 }] }, { parts: [{ text: null }] }],
  ])('mends %s as zod does', (_what, value, mended) => {
    expect(read(value)).toMatchObject({ type: 'a', ...mended });
    expect(read(value)).toEqual(schema.parse(value));
  });

  it.each([
    [undefined],
    [null],
    ['x'],
    [7],
    [[]],
    [{}],
    [{ type: 1 }],
    [{ type: 'a', index: 'x' }],
  ])('gives nothing for %j, as zod does', (value) => {
    expect(schema.safeParse(value).success).toBe(false);
    expect(read(value)).toBeUndefined();
  });

  it.each([
    ['{"type":"a","__proto__":{"index":1}}'],
    ['{"type":"a","delta":{"text":"x","__proto__":1}}'],
    ['{"type":"a","parts":[{"__proto__":null}]}'],
  ])('drops the key __proto__ of %s, as zod does', (json) => {
    const value: unknown = JSON.parse(json);
    expect(JSON.stringify(read(value))).not.toContain('__proto__');
    expect(read(value)).toEqual(schema.parse(value));
  });

  it('gives what zod gives, whatever comes', () => {
    const odd = fc.oneof(fc.jsonValue(), fc.string(), fc.double(), fc.constant(undefined));
    const field = fc.oneof(
      { weight: 3, arbitrary: fc.constant('x') },
      { weight: 1, arbitrary: odd },
    );
    const some = fc.record(
      {
        type: field,
        index: fc.oneof(fc.integer(), odd),
        isLast: fc.oneof(fc.boolean(), odd),
        delta: fc.oneof(fc.record({ text: field, count: odd }, { requiredKeys: [] }), odd),
        parts: fc.oneof(fc.array(fc.record({ text: field, input: odd })), odd),
        error: odd,
        other: odd,
      },
      { requiredKeys: [] },
    );
    let plainOnes = 0;
    fc.assert(
      fc.property(some, (value) => {
        const found = read(value);
        if (found === value) plainOnes += 1;
        expect(found).toEqual(schema.safeParse(value).data);
      }),
      { numRuns: 2_000 },
    );
    expect(plainOnes).toBeGreaterThan(100);
  });

  it('leaves to zod what changes a value or says more than a type', () => {
    const changing = z.looseObject({ text: z.string().transform((value) => value.length) });
    expect(createWireReader(changing)({ text: 'abc' })).toEqual({ text: 3 });
    const bounded = z.looseObject({ text: z.string().max(2) });
    expect(createWireReader(bounded)({ text: 'abc' })).toBeUndefined();
    const whole = z.looseObject({ count: z.int() });
    expect(createWireReader(whole)({ count: 1.5 })).toBeUndefined();
    const address = z.looseObject({ url: z.url() });
    expect(createWireReader(address)({ url: 'nowhere' })).toBeUndefined();
    const defaulted = z.looseObject({ text: z.string().default('x') });
    expect(createWireReader(defaulted)({})).toEqual({ text: 'x' });
    const stripping = z.object({ text: z.string() });
    expect(createWireReader(stripping)({ text: 'a', more: 1 })).toEqual({ text: 'a' });
  });
});

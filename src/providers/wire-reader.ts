/**
 * Reads wire values by a schema, quickly where there is nothing to mend. Events come by the
 * thousand, and nearly all have exactly the types that their schema names: those are taken as they
 * are, after a check that is made of the schema once. Only what is odd goes through zod itself, which
 * then leaves out or replaces what is wrong.
 */

import { z } from 'zod';

/** Would zod give the value back as it is? False also means: not known. */
type Check = (value: unknown) => boolean;

/** Gives the value as the schema has it; undefined when it does not fit at all. */
export function createWireReader<Schema extends z.ZodType>(
  schema: Schema,
): (value: unknown) => z.output<Schema> | undefined {
  const check = checkOf(schema);
  const isPlain = (value: unknown): value is z.output<Schema> => check(value);
  return (value) => (isPlain(value) ? value : schema.safeParse(value).data);
}

const never: Check = () => false;

function checkOf(schema: unknown): Check {
  // Lengths, formats and the like are left to zod, and so is all that changes a value.
  if (!(schema instanceof z.ZodType) || 'format' in schema.def) return never;
  if ((schema.def.checks ?? []).length > 0) return never;
  if (schema instanceof z.ZodUnknown) return () => true;
  if (schema instanceof z.ZodString) return (value) => typeof value === 'string';
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === 'boolean';
  if (schema instanceof z.ZodNumber) return (value) => Number.isFinite(value);
  if (schema instanceof z.ZodOptional) return orElse(checkOf(schema.def.innerType), undefined);
  if (schema instanceof z.ZodNullable) return orElse(checkOf(schema.def.innerType), null);
  if (schema instanceof z.ZodCatch) return checkOf(schema.def.innerType);
  if (schema instanceof z.ZodArray) return arrayCheck(checkOf(schema.def.element));
  if (schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodUnknown) {
    return objectCheck(schema.def.shape);
  }
  return never;
}

interface Field {
  readonly check: Check;
  /** A value of this type passes without a closer look. */
  readonly plainType: 'string' | 'boolean' | undefined;
}

function fieldOf(schema: unknown): Field {
  const check = checkOf(schema);
  const plainType = (['string', 'boolean'] as const).find((type) => check(samples[type]));
  return { check, plainType };
}

const samples = { string: 'a', boolean: true } as const;

function orElse(check: Check, absent: null | undefined): Check {
  return (value) => value === absent || check(value);
}

function arrayCheck(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

function objectCheck(shape: Readonly<Record<string, unknown>>): Check {
  const fields = new Map(Object.entries(shape).map(([key, schema]) => [key, fieldOf(schema)]));
  // What may be absent is asked once, so that only keys that are there cost anything.
  const needed = [...fields].flatMap(([key, { check }]) => (check(undefined) ? [] : [key]));
  return (value) => {
    if (!isRecord(value)) return false;
    for (const key in value) {
      const field = fields.get(key);
      // zod drops this key: whoever copies the value later must not set a prototype by it.
      if (key === '__proto__') return false;
      if (field === undefined) continue;
      const one = value[key];
      if (typeof one !== field.plainType && !field.check(one)) return false;
    }
    for (const key of needed) if (value[key] === undefined) return false;
    return true;
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

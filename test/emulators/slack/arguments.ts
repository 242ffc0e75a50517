/** Arguments of the Web API methods, as they arrive: forms whose lists and objects are JSON texts. */

import { z } from 'zod';
import { Refusal } from './blocks.ts';
import type { Json } from './model.ts';

export const json = <Value>(inner: z.ZodType<Value>): z.ZodType<Value | undefined> =>
  z
    .preprocess((value) => {
      if (typeof value !== 'string') return value;
      try {
        const parsed: unknown = JSON.parse(value);
        return parsed;
      } catch {
        return value;
      }
    }, inner.optional())
    .transform((value) => value);

export function method<Args>(
  schema: z.ZodType<Args>,
  run: (args: Args) => Json,
): (args: unknown) => Json {
  return (raw) => {
    const parsed = schema.safeParse(raw);
    if (!parsed.success) throw new Refusal('invalid_arguments');
    return run(parsed.data);
  };
}

/** Reads the case files in test/cases. */

import { readFileSync } from 'node:fs';
import { z } from 'zod';

const caseSchema = z.looseObject({ input: z.unknown(), expected: z.unknown() });

/** The `input` and `expected` of a case, each checked by its schema. */
export function readCase<I extends z.ZodType, E extends z.ZodType>(
  id: string,
  input: I,
  expected: E,
): { readonly input: z.infer<I>; readonly expected: z.infer<E> } {
  const file = new URL(`../cases/${id}.json`, import.meta.url);
  const whole = caseSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return { input: input.parse(whole.input), expected: expected.parse(whole.expected) };
}

/**
 * Reading stored values by schema. An unreadable value is set aside under `aside:<key>` and
 * reported; it is never silently dropped and never ends the process.
 */

import type { z } from 'zod';
import type { Log } from '../base/log.ts';
import type { Store } from './store.ts';

/** The value, or undefined when it is absent or was set aside. */
export async function readValidated<T>(
  deps: { readonly store: Store; readonly log: Log },
  key: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  const value = await deps.store.get(key);
  return validate(deps, key, value, schema);
}

/** Like readValidated, for a value that was read already (getMany). */
export async function validate<T>(
  deps: { readonly store: Store; readonly log: Log },
  key: string,
  value: unknown,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  if (value === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  await deps.store.set(`aside:${key}`, value);
  await deps.store.delete(key);
  deps.log.error('store_value_set_aside', {
    key,
    problems: parsed.error.issues
      .slice(0, 5)
      .map((issue) => `${issue.path.join('.')}: ${issue.code}`),
  });
  return undefined;
}

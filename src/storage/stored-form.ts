/**
 * How a value lies in every backend: JSON text `{"expires":1700000000000,"value":…}`, `expires`
 * (milliseconds since the epoch, whole) first and only where the value has a limited life. The
 * claim scripts of Redis and PostgreSQL read that beginning, so it must not change.
 */

import { z } from 'zod';
import { BotError } from '../base/errors.ts';

const storedFormSchema = z.object({
  expires: z.number().optional(),
  value: z.unknown().optional(),
});

export function storedFormOf(value: unknown, expiresMs?: number): string {
  try {
    return JSON.stringify(expiresMs === undefined ? { value } : { expires: expiresMs, value });
  } catch (cause) {
    throw new BotError('internal', 'A value of the store has no form in JSON.', { cause });
  }
}

/**
 * The value in its wrapping; undefined when it has expired. Text that is not in the stored form
 * (a damaged value) comes back as `{ unreadable: text }`: no schema of a reader accepts that, so it
 * is set aside with all its bytes instead of failing every read.
 */
export function parseStoredForm(
  text: string,
  nowMs: number,
): { readonly value: unknown } | undefined {
  const parsed = storedFormSchema.safeParse(jsonOf(text));
  if (!parsed.success) return { value: { unreadable: text } };
  const { expires, value } = parsed.data;
  return expires !== undefined && expires <= nowMs ? undefined : { value };
}

function jsonOf(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return json;
  } catch {
    // Not JSON: undefined is not the stored form either, and the caller keeps the text.
    return undefined;
  }
}

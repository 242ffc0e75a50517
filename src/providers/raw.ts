/** Making and reading vendor data that rides on parts. */

import { z } from 'zod';
import { type Origin, type Raw, rawSchema } from '../messages/parts.ts';

/** Vendor data with its origin; anything that JSON cannot hold is left out. */
export function rawOf(origin: Origin, data: unknown): Raw {
  return { origin, data: rawSchema.shape.data.parse(JSON.parse(JSON.stringify(data))) };
}

const fieldsSchema = z.record(z.string(), z.unknown());

/** The fields of vendor data; empty when it is no object. */
export function fieldsOf(raw: Raw | undefined): Readonly<Record<string, unknown>> {
  return fieldsSchema.safeParse(raw?.data).data ?? {};
}

/** A text field of vendor data. */
export function textField(raw: Raw | undefined, name: string): string | undefined {
  const value = fieldsOf(raw)[name];
  return typeof value === 'string' ? value : undefined;
}

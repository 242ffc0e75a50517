/** Reads public bug reports in test/cases as typed data. */

import { readFileSync } from 'node:fs';
import type { z } from 'zod';

export function readCase<Case>(id: string, schema: z.ZodType<Case>): Case {
  const file = new URL(`../../cases/${id}.json`, import.meta.url);
  return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
}

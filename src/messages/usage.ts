/** Token usage, normalised over providers; the five counts of tokens do not overlap. */

import { z } from 'zod';

export const usageSchema = z.object({
  /** Prompt tokens that were neither read from nor written to a cache. */
  input: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  /** Written tokens without reasoning. */
  output: z.number(),
  reasoning: z.number(),
  /** What the provider itself says that it costs (OpenRouter), in US dollars. */
  reportedUsd: z.number().exactOptional(),
});
export type Usage = Readonly<z.infer<typeof usageSchema>>;

export const noUsage: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

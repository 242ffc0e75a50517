/** What the search thread is asked, and what it answers. */

import { z } from 'zod';

const placeSchema = z.object({
  /** Absolute path of the host, links followed; below `root`. */
  real: z.string(),
  shown: z.string(),
  canonical: z.string(),
  root: z.string(),
});

const globTaskSchema = z.object({
  kind: z.literal('glob'),
  place: placeSchema,
  pattern: z.string(),
  includeIgnored: z.boolean(),
});
export type GlobTask = Readonly<z.infer<typeof globTaskSchema>>;

const grepTaskSchema = z.object({
  kind: z.literal('grep'),
  place: placeSchema,
  pattern: z.string(),
  ignoreCase: z.boolean(),
  /** Only files whose path below the place matches. */
  glob: z.string().optional(),
  mode: z.enum(['content', 'files', 'count']),
  /** Lines of context. */
  before: z.number(),
  after: z.number(),
  includeIgnored: z.boolean(),
});
export type GrepTask = Readonly<z.infer<typeof grepTaskSchema>>;

export const searchTaskSchema = z.discriminatedUnion('kind', [globTaskSchema, grepTaskSchema]);
export type SearchTask = Readonly<z.infer<typeof searchTaskSchema>>;

/** A result or an expected failure, as text for the model. */
export const searchAnswerSchema = z.object({ kind: z.enum(['done', 'error']), text: z.string() });
export type SearchAnswer = Readonly<z.infer<typeof searchAnswerSchema>>;

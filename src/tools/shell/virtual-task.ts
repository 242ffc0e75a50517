/** What the virtual shell and its thread tell one another. */

import { z } from 'zod';

export const virtualTaskSchema = z.object({
  command: z.string(),
  folder: z.string(),
  mounts: z.array(z.object({ name: z.string(), folder: z.string() })),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  timeoutMs: z.number(),
  mostMemoryMb: z.number(),
  mostFileMb: z.number(),
  /** Origins, like https://api.example.com. Empty: no network, and no curl. */
  origins: z.array(z.string()),
});
export type VirtualTask = z.infer<typeof virtualTaskSchema>;

export const virtualAnswerSchema = z.object({
  output: z.string(),
  isCut: z.boolean(),
  exitCode: z.number(),
  /** Undefined where the command did not run to its end. */
  session: z
    .object({ cwd: z.string(), exported: z.array(z.tuple([z.string(), z.string()])) })
    .optional(),
  isFolderLost: z.boolean(),
});
export type VirtualAnswer = z.infer<typeof virtualAnswerSchema>;

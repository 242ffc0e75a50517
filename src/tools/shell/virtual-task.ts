/** What the virtual shell and its thread tell one another. */

import { z } from 'zod';

export interface VirtualTask {
  readonly command: string;
  readonly folder: string;
  readonly mounts: readonly { readonly name: string; readonly folder: string }[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly mostMemoryMb: number;
  readonly mostFileMb: number;
  /** Origins, like https://api.example.com. Empty: no network, and no curl. */
  readonly origins: readonly string[];
}

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

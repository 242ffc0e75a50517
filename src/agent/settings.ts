/** Settings of the loop. */

import { z } from 'zod';

export const agentSettings = z.strictObject({
  /** Seconds a single tool call may take. */
  toolTimeoutSeconds: z.int().min(1).max(3600).default(120),
  /** Tool calls of one step that may run at the same time. */
  toolsAtOnce: z.int().min(1).max(64).default(8),
});
export type AgentSettings = Readonly<z.infer<typeof agentSettings>>;

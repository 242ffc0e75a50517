/** Settings of the loop. */

import { z } from 'zod';

export const agentSettings = z.strictObject({
  /** Seconds a single tool call may take. */
  toolTimeoutSeconds: z.int().min(1).max(3600).default(120),
});
export type AgentSettings = Readonly<z.infer<typeof agentSettings>>;

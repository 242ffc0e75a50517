/** Settings of the Slack adapter. Secrets come from the environment through the configuration. */

import { z } from 'zod';

export const slackSettingsSchema = z.strictObject({
  /** False switches the platform off although tokens are set. */
  enabled: z.boolean().exactOptional(),
  /** Bot token, `xoxb-…`. */
  botToken: z.string().min(1).exactOptional(),
  /** App-level token, `xapp-…` with connections:write: events arrive over Socket Mode. */
  appToken: z.string().min(1).exactOptional(),
  /** Signing secret: events arrive as signed requests at POST /slack/events. */
  signingSecret: z.string().min(1).exactOptional(),
  /** Base of the Web API; ends in `/api/`. Default https://slack.com/api/ */
  apiUrl: z
    .url()
    .refine((url) => url.endsWith('/api/'), 'must end in /api/')
    .exactOptional(),
  /** How answers grow. auto: by Slack's own streaming where the workspace has it, else by edits ·
   * native: by Slack's own streaming, tried for each answer · edit: by edits. Default: auto. */
  streaming: z.enum(['auto', 'native', 'edit']).exactOptional(),
});

export type SlackSettings = Readonly<z.infer<typeof slackSettingsSchema>>;

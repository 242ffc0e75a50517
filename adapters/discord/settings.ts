/** Settings of the Discord adapter. The token comes from the environment through the configuration. */

import { z } from 'zod';

export const discordSettingsSchema = z.strictObject({
  /** False switches the platform off although a token is set. */
  enabled: z.boolean().exactOptional(),
  /** Bot token. */
  token: z.string().min(1).exactOptional(),
  /** REST base without a version, like https://discord.com/api; the gateway address comes from it. */
  apiUrl: z.url().exactOptional(),
});

export type DiscordSettings = Readonly<z.infer<typeof discordSettingsSchema>>;

/** Settings of the model providers. All are optional: without a key the rehearsal model answers. */

import { z } from 'zod';

const keyed = z.strictObject({
  apiKey: z.string().min(1).exactOptional(),
  /** Base address of the API; the vendor's own by default. */
  baseUrl: z.url().exactOptional(),
});

export const providerSettingsSchema = z.strictObject({
  /** `provider/model`: `anthropic/claude-sonnet-5-5`. Default: the first provider with a key. */
  model: z.string().min(1).exactOptional(),
  anthropic: keyed.exactOptional(),
  openai: keyed.exactOptional(),
  gemini: keyed.exactOptional(),
  /** Any server that speaks Chat Completions. */
  compatible: keyed.exactOptional(),
});

export type ProviderSettings = Readonly<z.infer<typeof providerSettingsSchema>>;

/**
 * Settings of the model providers, and the shape of a catalog entry. All are optional: without a
 * key the rehearsal model answers.
 */

import { z } from 'zod';
import { abilitiesSchema } from '../messages/model.ts';

const keyed = z.strictObject({
  apiKey: z.string().min(1).exactOptional(),
  /** Base address of the API; the vendor's own by default. */
  baseUrl: z.url().exactOptional(),
  /** Sent with each request; a gateway's own key header, for example. */
  headers: z.record(z.string(), z.string()).exactOptional(),
});

/** A server with a name of its own: `acme` makes `acme/<model>`. */
export const namedProviderSchema = z.strictObject({
  ...keyed.shape,
  /** What it speaks. Default: chat, which is Chat Completions. */
  speaks: z.enum(['chat', 'anthropic', 'responses']).default('chat'),
  /** Whose rules it follows, one of the profiles: deepseek, ollama … Default: by its name, else by
   * its address, else the plain rules. */
  profile: z.string().exactOptional(),
});
export type NamedProviderSettings = Readonly<z.infer<typeof namedProviderSchema>>;

const modelName = z.string().min(1);

export const providerSettingsSchema = z.strictObject({
  /** `provider/model`: `anthropic/claude-sonnet-5-5`. Default: the first provider with a key. */
  model: modelName.exactOptional(),
  anthropic: keyed.exactOptional(),
  openai: keyed.exactOptional(),
  gemini: keyed.exactOptional(),
  /** Any server that speaks Chat Completions. */
  compatible: keyed.exactOptional(),
  /** Models that take over, in order, when the chosen one fails before anything was shown. Default:
   * off. */
  fallback: z
    .union([z.literal('off'), z.array(modelName).readonly()], 'must be off, or a list of models')
    .exactOptional(),
  /** The longest wait that a provider may ask for before its failure counts as final. Default: 300. */
  mostWaitSeconds: z.int().min(0).max(3600).exactOptional(),
  /** Who may choose a model, or how hard it thinks, for a conversation. Default: everybody. */
  choice: z.enum(['everybody', 'admins']).exactOptional(),
  /** Which models may be chosen, with * as a wildcard. Default: all that can be used. */
  offered: z.array(modelName).readonly().exactOptional(),
  /** Servers by name; the known ones (deepseek, xai, qwen …) need a key only. */
  providers: z
    .record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/u), namedProviderSchema)
    .exactOptional(),
});
export type ProviderSettings = Readonly<z.infer<typeof providerSettingsSchema>>;

const usdPerMillion = z.number().min(0).exactOptional();
const day = z.iso.date();

const rates = {
  input: usdPerMillion,
  cacheRead: usdPerMillion,
  cacheWrite: usdPerMillion,
  output: usdPerMillion,
};

/** US dollars per million tokens; what is left out is unknown, and so is the cost of its use. */
export const pricesSchema = z.strictObject({
  ...rates,
  /**
   * Where longer prompts are dearer: a request with more tokens of prompt than this, cached ones
   * counted, costs these rates for all its tokens.
   */
  longPrompt: z.strictObject({ aboveTokens: z.int().min(1), ...rates }).exactOptional(),
  /** The day on which they were looked up. */
  date: day,
});
export type Prices = Readonly<z.infer<typeof pricesSchema>>;

export const modelEntrySchema = z.strictObject({
  /** The vendor's id, without the provider. */
  id: z.string().min(1),
  /** The word before the slash. */
  provider: z.string().min(1),
  /** Short names that people may write in its place. */
  aliases: z.array(z.string().min(1)).readonly().default([]),
  /** Tokens of prompt and answer together. */
  window: z.int().min(1),
  /** Most tokens of one answer. */
  mostOutputTokens: z.int().min(1),
  abilities: abilitiesSchema,
  prices: pricesSchema.exactOptional(),
  /** The day on which the entry was checked. */
  date: day,
});
export type ModelEntry = Readonly<z.infer<typeof modelEntrySchema>>;

/** The catalog, `config/models.yaml`. */
export const catalogSchema = z.strictObject({ models: z.array(modelEntrySchema).readonly() });

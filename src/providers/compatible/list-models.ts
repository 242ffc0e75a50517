/** `GET {base}/models`: ids everywhere, and what OpenRouter, Mistral and vLLM tell besides. */

import { z } from 'zod';
import type { Abilities } from '../../messages/model.ts';
import type { ListedModel } from '../catalog.ts';
import type { Prices } from '../settings.ts';

const count = z.number().nullish().catch(null);
const texts = z.array(z.string()).nullish().catch(null);
const price = z
  .union([z.string(), z.number()])
  .nullish()
  .catch(null)
  .transform((value) => (value == null ? undefined : Number(value)));

const modelSchema = z.looseObject({
  id: z.string(),
  context_length: count,
  max_model_len: count,
  max_context_length: count,
  top_provider: z.looseObject({ max_completion_tokens: count }).nullish().catch(null),
  supported_parameters: texts,
  architecture: z.looseObject({ input_modalities: texts }).nullish().catch(null),
  pricing: z
    .looseObject({
      prompt: price,
      completion: price,
      input_cache_read: price,
      input_cache_write: price,
    })
    .nullish()
    .catch(null),
  capabilities: z
    .looseObject({ function_calling: z.boolean(), vision: z.boolean() })
    .nullish()
    .catch(null),
});
type WireModel = z.infer<typeof modelSchema>;

const listSchema = z.union([z.looseObject({ data: z.array(z.unknown()) }), z.array(z.unknown())]);

/** `date`: today, for prices. Throws when the answer is no list. */
export function listedModels(answer: unknown, date: string): readonly ListedModel[] {
  const list = listSchema.parse(answer);
  return ('data' in list ? list.data : list).flatMap((entry) => {
    const { data: model } = modelSchema.safeParse(entry);
    return model === undefined ? [] : [listedModel(model, date)];
  });
}

function listedModel(model: WireModel, date: string): ListedModel {
  const window = model.context_length ?? model.max_model_len ?? model.max_context_length;
  const most = model.top_provider?.max_completion_tokens;
  const prices = pricesOf(model, date);
  const abilities = abilitiesOf(model);
  return {
    id: model.id,
    ...(window ? { window } : {}),
    ...(most ? { mostOutputTokens: most } : {}),
    ...(abilities === undefined ? {} : { abilities }),
    ...(prices === undefined ? {} : { prices }),
  };
}

function abilitiesOf(model: WireModel): Partial<Abilities> | undefined {
  const { supported_parameters: parameters, capabilities } = model;
  if (capabilities) return { tools: capabilities.function_calling, images: capabilities.vision };
  if (!parameters) return undefined;
  const sees = (kind: string): boolean =>
    model.architecture?.input_modalities?.includes(kind) ?? false;
  const thinks = parameters.includes('reasoning');
  return {
    tools: parameters.includes('tools'),
    images: sees('image'),
    documents: sees('file'),
    verbosity: parameters.includes('verbosity'),
    // The server's search is a tool that its models call.
    webSearch: parameters.includes('tools'),
    summary: thinks,
    // OpenRouter takes these of every model that thinks, and fits them to it.
    thinking: thinks ? ['effort'] : [],
    efforts: thinks ? ['low', 'medium', 'high'] : [],
  };
}

/** Prices per token become prices per million; -1 stands for "it depends". */
function pricesOf({ pricing }: WireModel, date: string): Prices | undefined {
  if (!pricing) return undefined;
  const perMillion = (perToken: number | undefined): number | undefined =>
    perToken !== undefined && perToken >= 0 ? Math.round(perToken * 1e6 * 1e6) / 1e6 : undefined;
  const input = perMillion(pricing.prompt);
  const output = perMillion(pricing.completion);
  if (input === undefined || output === undefined) return undefined;
  const cacheRead = perMillion(pricing.input_cache_read);
  const cacheWrite = perMillion(pricing.input_cache_write);
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    date,
  };
}

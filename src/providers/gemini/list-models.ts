/** `GET /v1beta/models`: limits and whether a model thinks. */

import { z } from 'zod';
import type { Wire } from '../call.ts';
import type { ListedModel } from '../catalog.ts';

const count = z.number().nullish().catch(null);
const modelSchema = z.looseObject({
  name: z.string(),
  inputTokenLimit: count,
  outputTokenLimit: count,
  supportedGenerationMethods: z.array(z.string()).nullish().catch(null),
  thinking: z.boolean().nullish().catch(null),
});
const pageSchema = z.looseObject({
  models: z.array(z.unknown()),
  nextPageToken: z.string().nullish().catch(null),
});

const mostPages = 20;

/** All models that answer generateContent, page by page; `url` is the list's address. */
export async function* geminiModels(
  { fetch, signal }: Wire,
  url: string,
): AsyncGenerator<ListedModel, void> {
  let token = '';
  for (let page = 0; page < mostPages; page += 1) {
    const more = token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const response = await fetch(`${url}?pageSize=1000${more}`, { signal });
    const answer = pageSchema.parse(await response.json());
    yield* answer.models.flatMap(listedModel);
    token = answer.nextPageToken ?? '';
    if (token === '') return;
  }
}

function listedModel(entry: unknown): readonly ListedModel[] {
  const { data: model } = modelSchema.safeParse(entry);
  const methods = model?.supportedGenerationMethods;
  if (model === undefined || methods?.includes('generateContent') === false) return [];
  return [
    {
      id: model.name.replace(/^models\//u, ''),
      ...(model.inputTokenLimit ? { window: model.inputTokenLimit } : {}),
      ...(model.outputTokenLimit ? { mostOutputTokens: model.outputTokenLimit } : {}),
      // How its thinking is steered is not told.
      ...(model.thinking === true ? { abilities: { summary: true } } : {}),
    },
  ];
}

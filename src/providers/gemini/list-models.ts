/** `GET /v1beta/models`: limits and whether a model thinks. */

import { z } from 'zod';
import type { CallDeps } from '../call.ts';
import type { ListedModel } from '../catalog.ts';
import { connectionLost } from '../errors.ts';
import { fetchList, type ListCall } from '../listing.ts';

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

/** All models that answer generateContent; `call.url` is the list's address. */
export async function listGeminiModels(
  deps: CallDeps,
  call: ListCall,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const listed: ListedModel[] = [];
  let token = '';
  for (let page = 0; page < mostPages; page += 1) {
    const url = `${call.url}?pageSize=1000${token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`}`;
    const { data: answer } = pageSchema.safeParse(await fetchList(deps, { ...call, url }, signal));
    if (answer === undefined) {
      const { provider, endpoint } = call;
      const spoken = { provider, endpoint, model: 'its models' };
      throw connectionLost(spoken, 'answered with something else than a list of models.');
    }
    listed.push(...answer.models.flatMap(listedModel));
    token = answer.nextPageToken ?? '';
    if (token === '') break;
  }
  return listed;
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

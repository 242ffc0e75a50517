/** What Gemini refuses of a request's settings and tools, by the family of the model. */

import { type JsonObject, objectOf, objectsOf, stringOf, unknownField } from './wire.ts';

const knownFields = [
  'maxOutputTokens',
  'thinkingConfig',
  'imageConfig',
  'responseModalities',
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'presencePenalty',
  'frequencyPenalty',
];

export function settingsObjection(body: JsonObject, model: string): string | undefined {
  const config = objectOf(body['generationConfig']);
  const unknown = unknownField(config, knownFields);
  if (unknown !== undefined) return `Unknown name "${unknown}" at 'generation_config'`;
  return (
    thinkingObjection(objectOf(config['thinkingConfig']), model) ??
    toolObjection(body, model) ??
    mediaObjection(objectsOf(body['contents']), model) ??
    samplingObjection(config, model)
  );
}

const isBefore = (third: string): boolean => /^gemini-[12]\./u.test(third);
const isFourth = (model: string): boolean => /^gemini-4/u.test(model);

function thinkingObjection(config: JsonObject, model: string): string | undefined {
  const { thinkingLevel: level, thinkingBudget: budget, includeThoughts } = config;
  if (level !== undefined && budget !== undefined) {
    return 'You can only set only one of thinking budget and thinking level.';
  }
  if (level !== undefined && isBefore(model))
    return 'Thinking level is not supported for this model.';
  if (budget !== undefined && isFourth(model))
    return 'Thinking budget is not supported for this model.';
  if (budget === 0 && includeThoughts === true) {
    return 'Include thoughts is only enabled when thinking is enabled.';
  }
  if (budget === 0 && /pro/u.test(model))
    return 'Budget 0 is invalid. This model only works in thinking mode.';
  const levels = isFourth(model) ? ['LOW', 'MEDIUM', 'HIGH'] : ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
  if (model === 'gemini-4-neon') levels.push('XHIGH');
  return level === undefined || levels.includes(stringOf(level))
    ? undefined
    : `Thinking level ${stringOf(level)} is not supported for this model.`;
}

function toolObjection(body: JsonObject, model: string): string | undefined {
  const tools = objectsOf(body['tools']);
  const declared = tools.flatMap((tool) => objectsOf(tool['functionDeclarations']));
  const converted = declared.find((one) => 'parameters' in one);
  if (converted !== undefined) return `parameters of ${stringOf(converted['name'])}: unsupported`;
  const hasServerTools = tools.some((tool) => 'googleSearch' in tool || 'urlContext' in tool);
  const shows = objectOf(body['toolConfig'])['includeServerSideToolInvocations'] === true;
  if (!hasServerTools || declared.length === 0) {
    return shows ? 'includeServerSideToolInvocations needs a built-in tool' : undefined;
  }
  return isBefore(model) || !shows
    ? 'Built-in tools and Function Calling cannot be combined in the same request.'
    : undefined;
}

function mediaObjection(contents: readonly JsonObject[], model: string): string | undefined {
  const responses = contents.flatMap(({ parts }) =>
    objectsOf(parts).map((part) => objectOf(part['functionResponse'])),
  );
  return isBefore(model) && responses.some((response) => 'parts' in response)
    ? 'Multimodal function responses are not supported for this model.'
    : undefined;
}

function samplingObjection(config: JsonObject, model: string): string | undefined {
  const isPenal = 'presencePenalty' in config || 'frequencyPenalty' in config;
  return isFourth(model) && isPenal ? 'Penalties are not supported for this model.' : undefined;
}

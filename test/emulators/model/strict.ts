/**
 * Stands in front of the four wires and refuses, in their words, what the real APIs refuse whatever
 * the conversation is about: fields they do not know, thinking asked for in a way the model does not
 * take, thoughts that are missing, unsealed or put behind something else than they came from. How
 * messages must be built (calls and results, roles, ids, seals) each wire checks by itself, after it.
 */

import { createBoundThoughts } from './bound-thoughts.ts';
import { knownFields, knownGenerationFields } from './known-fields.ts';
import {
  type JsonObject,
  type ModelWire,
  objectOf,
  objectsOf,
  type SealBook,
  stringOf,
  unknownField,
} from './wire.ts';

export interface StrictChecker {
  /** What the real API would say against the request; undefined when it takes it. */
  objection(wire: ModelWire, body: JsonObject, path: string): string | undefined;
  /** Hears each text of the stream that answers a request. */
  listen(wire: ModelWire, body: JsonObject): (text: string) => void;
}

export function createStrictChecker(seals: SealBook): StrictChecker {
  const thoughts = createBoundThoughts();
  const ruleOf: Readonly<
    Record<ModelWire['name'], (body: JsonObject, path: string) => string | undefined>
  > = {
    anthropic: (body) =>
      anthropicThinking(body) ??
      cacheMarks(body) ??
      unsignedThought(body) ??
      thoughts.objection(body),
    openai: openaiParameters,
    // Each vendor has rules of its own there (chat-vendors.ts).
    compatible: () => undefined,
    gemini: geminiConfig,
  };
  return {
    objection: (wire, body, path) =>
      unknownFieldObjection(wire, body) ??
      ruleOf[wire.name](body, path) ??
      wire.objection(body, seals, path),
    listen: (wire, body) => {
      if (wire.name !== 'anthropic') return () => undefined;
      const hear = thoughts.listen(body);
      return (text) => {
        for (const [, data = ''] of text.matchAll(/^data: (.+)$/gmu)) {
          hear(objectOf(JSON.parse(data)));
        }
      };
    },
  };
}

function unknownFieldObjection({ name }: ModelWire, body: JsonObject): string | undefined {
  if (name === 'compatible') return undefined;
  const unknown = unknownField(body, knownFields[name]);
  if (unknown === undefined) return undefined;
  switch (name) {
    case 'anthropic':
      return `${unknown}: Extra inputs are not permitted`;
    case 'openai':
      return `Unknown parameter: '${unknown}'.`;
    case 'gemini':
      return `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`;
  }
}

/** Models of Anthropic, by what they take in `thinking.type`. */
const takesBudget = /^claude-(?:3|(?:opus|sonnet|haiku)-4-[0-6])/u;
const isAdaptive = /^claude-(?:(?:opus|sonnet)-4-[6-8]|[a-z]+-5)/u;
const alwaysThinks = /^claude-(?:opus-5-5|sonnet-5-5|fable-5-[12]|mythos-5)/u;
const restsOnlyBelowHigh = /^claude-(?:haiku-5-5|opus-5$)/u;

function anthropicThinking(body: JsonObject): string | undefined {
  const model = stringOf(body['model']);
  const { type, budget_tokens: budget } = objectOf(body['thinking']);
  const effort = stringOf(objectOf(body['output_config'])['effort']);
  const refused = `"thinking.type.${stringOf(type)}" is not supported for this model.`;
  if (!takesBudget.test(model) && !isAdaptive.test(model)) return undefined;
  switch (stringOf(type)) {
    case 'enabled':
      if (!takesBudget.test(model)) {
        return `${refused} Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
      }
      if (typeof budget !== 'number' || budget < 1024) {
        return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
      }
      return budget < Number(body['max_tokens'])
        ? undefined
        : '`max_tokens` must be greater than `thinking.budget_tokens`.';
    case 'adaptive':
      return isAdaptive.test(model) ? undefined : `${refused} Use "thinking.type.enabled".`;
    case 'disabled': {
      const isTooHigh = restsOnlyBelowHigh.test(model) && /^(?:xhigh|max)$/u.test(effort);
      return alwaysThinks.test(model) || isTooHigh
        ? `${refused} Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`
        : undefined;
    }
    default:
      return undefined;
  }
}

const mostCacheMarks = 4;

function cacheMarks(body: JsonObject): string | undefined {
  const { messages, system, tools } = body;
  const marks = JSON.stringify({ messages, system, tools }).split('"cache_control":{').length - 1;
  const all = marks + ('cache_control' in body ? 1 : 0);
  return all <= mostCacheMarks
    ? undefined
    : `A maximum of ${mostCacheMarks} blocks with cache_control may be provided. Found ${all}.`;
}

function unsignedThought(body: JsonObject): string | undefined {
  for (const [place, message] of objectsOf(body['messages']).entries()) {
    for (const [index, block] of objectsOf(message['content']).entries()) {
      if (block['type'] === 'thinking' && !block['signature']) {
        return `messages.${place}.content.${index}.thinking.signature: Field required`;
      }
    }
  }
  return undefined;
}

const openaiReasons = /^(?:gpt-(?:[5-9]|\d\d)|o\d)/u;
const alwaysReasons = /^gpt-(?:\d(?:\.\d)?-astra|6\.[1-9]-sol)/u;

function openaiParameters(body: JsonObject): string | undefined {
  const model = stringOf(body['model']);
  const effort = stringOf(objectOf(body['reasoning'])['effort']);
  if (openaiReasons.test(model) && effort !== 'none') {
    const sampling = ['temperature', 'top_p', 'top_logprobs'].find((field) => field in body);
    if (sampling !== undefined) {
      return `Unsupported parameter: '${sampling}' is not supported with this model.`;
    }
  }
  return alwaysReasons.test(model) && /^(?:none|minimal)$/u.test(effort)
    ? `Unsupported value: '${effort}' is not supported with the '${model}' model.`
    : undefined;
}

/** DeepSeek thinks unless told not to, and then wants every thought of a turn with calls back. */
function geminiConfig(body: JsonObject, path: string): string | undefined {
  const config = objectOf(body['generationConfig']);
  const unknown = unknownField(config, knownGenerationFields);
  if (unknown !== undefined) {
    return `Invalid JSON payload received. Unknown name "${unknown}" at 'generation_config': Cannot find field.`;
  }
  const { thinkingLevel: level, thinkingBudget: budget } = objectOf(config['thinkingConfig']);
  if (level !== undefined && budget !== undefined) {
    return 'You can only set only one of thinking budget and thinking level.';
  }
  const model = /models\/([^:]+):/u.exec(path)?.[1] ?? '';
  if (level !== undefined && model.startsWith('gemini-2')) {
    return 'Thinking level is not supported for this model.';
  }
  if (budget !== undefined && model.startsWith('gemini-4')) {
    return 'Thinking budget is not supported for this model.';
  }
  if (budget === 0 && /^gemini-2\.5-pro/u.test(model)) {
    return 'Budget 0 is invalid. This model only works in thinking mode.';
  }
  return stringOf(level).toUpperCase() === 'MINIMAL' && /^gemini-4|-pro/u.test(model)
    ? 'Thinking level MINIMAL is not supported for this model.'
    : undefined;
}

/**
 * A model that gives less output than it was asked for says so in its refusal ("max_tokens: 32000 >
 * 8192, which is the maximum allowed number of output tokens"): from then on it is asked for that
 * much. Where prompt and output together are too long, it is asked for what is left, this once.
 * Neither is an overflow, and neither must cost anybody their history.
 */

import { type Adaptation, unquoted } from './adaptation.ts';

const prefix = 'most_output:';
/** Each names the most that may be asked for. */
const limitPatterns = [
  /max_tokens: \d+ > (\d+), which is the maximum/iu,
  /max_?(?:output_?|completion_?)?tokens.{0,80}(?:at most|less than or equal to|maximum (?:value )?(?:of|is)|<=) (\d+)/iu,
  // DeepSeek and Qwen: "the valid range of max_tokens is [1, 8192]".
  /range of max_\w*tokens (?:is|should be) \[\d+, ?(\d+)\]/iu,
  /requested.{0,40}exceeds the model limit of (\d+)/iu,
];
/** Vertex: "the supported range is from 1 (inclusive) to 8193 (exclusive)". */
const beyondPattern = /max_?output_?tokens.{0,120}\bto (\d+) \(exclusive\)/iu;

/** Learns the limit that a refusal names. */
export const outputLimit: Adaptation = {
  lasts: 'model',
  cureOf: ({ message }, { mostOutputTokens }, learned) => {
    const text = unquoted(message);
    const named = limitPatterns.map((pattern) => Number(pattern.exec(text)?.[1]));
    const limits = [...named, Number(beyondPattern.exec(text)?.[1]) - 1];
    const limit = limits.find((one) => one > 0 && one < mostOutputOf(learned, mostOutputTokens));
    return limit === undefined ? undefined : prefix + limit;
  },
};

/** An answer below this is not worth asking for: then the prompt is too long. */
const leastRoomTokens = 1_000;

/** "This once": it depends on the prompt. */
export const outputRoom: Adaptation = {
  lasts: 'request',
  cureOf: ({ message }, { mostOutputTokens }, learned) => {
    const room = roomIn(unquoted(message)) ?? 0;
    const isLess = room < mostOutputOf(learned, mostOutputTokens);
    return room >= leastRoomTokens && isLess ? prefix + room : undefined;
  },
};

/** Anthropic: "… exceed context limit: 188240 + 21333 > 200000". */
const sumPattern = /exceeds? context limit: (\d+) \+ \d+ > (\d+)/iu;
/** "inputs tokens + max_new_tokens must be <= 8192. Given: 1000 inputs tokens and 8000 …". */
const givenPattern = /tokens \+ max_\w+ must be <= (\d+)\. given: (\d+)/iu;
const windowPattern = /maximum context length (?:is|of) (\d+)/iu;
/** vLLM: "… and your request has 1000 input tokens". */
const inputPattern = /(\d+) input tokens/iu;
/** OpenAI and OpenRouter: "you requested about 9000 tokens (…, 8000 in the completion)". */
const requestedPattern =
  /requested (?:about )?(\d+) tokens\b.*?(\d+) (?:in|of|for) the (?:completion|output)/iu;

/** What the prompt leaves of the window, where the text tells both. */
function roomIn(text: string): number | undefined {
  const [, summed, whole] = sumPattern.exec(text) ?? [];
  if (summed !== undefined) return Number(whole) - Number(summed);
  const [, most, given] = givenPattern.exec(text) ?? [];
  if (most !== undefined) return Number(most) - Number(given);
  const window = windowPattern.exec(text)?.[1];
  if (window === undefined) return undefined;
  const input = inputPattern.exec(text)?.[1];
  if (input !== undefined) return Number(window) - Number(input);
  const [, requested, output] = requestedPattern.exec(text) ?? [];
  if (requested === undefined) return undefined;
  return Number(window) - (Number(requested) - Number(output));
}

/** What to ask for, knowing what was learned. */
export function mostOutputOf(learned: ReadonlySet<string>, wanted: number): number {
  const limits = [...learned]
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)));
  return Math.min(wanted, ...limits);
}

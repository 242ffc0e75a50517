/**
 * A model that gives less output than it was asked for says so in its refusal ("max_tokens: 32000 >
 * 8192, which is the maximum allowed number of output tokens"): from then on it is asked for that
 * much. This is no overflow, and must not cost anybody their history.
 */

import type { Adaptation } from './adaptation.ts';

const prefix = 'most_output:';
const patterns = [
  /max_tokens: \d+ > (\d+), which is the maximum/iu,
  /max_(?:output_|completion_)?tokens.{0,80}(?:at most|less than or equal to|maximum (?:value )?(?:of|is)) (\d+)/iu,
];

/** Learns the limit that a refusal names. */
export const outputLimit: Adaptation = {
  lasts: 'model',
  cureOf: ({ message }, { mostOutputTokens }) => {
    for (const pattern of patterns) {
      const limit = Number(pattern.exec(message)?.[1]);
      if (limit > 0 && limit < mostOutputTokens) return `${prefix}${limit}`;
    }
    return undefined;
  },
};

/** An answer below this is not worth asking for: then the prompt is too long. */
const leastRoomTokens = 1_000;
const roomPattern = /exceeds? context limit: (\d+) \+ \d+ > (\d+)/iu;

/**
 * "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000": the prompt fits, the
 * answer asked for does not. This once it is asked for what is left.
 */
export const outputRoom: Adaptation = {
  lasts: 'request',
  cureOf: ({ message }) => {
    const [, prompt, window] = roomPattern.exec(message) ?? [];
    const room = Number(window) - Number(prompt);
    return room >= leastRoomTokens ? `${prefix}${room}` : undefined;
  },
};

/** What to ask for, knowing what was learned. */
export function mostOutputOf(learned: ReadonlySet<string>, wanted: number): number {
  const limits = [...learned]
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(name.slice(prefix.length)));
  return Math.min(wanted, ...limits);
}

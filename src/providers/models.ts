/**
 * What we ask of each model: the window to plan with and the output to ask for. The output is below
 * the models' own maximum, because some vendors count it against the rate limit in advance.
 */

export interface ModelLimits {
  readonly contextTokens: number;
  readonly mostOutputTokens: number;
}

/** First match counts. Windows from the vendors' model pages, November 2026. */
const limitsByName: readonly (readonly [RegExp, ModelLimits])[] = [
  [
    /^anthropic\/claude-(?:fable|mythos|opus|sonnet|haiku)-5/u,
    { contextTokens: 1_000_000, mostOutputTokens: 32_000 },
  ],
  [/^anthropic\//u, { contextTokens: 200_000, mostOutputTokens: 32_000 }],
  [/^openai\/gpt-(?:[5-9]|\d\d)/u, { contextTokens: 1_050_000, mostOutputTokens: 32_000 }],
  [/^openai\//u, { contextTokens: 128_000, mostOutputTokens: 16_000 }],
  [/^gemini\//u, { contextTokens: 1_048_576, mostOutputTokens: 32_000 }],
  [/^compatible\/deepseek/u, { contextTokens: 1_000_000, mostOutputTokens: 32_000 }],
  [/^rehearsal\//u, { contextTokens: 200_000, mostOutputTokens: 8_000 }],
];

const unknownLimits: ModelLimits = { contextTokens: 128_000, mostOutputTokens: 8_000 };

/** Limits of a model by its whole name, `provider/model`. */
export function limitsOf(name: string): ModelLimits {
  return limitsByName.find(([pattern]) => pattern.test(name))?.[1] ?? unknownLimits;
}

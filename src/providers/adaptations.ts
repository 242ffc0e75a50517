/**
 * What a server refuses is dropped once and remembered for its model: optional fields (a summary of
 * thoughts, a token limit's name) must never make a model unusable. Nothing else is repeated here.
 */

import { isBotError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { ChatStreamEvent } from '../messages/chat.ts';
import { WireError, type WireFailure } from './errors.ts';

export interface Adaptation {
  /** Names what changes: `reasoning_summary`, `max_completion_tokens`. */
  readonly name: string;
  /** Whether the model is known to be so from now on, or only this request was. Default: model. */
  readonly lasts?: 'model' | 'request';
  /** Does this refusal complain about it? */
  matches(failure: WireFailure): boolean;
}

export interface Adaptations {
  /**
   * Streams with what is known so far (`learned` holds names of adaptations); on a refusal with a
   * known cure it learns and streams again.
   */
  stream(
    model: string,
    attempt: (learned: ReadonlySet<string>) => AsyncIterable<ChatStreamEvent>,
  ): AsyncGenerator<ChatStreamEvent, void>;
}

export function createAdaptations(known: readonly Adaptation[], log: Log): Adaptations {
  const learnedOf = new Map<string, Set<string>>();
  const learn = (learned: Set<string>, thrown: unknown): Adaptation | undefined => {
    if (!isBotError(thrown, 'bad_request') || !(thrown.cause instanceof WireError))
      return undefined;
    const { failure } = thrown.cause;
    // Without a status it came inside a stream, where something may have been shown already.
    if (failure.status === undefined) return undefined;
    const cure = known.find((one) => !learned.has(one.name) && one.matches(failure));
    if (cure !== undefined) learned.add(cure.name);
    return cure;
  };
  return {
    stream: async function* (model, attempt) {
      const lasting = learnedOf.get(model) ?? new Set<string>();
      learnedOf.set(model, lasting);
      const learned = new Set(lasting);
      for (;;) {
        try {
          yield* attempt(learned);
          return;
        } catch (thrown) {
          const cure = learn(learned, thrown);
          if (cure === undefined) throw thrown;
          if (cure.lasts !== 'request') lasting.add(cure.name);
          log.warn('model_request_adapted', { model, cure: cure.name });
        }
      }
    },
  };
}

/** An adaptation that is due when the refusal's text or its field's name matches. */
export function dueWhen(
  name: string,
  pattern: RegExp,
  lasts: 'model' | 'request' = 'model',
): Adaptation {
  return {
    name,
    lasts,
    matches: ({ message, param, code }) =>
      pattern.test(message) || pattern.test(param ?? '') || pattern.test(code ?? ''),
  };
}

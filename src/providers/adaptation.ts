/** What helps against a refusal that names an optional field: one kind of complaint, one name. */

import type { ChatRequest } from '../messages/chat.ts';
import type { WireFailure } from './errors.ts';

export interface Adaptation {
  /**
   * Whether the model is known to be so from now on, where it has helped, or only this request was.
   * history: the thoughts of this conversation so far are stale.
   */
  readonly lasts: 'model' | 'request' | 'history';
  /** What it changes stands in messages: a refusal that names a place there may be of the model. */
  readonly isOfMessages?: boolean;
  /**
   * The name of what to change (`reasoning_summary`), where this refusal complains about it.
   * `learned`: what was changed already in the request that was refused.
   */
  cureOf(
    failure: WireFailure,
    request: ChatRequest,
    learned: ReadonlySet<string>,
  ): string | undefined;
}

/** An adaptation that is due when the refusal's text or its field's name matches. */
export function dueWhen(
  name: string,
  pattern: RegExp,
  lasts: Adaptation['lasts'] = 'model',
): Adaptation {
  return {
    lasts,
    cureOf: ({ message, param, code }) =>
      pattern.test(message) || pattern.test(param ?? '') || pattern.test(code ?? '')
        ? name
        : undefined,
  };
}

/** An adaptation of what stands in messages, in any conversation. */
export function ofMessages(adaptation: Adaptation): Adaptation {
  return { ...adaptation, isOfMessages: true };
}

const placePattern = /\b(?:messages|input|contents)\.?(?:\[\d+\]|\.\d+)/u;

/** How long a cure of this refusal lasts: what is wrong in this conversation says nothing of others. */
export function lastsAfter(
  { message, param = '', paths = [] }: WireFailure,
  { lasts, isOfMessages = false }: Adaptation,
): Adaptation['lasts'] {
  const isOfPlace = [message, param, ...paths].some((text) => placePattern.test(text));
  return lasts === 'model' && isOfPlace && !isOfMessages ? 'request' : lasts;
}

const momentPattern = /temporar|right now|at the moment|try again later/iu;
/** A call without its result, or the other way round. */
const pairPattern =
  /must be a response to|must be followed by|without (?:a |its )?(?:corresponding|required)/iu;

/** Would the same be taken later, or in any other conversation? */
export function isOfRequest({ message }: WireFailure): boolean {
  return momentPattern.test(message) || pairPattern.test(message);
}

/** An adaptation that counts only while `isDue` holds of what was learned. */
export function dueWhile(
  isDue: (learned: ReadonlySet<string>) => boolean,
  adaptation: Adaptation,
): Adaptation {
  return {
    ...adaptation,
    cureOf: (failure, request, learned) =>
      isDue(learned) ? adaptation.cureOf(failure, request, learned) : undefined,
  };
}

/** Servers mark names by backticks or quotes, or by nothing, as they like. */
export function unquoted(text: string): string {
  return text.replace(/[`"'“”‘’]/gu, '');
}

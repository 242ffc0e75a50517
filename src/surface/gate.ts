/**
 * Obedience to retry-after, for all who send (rule 5): once a platform has said "wait" to a kind of
 * call in a scope, no such call is made there before the time has passed, whoever wants to make it.
 */

import type { Clock } from '../base/clock.ts';
import { BotError, isBotError } from '../base/errors.ts';
import type { Surface } from './surface.ts';

export interface Gate {
  /** Makes the call, or rejects with rate_limited and the time that is left. */
  pass<T>(name: string, call: () => Promise<T>): Promise<T>;
}

export function createGate(deps: { readonly clock: Clock }): Gate {
  const closedUntil = new Map<string, number>();
  return {
    pass: async (name, call) => {
      const leftMs = (closedUntil.get(name) ?? 0) - deps.clock.now();
      if (leftMs > 0) {
        throw new BotError('rate_limited', 'The platform asked to wait.', { retryAfterMs: leftMs });
      }
      closedUntil.delete(name);
      try {
        return await call();
      } catch (thrown) {
        if (isBotError(thrown, 'rate_limited')) {
          closedUntil.set(name, deps.clock.now() + (thrown.retryAfterMs ?? 1000));
        }
        throw thrown;
      }
    },
  };
}

/** A surface whose calls pass the gate of their scope: posts, edits and removals apart. */
export function gatedSurface(surface: Surface, gate: Gate, scope: string): Surface {
  return {
    post: (message, options) => gate.pass(`post ${scope}`, () => surface.post(message, options)),
    edit: (messageId, message) =>
      gate.pass(`edit ${scope}`, () => surface.edit(messageId, message)),
    remove: (messageId) => gate.pass(`remove ${scope}`, () => surface.remove(messageId)),
    upload: (file, options) => gate.pass(`upload ${scope}`, () => surface.upload(file, options)),
    whisper: (person, markdown, interactionId) =>
      gate.pass(`whisper ${scope}`, () => surface.whisper(person, markdown, interactionId)),
    status: (state) => surface.status(state),
    react: (messageId, sign, on) => surface.react(messageId, sign, on),
    history: (most) => surface.history(most),
    channelHistory: (most) => surface.channelHistory(most),
    download: (file, mostBytes) => surface.download(file, mostBytes),
  };
}

/**
 * Surfaces under their platform's budgets. Two kinds: one that makes each call in its turn, for all
 * who say single things; and one that only notes what came of a call, for a reply, which takes its
 * slot first and draws then.
 */

import { isBotError } from '../../base/errors.ts';
import type { Conversation } from '../../messages/conversation.ts';
import type { CallKind } from '../../surface/calls.ts';
import type { MessageStream, Surface } from '../../surface/surface.ts';
import type { Pacer } from './pacer.ts';

type Make = <Result>(kind: CallKind, call: () => Promise<Result>) => Promise<Result>;

/** Refusals close their budget; headers teach it. */
export function watchedSurface(
  surface: Surface,
  pacer: Pacer,
  conversation: Conversation,
): Surface {
  return withCalls(surface, async (kind, call) => {
    try {
      return await call();
    } catch (thrown) {
      if (isBotError(thrown, 'rate_limited')) {
        const { retryAfterMs = 1000, facts } = thrown;
        const isGlobal = facts['isGlobal'] === true;
        pacer.refuse({ kind, conversation }, { retryAfterMs, isGlobal });
      }
      throw thrown;
    } finally {
      const state = surface.budgetOf?.(kind);
      if (state) pacer.learn({ kind, conversation }, state);
    }
  });
}

/** Each call waits for its turn, before all progress of replies. */
export function pacedSurface(watched: Surface, pacer: Pacer, conversation: Conversation): Surface {
  return withCalls(watched, async (kind, call) => {
    await pacer.slot({ kind, conversation, urgency: 'end' });
    return await call();
  });
}

function withCalls(surface: Surface, make: Make): Surface {
  const { stream } = surface;
  return {
    post: (message, options) => make('post', () => surface.post(message, options)),
    edit: (messageId, message) => make('edit', () => surface.edit(messageId, message)),
    remove: (messageId) => make('remove', () => surface.remove(messageId)),
    upload: (file, options) => make('upload', () => surface.upload(file, options)),
    whisper: (person, markdown, interactionId) =>
      make('whisper', () => surface.whisper(person, markdown, interactionId)),
    status: (state) => surface.status(state),
    react: (messageId, sign, on) => surface.react(messageId, sign, on),
    history: (most) => surface.history(most),
    channelHistory: (most) => surface.channelHistory(most),
    download: (file, mostBytes) => surface.download(file, mostBytes),
    ...(surface.budgetOf ? { budgetOf: (kind) => surface.budgetOf?.(kind) ?? null } : {}),
    ...(stream ? { stream: streamWithCalls(stream, make) } : {}),
  };
}

function streamWithCalls(stream: MessageStream, make: Make): MessageStream {
  return {
    mostAgeMs: stream.mostAgeMs,
    drawn: (blocks, mentionable) => stream.drawn(blocks, mentionable),
    start: (piece, options) => make('stream_start', () => stream.start(piece, options)),
    append: (messageId, piece) => make('stream_append', () => stream.append(messageId, piece)),
    stop: (messageId, piece, message) =>
      make('stream_stop', () => stream.stop(messageId, piece, message)),
  };
}

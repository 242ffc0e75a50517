/**
 * What the Events API brings, told to the bot. Events of one channel are translated side by side
 * but stored in the order in which they came: a deletion may not overtake its message.
 */

import type { Log } from '../../src/base/log.ts';
import type { OnEvent } from '../../src/surface/adapter.ts';
import type { InboundCommand, InboundEvent } from '../../src/surface/inbound.ts';
import type { Inbound } from './inbound.ts';
import {
  eventBodySchema,
  messageEventSchema,
  millisecondsOf,
  reactionEventSchema,
  stopEventSchema,
} from './wire.ts';

/** Resolves once the event is stored or needs no storing; rejects when storing failed. */
export type ReceiveEvent = (body: unknown) => Promise<void>;

export function createReceiveEvent(deps: {
  readonly inbound: Inbound;
  readonly onEvent: OnEvent;
  readonly log: Log;
}): ReceiveEvent {
  const { inbound, onEvent, log } = deps;
  /** By channel, the end of what came last; never rejects. */
  const tails = new Map<string, Promise<void>>();

  const storeInOrder = async (
    channel: string,
    translating: Promise<InboundEvent | null>,
  ): Promise<void> => {
    const before = tails.get(channel);
    const work = (async (): Promise<void> => {
      const news = await translating;
      await before;
      if (news !== null) await onEvent(news);
    })();
    const tail = work.then(
      () => undefined,
      () => undefined,
    );
    tails.set(channel, tail);
    try {
      await work;
    } finally {
      if (tails.get(channel) === tail) tails.delete(channel);
    }
  };

  return async (body) => {
    const outer = eventBodySchema.safeParse(body);
    if (!outer.success) return;
    const { event, api_app_id: appId } = outer.data;
    if (event.type === 'agent_session_stopped') {
      const stop = stopEventSchema.safeParse(event);
      if (stop.success) await storeInOrder(stop.data.channel, stopCommand(stop.data, inbound));
      return;
    }
    if (event.type === 'reaction_added') {
      const added = reactionEventSchema.safeParse(event);
      if (added.success) {
        await storeInOrder(added.data.item.channel, inbound.reactionOf(added.data));
      }
      return;
    }
    if (event.type !== 'message' && event.type !== 'app_mention') return;
    const message = messageEventSchema.safeParse(event);
    if (message.success) {
      await storeInOrder(message.data.channel, inbound.of(message.data, appId ?? null));
    } else log.warn('slack_event_unreadable', { type: event.type });
  };
}

/** Slack's own stop button says what `/deckhand stop` says. */
async function stopCommand(
  stop: ReturnType<typeof stopEventSchema.parse>,
  inbound: Inbound,
): Promise<InboundCommand> {
  const conversation = inbound.conversationOf(stop.channel, { ts: stop.thread_ts });
  const eventKey = `slack:stop:${stop.channel}:${stop.thread_ts}:${stop.event_ts}`;
  const [author, channel] = await Promise.all([
    inbound.authorOf(stop.user, {}),
    inbound.channelOf(stop.channel),
  ]);
  return {
    kind: 'command',
    eventKey,
    conversation,
    author,
    at: millisecondsOf(stop.event_ts),
    channelName: channel.name,
    channelKind: channel.kind,
    text: 'stop',
    interactionId: eventKey,
  };
}

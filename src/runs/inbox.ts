/**
 * What waits for a conversation. An event is claimed once by its key, together with its place in
 * the inbox and a wake-up, in one transaction: it is stored or it is not, and a second delivery
 * starts nothing. A consumed event keeps its key, not its words.
 */

import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import type { IndexEntry, Store } from '../storage/store.ts';
import { validate } from '../storage/validated.ts';
import { type StoredEvent, storedEventSchema } from '../surface/inbound.ts';

/** Events of these kinds wait for the conversation's lane. */
export type WaitingEvent = Extract<
  StoredEvent,
  { kind: 'message' | 'message_edited' | 'message_deleted' }
>;

export interface WaitingMessage {
  readonly event: WaitingEvent;
  /** Decided at intake: did it address the bot? */
  readonly addressed: boolean;
  /** When it was stored, by our clock. */
  readonly takenAt: number;
}

const eventRecordSchema = z.object({
  v: z.literal(1),
  /** Null once consumed. */
  event: storedEventSchema.nullable(),
  addressed: z.boolean(),
  takenAt: z.number(),
});

export interface Inbox {
  /** True when the event is new; false when it was taken before. */
  put(key: ConversationKey, event: WaitingEvent, addressed: boolean): Promise<boolean>;
  /** True when an event that waits nowhere (a click, a command) is new. */
  first(event: StoredEvent): Promise<boolean>;
  /** Oldest first. */
  waiting(key: ConversationKey): Promise<readonly WaitingMessage[]>;
  consume(key: ConversationKey, events: readonly WaitingEvent[]): Promise<void>;
}

const dayMs = 24 * 3600 * 1000;
/** A waiting event outlives any question. */
const waitingTtlMs = 120 * dayMs;
/** Consumed events are remembered for this long, to recognise late deliveries. */
const rememberedMs = 7 * dayMs;
const mostWaiting = 500;

export function createInbox(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wakeOf: (key: ConversationKey, dueMs: number) => IndexEntry;
}): Inbox {
  const { store, clock } = deps;
  const eventKeyOf = (event: { readonly eventKey: string }): string => `event:${event.eventKey}`;
  const indexOf = (key: ConversationKey): string => `inbox:${key}`;
  const consumed = (): z.infer<typeof eventRecordSchema> => ({
    v: 1,
    event: null,
    addressed: false,
    takenAt: clock.now(),
  });

  return {
    put: (key, event, addressed) =>
      store.claim(
        eventKeyOf(event),
        { v: 1, event, addressed, takenAt: clock.now() },
        {
          ttlMs: waitingTtlMs,
          indexed: [
            { index: indexOf(key), member: event.eventKey, score: event.at },
            deps.wakeOf(key, clock.now()),
          ],
        },
      ),
    first: (event) => store.claim(eventKeyOf(event), consumed(), { ttlMs: rememberedMs }),
    waiting: async (key) => {
      const members = await store.rangeOfIndex(indexOf(key), { most: mostWaiting });
      const keys = members.map(({ member }) => `event:${member}`);
      const values = await store.getMany(keys);
      const waiting: WaitingMessage[] = [];
      for (const [index, value] of values.entries()) {
        const record = await validate(deps, keys[index] ?? '', value, eventRecordSchema);
        const event = record?.event;
        const member = members[index]?.member ?? '';
        if (!record || !event) {
          await store.removeFromIndex(indexOf(key), member);
        } else if (isWaiting(event)) {
          waiting.push({ event, addressed: record.addressed, takenAt: record.takenAt });
        }
      }
      return waiting;
    },
    consume: async (key, events) => {
      for (const event of events) {
        await store.set(eventKeyOf(event), consumed(), { ttlMs: rememberedMs });
        await store.removeFromIndex(indexOf(key), event.eventKey);
      }
    },
  };
}

function isWaiting(event: StoredEvent): event is WaitingEvent {
  return ['message', 'message_edited', 'message_deleted'].includes(event.kind);
}

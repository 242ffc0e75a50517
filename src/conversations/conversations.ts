/**
 * What is kept of each conversation: a head, and the transcript as an append-only log. Which
 * threads and channels were used lately is an index, so that missed messages can be read back.
 */

import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { createKeyedQueue } from '../base/queues.ts';
import { firstWords } from '../base/text.ts';
import type { ConversationKey } from '../messages/conversation.ts';
import { type Entry, entrySchema } from '../messages/entries.ts';
import type { Mentionable } from '../messages/people.ts';
import { type AppendLog, createAppendLog } from '../storage/append-log.ts';
import type { Store } from '../storage/store.ts';
import { readValidated } from '../storage/validated.ts';
import { createFormerMarks } from './former-marks.ts';
import { type Head, headSchema, mostPeople } from './head.ts';

export interface Conversations {
  /** Undefined: the bot has no part in it. */
  head(key: ConversationKey): Promise<Head | undefined>;
  /** Makes the head, or brings it up to date with a message just said; the same message again
   * changes nothing more. */
  touch(key: ConversationKey, said: Touch): Promise<Head>;
  update(key: ConversationKey, change: (head: Head) => Head): Promise<Head | undefined>;
  transcript(key: ConversationKey): AppendLog<Entry>;
  /** Keys of conversations in which something was said since, newest first. */
  recent(sinceMs: number, most: number): Promise<readonly ConversationKey[]>;
}

export interface Touch {
  readonly title: string;
  readonly messageId: string;
  readonly channelName: string;
  readonly channelKind: Head['channelKind'];
  readonly author: Mentionable;
  readonly authorIsBot: boolean;
}

export interface ConversationsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

const recentIndex = 'conversations';
const headKeyOf = (key: ConversationKey): string => `head:${key}`;

export function createConversations(deps: ConversationsDeps): Conversations {
  const { store, clock } = deps;
  const head = (key: ConversationKey): Promise<Head | undefined> =>
    readValidated(deps, headKeyOf(key), headSchema);

  const save = async (key: ConversationKey, value: Head): Promise<Head> => {
    await store.set(headKeyOf(key), value);
    return value;
  };
  /** Changes of one head, and appends to one transcript, follow each other. */
  const heads = createKeyedQueue();
  const appends = createKeyedQueue();

  return {
    head,
    touch: (key, said) =>
      heads.run(key, async () => {
        const now = clock.now();
        const known = await head(key);
        // A lower score is found first, so the newest conversation has the lowest.
        await store.addToIndex({ index: recentIndex, member: key, score: -now });
        return save(key, known ? touched(known, said, now) : newHead(said, now));
      }),
    update: (key, change) =>
      heads.run(key, async () => {
        const known = await head(key);
        return known ? save(key, change(known)) : undefined;
      }),
    transcript: (key) => {
      const log = createAppendLog(deps, `transcript:${key}`, entrySchema);
      return {
        ...log,
        append: (values) => appends.run(key, () => log.append(values)),
        overwrite: (number, value) => appends.run(key, () => log.overwrite(number, value)),
      };
    },
    recent: async (sinceMs, most) => {
      const members = await store.rangeOfIndex(recentIndex, { upTo: -sinceMs, most });
      return members.map(({ member }) => member);
    },
  };
}

/** Names a conversation that has no words of its own, or none any more. */
export const plainTitle = 'Conversation';

function newHead(said: Touch, now: number): Head {
  return {
    v: 1,
    title: firstWords(said.title, 100) || plainTitle,
    titleFrom: said.messageId,
    channelName: said.channelName,
    channelKind: said.channelKind,
    createdAt: now,
    lastAt: now,
    people: said.authorIsBot ? [] : [{ id: said.author.id, name: said.author.name }],
    contextFrom: 1,
    botRuns: 0,
    hasLeft: false,
  };
}

function touched(head: Head, said: Touch, now: number): Head {
  const others = head.people.filter(({ id }) => id !== said.author.id).slice(-(mostPeople - 1));
  return {
    ...head,
    lastAt: now,
    people: said.authorIsBot
      ? head.people
      : [...others, { id: said.author.id, name: said.author.name }],
  };
}

/** The last message seen in a place, by which missed ones are read back. */
export interface SeenPlace {
  readonly adapter: string;
  readonly space: string;
  readonly channel: string;
  /** Null: top level of the channel. */
  readonly thread: string | null;
}

const seenSchema = z.object({
  place: z.object({
    adapter: z.string(),
    space: z.string(),
    channel: z.string(),
    thread: z.string().nullable(),
  }),
  messageId: z.string(),
  at: z.number(),
});
export type Seen = Readonly<z.infer<typeof seenSchema>>;

export interface SeenPlaces {
  /** Notes a message as seen, if the place is used, or from now on if `use` says so. */
  saw(place: SeenPlace, messageId: string, at: number, use: boolean): Promise<void>;
  /** Used places of an adapter since a moment, newest activity first; with `asOf` (ms since the
   * epoch, the last five minutes) as they stood then. */
  used(
    adapter: string,
    options: { readonly since: number; readonly most: number; readonly asOf?: number },
  ): Promise<readonly Seen[]>;
}

export function createSeenPlaces(deps: ConversationsDeps): SeenPlaces {
  const { store } = deps;
  const former = createFormerMarks<Seen>(deps);
  const keyOf = ({ adapter, space, channel, thread }: SeenPlace): string =>
    ['seen', adapter, space, channel, thread ?? 'top'].map(encodeURIComponent).join(':');
  return {
    saw: async (place, messageId, at, use) => {
      const key = keyOf(place);
      const known = await readValidated(deps, key, seenSchema);
      if (!known && !use) return;
      // Events may come out of order: the newest stays.
      if (known && known.at > at) return;
      if (known) former.replaced(key, known);
      await store.set(key, { place, messageId, at });
      await store.addToIndex({ index: `seen:${place.adapter}`, member: key, score: -at });
    },
    used: async (adapter, { since, most, asOf }) => {
      const members = await store.rangeOfIndex(`seen:${adapter}`, { upTo: -since, most });
      const places = await Promise.all(
        members.map(async ({ member }) => {
          const now = await readValidated(deps, member, seenSchema);
          return asOf === undefined ? now : (former.at(member, asOf) ?? now);
        }),
      );
      return places.filter((place) => place !== undefined);
    },
  };
}

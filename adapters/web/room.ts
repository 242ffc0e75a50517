/**
 * The page's own small platform: channels and messages, kept in an archive, and a stream of changes
 * for the browsers that look.
 */

import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import type { NewId } from '../../src/base/ids.ts';

/** Where channels and messages are kept: an append-only log of JSON values. */
export interface WebArchive {
  append(values: readonly z.core.util.JSONType[]): Promise<readonly number[]>;
  readLast(
    most: number,
  ): Promise<readonly { readonly number: number; readonly value: z.core.util.JSONType }[]>;
  overwrite(number: number, value: z.core.util.JSONType): Promise<void>;
}

const mentionableSchema = z.array(z.object({ id: z.string(), name: z.string() })).readonly();

const blockSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('markdown'), text: z.string() }),
  z.object({ kind: z.literal('activity'), text: z.string() }),
  z.object({ kind: z.literal('notice'), text: z.string() }),
  z.object({
    kind: z.literal('buttons'),
    buttons: z
      .array(
        z.object({
          controlId: z.string(),
          label: z.string(),
          style: z.enum(['primary', 'danger', 'plain']),
        }),
      )
      .readonly(),
  }),
  z.object({
    kind: z.literal('choice'),
    controlId: z.string(),
    options: z.array(z.object({ value: z.string(), label: z.string() })).readonly(),
    submitLabel: z.string(),
  }),
  z.object({ kind: z.literal('feedback'), controlId: z.string() }),
]);

const channelSchema = z.object({ kind: z.literal('channel'), id: z.string(), name: z.string() });
const messageSchema = z.object({
  kind: z.literal('message'),
  id: z.string(),
  channel: z.string(),
  /** Root message of the thread; null for a message of the channel itself. */
  thread: z.string().nullable(),
  author: z.enum(['person', 'bot']),
  at: z.number(),
  blocks: z.array(blockSchema).readonly(),
  mentionable: mentionableSchema,
  /** A bot's post by its key. */
  key: z.string().nullable(),
  /** A line that only its reader sees. */
  isPrivate: z.boolean(),
  isEdited: z.boolean(),
  /** Noted by the bot, read at its next step. */
  isWaiting: z.boolean(),
  /** The bot's emoji on it. */
  reactions: z.array(z.string()).readonly().default([]),
  /** The person's emoji on it. */
  given: z.array(z.string()).readonly().default([]),
  /** What it brings; the contents are kept elsewhere. */
  files: z
    .array(
      z.object({
        id: z.string(),
        name: z.string(),
        bytes: z.number(),
        /** The line under it, plain text; empty for none. */
        comment: z.string(),
      }),
    )
    .readonly()
    .default([]),
});
const removedSchema = z.object({ kind: z.literal('removed') });
const recordSchema = z.discriminatedUnion('kind', [channelSchema, messageSchema, removedSchema]);

export type RoomChannel = Readonly<z.infer<typeof channelSchema>>;
export type RoomMessage = Readonly<z.infer<typeof messageSchema>>;

export type RoomChange =
  | { readonly kind: 'channel'; readonly channel: RoomChannel }
  | { readonly kind: 'message'; readonly message: RoomMessage }
  | { readonly kind: 'removed'; readonly id: string }
  | {
      readonly kind: 'status';
      readonly channel: string;
      readonly thread: string;
      readonly isWorking: boolean;
    };

export interface Room {
  open(): Promise<void>;
  channels(): readonly RoomChannel[];
  /** Oldest first. */
  messages(): readonly RoomMessage[];
  message(id: string): RoomMessage | undefined;
  addChannel(name: string): Promise<RoomChannel>;
  add(
    message: Pick<RoomMessage, 'channel' | 'thread' | 'author' | 'blocks'> & Partial<RoomMessage>,
  ): Promise<RoomMessage>;
  /** False when there is no such message. A function is given it as it is then. */
  change(
    id: string,
    change: Partial<RoomMessage> | ((known: RoomMessage) => Partial<RoomMessage>),
  ): Promise<boolean>;
  remove(id: string): Promise<void>;
  showStatus(channel: string, thread: string, isWorking: boolean): void;
  /** Working threads, for a page that opens now. */
  working(): readonly string[];
  /** Calls for each change; the returned function ends it. */
  watch(onChange: (change: RoomChange) => void): () => void;
}

/** Records loaded at the start; older ones stay in the archive. */
const mostLoaded = 20_000;

export function createRoom(deps: {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly archive: WebArchive;
}): Room {
  const { clock, newId, archive } = deps;
  const channels = new Map<string, RoomChannel>();
  const messages = new Map<string, RoomMessage>();
  const numbers = new Map<string, number>();
  const working = new Set<string>();
  const watchers = new Set<(change: RoomChange) => void>();
  /** Writes of one message follow each other. */
  let writing: Promise<unknown> = Promise.resolve();

  const tell = (change: RoomChange): void => {
    for (const watcher of watchers) watcher(change);
  };
  const write = <T>(work: () => Promise<T>): Promise<T> => {
    const done = writing.then(work, work);
    writing = done.catch(() => undefined);
    return done;
  };

  const addChannel = async (name: string): Promise<RoomChannel> => {
    const known = [...channels.values()].find((channel) => channel.name === name);
    if (known) return known;
    const channel: RoomChannel = { kind: 'channel', id: newId('w').replace('_', ''), name };
    await write(() => archive.append([channel]));
    channels.set(channel.id, channel);
    tell({ kind: 'channel', channel });
    return channel;
  };

  return {
    open: async () => {
      for (const { number, value } of await archive.readLast(mostLoaded)) {
        const parsed = recordSchema.safeParse(value);
        if (!parsed.success || parsed.data.kind === 'removed') continue;
        if (parsed.data.kind === 'channel') channels.set(parsed.data.id, parsed.data);
        else messages.set(parsed.data.id, parsed.data);
        numbers.set(parsed.data.id, number);
      }
      if (channels.size === 0) {
        await addChannel('general');
        await addChannel('ops');
      }
    },
    channels: () => [...channels.values()],
    messages: () => [...messages.values()],
    message: (id) => messages.get(id),
    addChannel,
    add: async (given) => {
      const message: RoomMessage = {
        kind: 'message',
        id: newId('m').replace('_', ''),
        at: clock.now(),
        mentionable: [],
        key: null,
        isPrivate: false,
        isEdited: false,
        isWaiting: false,
        reactions: [],
        given: [],
        files: [],
        ...given,
      };
      const [number] = await write(() => archive.append([jsonOf(message)]));
      if (number !== undefined) numbers.set(message.id, number);
      messages.set(message.id, message);
      tell({ kind: 'message', message });
      return message;
    },
    change: (id, change) =>
      write(async () => {
        const known = messages.get(id);
        const number = numbers.get(id);
        if (!known || number === undefined) return false;
        const changed = typeof change === 'function' ? change(known) : change;
        const message = { ...known, ...changed };
        await archive.overwrite(number, jsonOf(message));
        messages.set(id, message);
        tell({ kind: 'message', message });
        return true;
      }),
    remove: (id) =>
      write(async () => {
        const number = numbers.get(id);
        if (number === undefined) return;
        await archive.overwrite(number, { kind: 'removed' });
        numbers.delete(id);
        messages.delete(id);
        tell({ kind: 'removed', id });
      }),
    showStatus: (channel, thread, isWorking) => {
      if (isWorking === working.has(thread)) return;
      if (isWorking) working.add(thread);
      else working.delete(thread);
      tell({ kind: 'status', channel, thread, isWorking });
    },
    working: () => [...working],
    watch: (onChange) => {
      watchers.add(onChange);
      return () => watchers.delete(onChange);
    },
  };
}

/** Readonly data as the JSON it is. */
function jsonOf(message: RoomMessage): z.core.util.JSONType {
  return z.json().parse(message);
}

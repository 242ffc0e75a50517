/** The real adapter with the real client library, connected to an emulated guild. */

import {
  createDiscordAdapter,
  type DiscordAdapterDeps,
} from '../../../adapters/discord/adapter.ts';
import type { DiscordSettings } from '../../../adapters/discord/settings.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { randomId } from '../../../src/base/ids.ts';
import type { Conversation } from '../../../src/messages/conversation.ts';
import type { Adapter, OnEvent } from '../../../src/surface/adapter.ts';
import type { InboundEvent, InboundMessage } from '../../../src/surface/inbound.ts';
import type { OutboundMessage } from '../../../src/surface/outbound.ts';
import {
  createDiscordGuild,
  type DiscordGuild,
  type GuildOptions,
} from '../../emulators/discord/guild.ts';
import { createKeptLog, type KeptLog } from '../../support/log.ts';

export const anna = '500000000000000001';
export const bo = '500000000000000002';
/** The channel #ops. */
export const ops = '600000000000000001';
export const forum = '600000000000000002';
export const secret = '600000000000000003';

export interface DiscordSetUp {
  readonly guild: DiscordGuild;
  readonly adapter: Adapter;
  readonly log: KeptLog;
  /** What was stored, in order. */
  readonly events: InboundEvent[];
  /** Storing fails from now on, or works again. */
  failStoring(on: boolean): void;
  /** Storing takes until the returned function is called. */
  holdStoring(): () => void;
  onEvent: OnEvent;
  /** The first stored event of a kind, once it is there. */
  first<Kind extends InboundEvent['kind']>(
    kind: Kind,
    mostMs?: number,
  ): Promise<Extract<InboundEvent, { kind: Kind }>>;
  /** The message as the adapter told it. */
  heard(messageId: string): Promise<InboundMessage>;
  conversation(channel: string, thread: string): Conversation;
  close(): Promise<void>;
}

export interface SetUpOptions {
  readonly guild?: GuildOptions;
  readonly settings?: Partial<DiscordSettings>;
  readonly deps?: Partial<DiscordAdapterDeps>;
  /** False: the test starts the adapter itself. */
  readonly start?: boolean;
  prepare?(guild: DiscordGuild): void;
}

/** #ops, a forum and a private channel, with Anna and Bo. */
export async function setUpDiscord(options: SetUpOptions = {}): Promise<DiscordSetUp> {
  const guild = await createDiscordGuild(options.guild);
  guild.addUser({ id: anna, name: 'Anna', roles: ['700000000000000001'] });
  guild.addUser({ id: bo, name: 'Bo Li' });
  guild.addRole('700000000000000001', 'admins');
  guild.addChannel({ id: ops, name: 'ops' });
  guild.addForum(forum, 'help');
  guild.addChannel({ id: secret, name: 'secret', isPrivate: true });
  options.prepare?.(guild);
  const log = createKeptLog();
  const adapter = createDiscordAdapter(
    { clock: systemClock, log, newId: randomId, commands: () => [], ...options.deps },
    { token: guild.token, apiUrl: guild.apiUrl, ...options.settings },
  );
  const events: InboundEvent[] = [];
  let fails = false;
  let held: Promise<void> | null = null;
  const onEvent: OnEvent = async (event) => {
    if (held !== null) await held;
    if (fails) throw new Error('The store is down.');
    events.push(event);
  };
  if (options.start !== false) await adapter.start(onEvent);
  return {
    guild,
    adapter,
    log,
    events,
    onEvent,
    failStoring: (on) => {
      fails = on;
    },
    holdStoring: () => {
      let release = (): void => undefined;
      held = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        held = null;
        release();
      };
    },
    first: async (kind, mostMs) => {
      const find = (): InboundEvent | undefined => events.find((event) => event.kind === kind);
      await guild.until(() => find() !== undefined, mostMs);
      const found = find();
      if (found === undefined || !isKind(found, kind)) throw new Error(`No ${kind} came.`);
      return found;
    },
    heard: async (messageId) => {
      const find = (): InboundMessage | undefined =>
        events.find(
          (event): event is InboundMessage =>
            event.kind === 'message' && event.messageId === messageId,
        );
      await guild.until(() => find() !== undefined);
      const found = find();
      if (found === undefined) throw new Error('The message did not come.');
      return found;
    },
    conversation: (channel, thread) => ({
      adapter: 'discord',
      space: guild.guildId,
      channel,
      thread,
    }),
    close: async () => {
      await adapter.stop();
      await guild.close();
    },
  };
}

function isKind<Kind extends InboundEvent['kind']>(
  event: InboundEvent,
  kind: Kind,
): event is Extract<InboundEvent, { kind: Kind }> {
  return event.kind === kind;
}

/** A message of one Markdown block. */
export function markdown(
  text: string,
  mentionable: OutboundMessage['mentionable'] = [],
): OutboundMessage {
  return { blocks: [{ kind: 'markdown', text }], mentionable };
}

/** A post that was never tried before. */
export function key(name: string): { readonly key: string; readonly maybePosted: boolean } {
  return { key: name, maybePosted: false };
}

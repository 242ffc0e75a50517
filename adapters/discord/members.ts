/**
 * Who people are in a guild: nickname and roles. Live events bring them along; what is read back by
 * REST does not, so they are kept a while and asked for one by one (GET guild member needs no
 * privileged intent).
 */

import type { Clock } from '../../src/base/clock.ts';
import { isBotError } from '../../src/base/errors.ts';
import type { Author } from '../../src/messages/people.ts';
import type { Space } from '../../src/surface/adapter.ts';
import { createKept } from './kept.ts';
import type { CallDiscord } from './rest.ts';
import { guildMemberSchema, userSchema, type WireMember, type WireUser } from './wire.ts';

export interface Members {
  /** What a live event said about a member. */
  note(guildId: string, userId: string, member: WireMember): void;
  /** Null: not (any more) in the guild. */
  member(guildId: string, userId: string): Promise<WireMember | null>;
  /** The name people see, without asking Discord. */
  nameOf(guildId: string | null, user: WireUser): string;
  /** A person of whom an event told the id alone. */
  userOf(userId: string): Promise<WireUser>;
  authorOf(guildId: string | null, user: WireUser, isWebhook: boolean): Promise<Author>;
  /** The guilds that this person and the bot share. */
  sharedSpaces(userId: string): Promise<readonly string[]>;
}

const freshMs = 10 * 60_000;
/** Guilds asked at a time for one person. */
const askedAtOnce = 5;

export function createMembers(deps: {
  readonly call: CallDiscord;
  readonly clock: Clock;
  spaces(): readonly Space[];
}): Members {
  const known = createKept<WireMember | null>(deps.clock, {
    mostEntries: 20_000,
    mostAgeMs: freshMs,
  });
  const keyOf = (guildId: string, userId: string): string => `${guildId}:${userId}`;

  const member: Members['member'] = async (guildId, userId) => {
    const before = known.get(keyOf(guildId, userId));
    if (before !== undefined) return before;
    const found = await deps
      .call('GET', `/guilds/${guildId}/members/${userId}`, { schema: guildMemberSchema })
      .then(({ nick, roles }): WireMember => ({ nick, roles }))
      .catch((error: unknown) => {
        if (isBotError(error, 'surface_gone')) return null;
        throw error;
      });
    known.set(keyOf(guildId, userId), found);
    return found;
  };

  const nameOf: Members['nameOf'] = (guildId, user) => {
    const nick = guildId === null ? null : known.get(keyOf(guildId, user.id))?.nick;
    return nick ?? user.global_name ?? user.username;
  };

  return {
    note: (guildId, userId, { nick, roles }) => known.set(keyOf(guildId, userId), { nick, roles }),
    member,
    nameOf,
    userOf: (userId) => deps.call('GET', `/users/${userId}`, { schema: userSchema }),
    authorOf: async (guildId, user, isWebhook) => {
      // A webhook is nobody's member.
      const found = guildId === null || isWebhook ? null : await member(guildId, user.id);
      return {
        id: `discord:${user.id}`,
        name: found?.nick ?? user.global_name ?? user.username,
        isBot: isWebhook || user.bot === true,
        standing: 'member',
        roles: (found?.roles ?? []).map((role) => `discord:${role}`),
      };
    },
    sharedSpaces: async (userId) => {
      const shared: string[] = [];
      const spaces = deps.spaces();
      for (let from = 0; from < spaces.length; from += askedAtOnce) {
        const group = spaces.slice(from, from + askedAtOnce);
        const found = await Promise.all(group.map(({ id }) => member(id, userId)));
        shared.push(...group.flatMap(({ id }, index) => (found[index] === null ? [] : [id])));
      }
      return shared;
    },
  };
}

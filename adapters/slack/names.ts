/** Names of people, channels and user groups, and a person's standing in this workspace. */

import { z } from 'zod';
import type { Clock } from '../../src/base/clock.ts';
import { isBotError } from '../../src/base/errors.ts';
import type { Log } from '../../src/base/log.ts';
import type { Author } from '../../src/messages/people.ts';
import { type CacheOptions, cacheDefaults, createCache } from './cache.ts';
import { slackWordOf } from './errors.ts';
import { idsIn, markdownOfSlack } from './from-mrkdwn.ts';
import type { CallSlack } from './web-api.ts';
import type { Self } from './wire.ts';

export interface KnownUser {
  /** Null where Slack does not tell it. */
  readonly name: string | null;
  readonly isBot: boolean;
  readonly standing: Author['standing'];
}

export interface KnownChannel {
  readonly name: string;
  readonly kind: 'public' | 'private' | 'direct';
}

export interface Names {
  /** For showing: null where nothing is known just now. */
  user(id: string): Promise<KnownUser | null>;
  /**
   * For deciding: what Slack says of a person now or has said within a day. Rejects where it is not
   * known: then the person is neither a member nor a guest, and nothing may be done in their name.
   */
  person(id: string, mostWaitMs?: number): Promise<KnownUser>;
  channel(id: string): Promise<KnownChannel | null>;
  /** Slack's text as Markdown, ids replaced by names where they are known. */
  markdownOf(text: string): Promise<string>;
  /** Markdown as it is, but for mentions of people. */
  withNames(markdown: string): Promise<string>;
}

const userSchema = z.object({
  user: z.object({
    name: z.string().optional(),
    real_name: z.string().optional(),
    team_id: z.string().optional(),
    is_bot: z.boolean().optional(),
    is_restricted: z.boolean().optional(),
    is_ultra_restricted: z.boolean().optional(),
    is_stranger: z.boolean().optional(),
    profile: z
      .object({ display_name: z.string().optional(), real_name: z.string().optional() })
      .optional(),
    enterprise_user: z.object({ teams: z.array(z.string()).optional() }).optional(),
  }),
});
type SlackUser = z.infer<typeof userSchema>['user'];

const channelSchema = z.object({
  channel: z.object({
    name: z.string().optional(),
    is_im: z.boolean().optional(),
    is_mpim: z.boolean().optional(),
    is_private: z.boolean().optional(),
  }),
});

const groupsSchema = z.object({
  usergroups: z.array(z.object({ id: z.string(), handle: z.string() })),
});

/** Shorter than the pauses between Slack's deliveries, so that each of them asks again. */
const userCache: CacheOptions = { ...cacheDefaults, failedMs: 5_000 };

/** What a direct message is called where a channel's name is shown. */
export const directName = 'direct message';

export function createNames(deps: {
  readonly call: CallSlack;
  readonly clock: Clock;
  readonly log: Log;
  readonly self: Self;
}): Names {
  const { call, log, self } = deps;
  let isScopeMissing = false;
  /** A refusal is an answer too: whom Slack does not show us is a stranger here. */
  const untold = (id: string, error: unknown): KnownUser => {
    const word = slackWordOf(error);
    if (word === null || isBotError(error, 'rate_limited', 'surface_unavailable')) throw error;
    if (word === 'missing_scope' && !isScopeMissing) {
      isScopeMissing = true;
      reportMissingUsersRead(log);
    }
    log.debug('slack_person_untold', { id, word });
    return { name: null, isBot: false, standing: 'external' };
  };
  const users = createCache<KnownUser>(
    {
      ...deps,
      load: async (id) => {
        try {
          const { user } = await call('users.info', { user: id }, userSchema);
          return {
            name: nameOf(user) ?? null,
            isBot: user.is_bot === true,
            standing: standingOf(user, self.teamId),
          };
        } catch (error) {
          return untold(id, error);
        }
      },
      freshMsOf: (user) => (user.name === null ? cacheDefaults.failedMs : userCache.freshMs),
    },
    userCache,
  );
  const channels = createCache<KnownChannel>({
    ...deps,
    load: async (id) => {
      const { channel } = await call('conversations.info', { channel: id }, channelSchema);
      if (channel.is_im === true) return { name: directName, kind: 'direct' };
      const isPrivate = channel.is_private === true || channel.is_mpim === true;
      return { name: channel.name ?? id, kind: isPrivate ? 'private' : 'public' };
    },
  });
  const groups = createCache<ReadonlyMap<string, string>>({
    ...deps,
    load: async () => {
      const { usergroups } = await call('usergroups.list', {}, groupsSchema);
      return new Map(usergroups.map((group) => [group.id, group.handle]));
    },
  });

  const named = async (
    ids: readonly string[],
    find: (id: string) => Promise<{ readonly name: string | null } | null>,
  ): Promise<(id: string) => string> => {
    const found = await Promise.all(ids.map(async (id) => [id, (await find(id))?.name] as const));
    const byId = new Map(found);
    return (id) => byId.get(id) ?? id;
  };

  return {
    user: (id) => users.get(id),
    person: (id, mostWaitMs) => users.known(id, mostWaitMs),
    channel: (id) => channels.get(id),
    withNames: async (markdown) => {
      const user = await named(idsIn(markdown).users, (id) => users.get(id));
      return markdown.replace(/<@([UW][A-Z0-9_]+)>/gu, (_found, id: string) => `@${user(id)}`);
    },
    markdownOf: async (text) => {
      const ids = idsIn(text);
      const [user, channel, handles] = await Promise.all([
        named(
          ids.users.filter((id) => id !== self.userId),
          (id) => users.get(id),
        ),
        named(ids.channels, (id) => channels.get(id)),
        ids.groups.length === 0 ? null : groups.get('all'),
      ]);
      return markdownOfSlack(text, {
        botUserId: self.userId,
        botName: self.name,
        user,
        channel,
        group: (id) => handles?.get(id) ?? id,
      });
    },
  };
}

/** Without it Slack does not say who is a guest, so that everybody has to be taken for one. */
export function reportMissingUsersRead(log: Log): void {
  log.error('slack_scope_missing', {
    scope: 'users:read',
    effect: 'nobody counts as a member of the workspace',
    cure: 'add the bot scope users:read under "OAuth & Permissions" of the app and install it again',
  });
}

function nameOf(user: SlackUser): string | undefined {
  return [user.profile?.display_name, user.profile?.real_name, user.real_name, user.name].find(
    (name) => name !== undefined && name.trim() !== '',
  );
}

function standingOf(user: SlackUser, teamId: string): Author['standing'] {
  const isHome =
    user.team_id === undefined ||
    user.team_id === teamId ||
    (user.enterprise_user?.teams ?? []).includes(teamId);
  if (user.is_stranger === true || !isHome) return 'external';
  return user.is_restricted === true || user.is_ultra_restricted === true ? 'guest' : 'member';
}

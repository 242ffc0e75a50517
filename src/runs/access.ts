/** Who may use the bot. Rights are matched by immutable ids only. */

import type { Head } from '../conversations/head.ts';
import type { Conversation } from '../messages/conversation.ts';
import type { Author } from '../messages/people.ts';
import type { RunsDeps } from './deps.ts';
import type { AccessLists, Profile, Sourced } from './settings.ts';
import type { Spaces } from './spaces.ts';

export interface AccessPlace {
  readonly adapter: string;
  readonly space: string;
  readonly channel: string;
  /** For direct messages without a space of their own. */
  readonly sharedSpaces?: readonly string[];
}

export type Access =
  | { readonly kind: 'allowed'; readonly rule: string }
  /** `told`: the one private line; null where even that would be noise. */
  | { readonly kind: 'refused'; readonly rule: string; readonly told: string | null };

/** The local page's person decides on the local page only; it needs no list. */
export const localPerson = 'web:local';

export function accessOf(
  author: Author,
  place: AccessPlace,
  profile: Pick<Profile, 'allow' | 'deny'>,
  allowedSpaces: readonly string[],
): Access {
  const spaces = (place.sharedSpaces ?? [place.space]).map((id) => `${place.adapter}:${id}`);
  const inSpace = spaces.find((space) => allowedSpaces.includes(space));
  if (inSpace === undefined) {
    return refused(
      'this space is not allowed',
      place.sharedSpaces ? 'I only talk with people of the servers I was set up for.' : null,
    );
  }
  if (author.standing !== 'member') {
    const who = author.standing === 'guest' ? 'guests' : 'people of other workspaces';
    return refused(`${who} are not served`, `I cannot work for ${who} yet.`);
  }
  const ids = idsOf(author, place, spaces);
  const denial = profile.deny.find(({ value }) => names(value, ids));
  if (denial) return refused(`deny list (${denial.source})`, notAllowed);
  const missing = profile.allow.find(({ value }) => !passes(value, ids));
  if (missing) return refused(`allow list (${missing.source})`, notAllowed);
  return { kind: 'allowed', rule: ruleOf(profile.allow) };
}

/**
 * Access where only the conversation is known (a click on a card). That a direct message exists
 * means that its person was let in; which space that was is not asked again.
 */
export async function accessIn(
  deps: Pick<RunsDeps, 'profileOf' | 'adapters'> & { readonly spaces: Spaces },
  author: Author,
  conversation: Conversation,
  head: Head | undefined,
): Promise<Access> {
  const { adapter, space, channel } = conversation;
  const own = deps.adapters.get(adapter);
  const allowedSpaces = own ? await deps.spaces.allowed(own) : [];
  const profile = deps.profileOf({ adapter, space, channel, channelName: head?.channelName ?? '' });
  const isDirect = head?.channelKind === 'direct';
  const sharedSpaces = allowedSpaces.map((id) => id.slice(id.indexOf(':') + 1));
  const place = { adapter, space, channel, ...(isDirect ? { sharedSpaces } : {}) };
  return accessOf(author, place, profile, allowedSpaces);
}

const notAllowed =
  'You are not on the list of people I may work for here. An admin can change that.';

interface Ids {
  readonly users: readonly string[];
  readonly channels: readonly string[];
  readonly roles: readonly string[];
  readonly spaces: readonly string[];
}

function idsOf(author: Author, place: AccessPlace, spaces: readonly string[]): Ids {
  return {
    users: [author.id],
    channels: [`${place.adapter}:${place.channel}`],
    roles: author.roles,
    spaces,
  };
}

const kinds = ['users', 'channels', 'roles', 'spaces'] as const;

/** A deny list names somebody by any of its kinds. */
function names(lists: AccessLists, ids: Ids): boolean {
  return kinds.some((kind) => ids[kind].some((id) => lists[kind].includes(id)));
}

/** An allow list lets pass whom it names: people or roles alike, and each of channels and spaces
 * where it lists any. An empty kind allows all. */
function passes(lists: AccessLists, ids: Ids): boolean {
  const has = (kind: (typeof kinds)[number]): boolean =>
    ids[kind].some((id) => lists[kind].includes(id));
  const people = lists.users.length + lists.roles.length === 0 || has('users') || has('roles');
  const channels = lists.channels.length === 0 || has('channels');
  const spaces = lists.spaces.length === 0 || has('spaces');
  return people && channels && spaces;
}

function ruleOf(allow: readonly Sourced<AccessLists>[]): string {
  const sources = allow.map(({ source }) => source);
  return sources.length === 0 ? 'everybody of this space' : `allow list (${sources.join(', ')})`;
}

function refused(rule: string, told: string | null): Access {
  return { kind: 'refused', rule, told };
}

/** The settings that hold in one place: defaults, then entries of `channels`, nearest last. */

import picomatch from 'picomatch';
import type { ReasoningOptions } from '../messages/model.ts';
import { mergePermissions, type PermissionSettings } from '../permissions/settings.ts';
import { type ReplySettings, replyDefaults } from '../render/settings.ts';
import type { AccessLists, Place, Profile, Sourced, SourcedReply } from '../runs/settings.ts';
import type { ChannelEntry, PlacePattern } from './schema.ts';

export interface ProfileSource {
  readonly instructions?: string | undefined;
  readonly followUps?: 'all' | 'mention';
  readonly reasoning?: ReasoningOptions;
  readonly webSearch?: boolean;
  readonly channelHistory?: boolean;
  readonly allow: AccessLists;
  readonly deny: AccessLists;
  readonly permissions: PermissionSettings;
  readonly reply: ReplySettings;
  readonly channels: readonly ChannelEntry[];
  /** For people: "channels[2], line 31". */
  readonly sourceOf: (channelIndex: number) => string;
}

export function profileOf(source: ProfileSource, place: Place): Profile {
  const entries = matching(source, place);
  const sourced = <K extends keyof ChannelEntry>(key: K): Sourced<NonNullable<ChannelEntry[K]>>[] =>
    entries.flatMap(({ entry, name }) => {
      const value = entry[key];
      return value === undefined || value === null ? [] : [{ value, source: name }];
    });
  const base = source.instructions;
  return {
    instructions: [
      ...(base === undefined ? [] : [{ value: base, source: 'configuration' }]),
      ...sourced('instructions'),
    ],
    model: sourced('model').at(-1),
    followUps: sourced('followUps').at(-1) ?? ownOr(source.followUps, 'all'),
    reasoning: [
      ...(source.reasoning === undefined ? [] : [ownOr(source.reasoning, {})]),
      ...sourced('reasoning'),
    ],
    webSearch: sourced('webSearch').at(-1) ?? ownOr(source.webSearch, false),
    channelHistory: sourced('channelHistory').at(-1) ?? ownOr(source.channelHistory, true),
    allow: [...present(source.allow), ...sourced('allow')].slice(-1),
    deny: [...present(source.deny), ...sourced('deny')],
    permissions: mergePermissions([
      { value: source.permissions, source: 'configuration' },
      ...sourced('permissions'),
    ]),
    reply: replyOf([{ value: source.reply, source: 'configuration' }, ...sourced('reply')]),
  };
}

/** Each field as the nearest that names it says; outermost first. */
export function replyOf(levels: readonly Sourced<ReplySettings>[]): SourcedReply {
  const field = <T>(own: (settings: ReplySettings) => T | undefined, standard: T): Sourced<T> => {
    let nearest: Sourced<T> = { value: standard, source: 'default' };
    for (const { value, source } of levels) {
      const named = own(value);
      if (named !== undefined) nearest = { value: named, source };
    }
    return nearest;
  };
  return {
    activity: field(({ activity }) => activity, replyDefaults.activity),
    thinking: field(({ thinking }) => thinking, replyDefaults.thinking),
    notify: field(({ notify }) => notify, replyDefaults.notify),
    feedback: field(({ feedback }) => feedback, replyDefaults.feedback),
    seen: field(({ seen }) => seen, replyDefaults.seen),
  };
}

/** Lists that name nobody say nothing. `spaces` of the top decides elsewhere, which spaces are served. */
function present(lists: AccessLists): readonly Sourced<AccessLists>[] {
  const { users, channels, roles, spaces } = lists;
  const isEmpty = users.length + channels.length + roles.length + spaces.length === 0;
  return isEmpty ? [] : [{ value: lists, source: 'configuration' }];
}

function ownOr<T>(own: T | undefined, standard: T): Sourced<T> {
  return own === undefined
    ? { value: standard, source: 'default' }
    : { value: own, source: 'configuration' };
}

interface Matched {
  readonly entry: ChannelEntry;
  readonly name: string;
}

/** Farthest first; of two equally near ones the later in the file wins. */
function matching(source: ProfileSource, place: Place): readonly Matched[] {
  return source.channels
    .map((entry, index) => ({
      entry,
      name: source.sourceOf(index),
      nearness: nearnessOf(entry.match, place),
      index,
    }))
    .filter(({ nearness }) => nearness >= 0)
    .sort((a, b) => a.nearness - b.nearness || a.index - b.index);
}

/** -1: does not match. A channel's id is nearer than its name, then space, then platform. */
function nearnessOf(pattern: PlacePattern, place: Place): number {
  let nearness = 0;
  if (pattern.platform !== undefined) {
    if (pattern.platform !== place.adapter) return -1;
    nearness += 1;
  }
  if (pattern.space !== undefined) {
    if (pattern.space !== place.space) return -1;
    nearness += 2;
  }
  if (pattern.channel === undefined) return nearness;
  if (pattern.channel === place.channel) return nearness + 8;
  return picomatch.isMatch(place.channelName, pattern.channel) ? nearness + 4 : -1;
}

/**
 * The emoji that the bot may put on a message, with the names Slack has for them: a fixed list, so
 * that every platform shows the same sign.
 * Source of the names: https://docs.slack.dev/reference/methods/reactions.add (`name`: the emoji's
 * short name) and the short names of https://github.com/iamcal/emoji-data, which Slack uses.
 */

/** `waiting`: the message was noted and waits. Otherwise one of `reactionEmojis`. */
export type ReactionSign = 'waiting' | { readonly emoji: string };

/** Emoji → Slack's name. */
const slackNames: ReadonlyMap<string, string> = new Map([
  ['👍', '+1'],
  ['👎', '-1'],
  ['✅', 'white_check_mark'],
  ['❌', 'x'],
  ['👀', 'eyes'],
  ['❤️', 'heart'],
  ['🎉', 'tada'],
  ['🚀', 'rocket'],
  ['🔥', 'fire'],
  ['🙏', 'pray'],
  ['👏', 'clap'],
  ['🙌', 'raised_hands'],
  ['👋', 'wave'],
  ['👌', 'ok_hand'],
  ['💪', 'muscle'],
  ['💯', '100'],
  ['⭐', 'star'],
  ['🎯', 'dart'],
  ['💡', 'bulb'],
  ['🤔', 'thinking_face'],
  ['😄', 'smile'],
  ['😂', 'joy'],
  ['😢', 'cry'],
  ['😮', 'open_mouth'],
  ['❓', 'question'],
  ['⚠️', 'warning'],
  ['🐛', 'bug'],
  ['🔧', 'wrench'],
  ['📝', 'memo'],
  ['📌', 'pushpin'],
  ['⏳', 'hourglass_flowing_sand'],
  ['🔒', 'lock'],
]);

export const reactionEmojis: readonly string[] = [...slackNames.keys()];

export function isReactionEmoji(text: string): boolean {
  return slackNames.has(text);
}

/** Null for what is not on the list. */
export function slackNameOfEmoji(emoji: string): string | null {
  return slackNames.get(emoji) ?? null;
}

/** Slack's names of the emoji by which people stop a run, with the emoji. */
const stopNames: ReadonlyMap<string, string> = new Map([
  ['x', '❌'],
  ['heavy_multiplication_x', '✖'],
]);

/** An X: somebody wants what runs to end. With or without the sign that asks for colours. */
export function isStopEmoji(emoji: string): boolean {
  return [...stopNames.values()].includes(emoji.replace(/\u{fe0f}$/u, ''));
}

/** Null for what nothing follows from. */
export function stopEmojiOfSlack(name: string): string | null {
  return stopNames.get(name) ?? null;
}

/** Discord's message text as Markdown with names resolved; code is passed over. */

import { zeroWidth } from '../../src/surface/markdown/table.ts';
export interface TextNames {
  user(id: string): string | null;
  role(id: string): string | null;
  channel(id: string): string | null;
}

const codeOrToken =
  /(```[\s\S]*?```|``[^\n]+?``|`[^`\n]+`)|<@!?(\d+)>|<@&(\d+)>|<#(\d+)>|<a?:(\w+):\d+>|<t:(-?\d{1,13})(?::[a-zA-Z])?>|<\/([^:>]{1,100}):\d+>/gu;

export function markdownOfDiscord(content: string, names: TextNames): string {
  return content.replace(
    codeOrToken,
    (
      found: string,
      code: string | undefined,
      user: string | undefined,
      role: string | undefined,
      channel: string | undefined,
      emoji: string | undefined,
      time: string | undefined,
      command: string | undefined,
    ) => {
      if (code !== undefined) return found;
      if (user !== undefined) return `@${names.user(user) ?? 'unknown person'}`;
      if (role !== undefined) return `@${names.role(role) ?? 'unknown role'}`;
      if (channel !== undefined) return `#${names.channel(channel) ?? 'unknown channel'}`;
      if (emoji !== undefined) return `:${emoji}:`;
      if (command !== undefined) return `/${command}`;
      return isoTimeOf(Number(time)) ?? found;
    },
  );
}

/** The bot's own text without the signs that kept it from notifying people. */
export function withoutZeroWidth(text: string): string {
  return text.replaceAll(zeroWidth, '');
}

function isoTimeOf(seconds: number): string | null {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? null : time.toISOString().replace('.000Z', 'Z');
}

/**
 * An outbound message as Discord content and components. Pure: the same message gives the same
 * bytes. Limits: resources/message (content 2,000 UTF-16 units) and components/reference (5 rows of 5
 * buttons or one select of 25 options, label 80, custom_id 100).
 */

import { BotError } from '../../src/base/errors.ts';
import { cutToUnits } from '../../src/base/text.ts';
import type { Mentionable } from '../../src/messages/people.ts';
import { createBlockReader } from '../../src/surface/markdown/blocks.ts';
import { createDrawnBlocks } from '../../src/surface/markdown/drawn-blocks.ts';
import { zeroWidth } from '../../src/surface/markdown/table.ts';
import {
  type Block,
  type Button,
  type ChoiceOption,
  type OutboundMessage,
  thumbs,
} from '../../src/surface/outbound.ts';
import { type DiscordText, discordTextOf, escapeMarkdown, joinedTexts } from './markdown.ts';
import { createSplitMentions } from './mentions.ts';
import { componentTypes } from './wire.ts';

export const mostContentUnits = 2_000;
const mostRows = 5;
const mostButtonsInRow = 5;
const mostOptions = 25;
const mostLabelUnits = 80;
const mostOptionLabelUnits = 100;
/** At most so many people are notified by one message. */
const mostMentions = 100;
const leastLineUnits = 4;
/** Longer sources never fit: drawing takes marks and table rules away, but no words. */
const mostDrawnUnits = 20 * mostContentUnits;

/** Flags of every message: no link previews (1 << 2). */
export const suppressEmbeds = 4;

type Component = Readonly<Record<string, unknown>>;
type People = readonly Mentionable[];

/** Blocks as they were drawn last: what is edited at its end is drawn at its end. */
const drawnTexts = createDrawnBlocks((markdown, people) =>
  discordTextOf(markdown, createSplitMentions(people)),
);

export interface DrawnMessage {
  readonly content: string;
  readonly components: readonly Component[];
  readonly allowedMentions: {
    readonly parse: readonly never[];
    readonly users: readonly string[];
    readonly replied_user: false;
  };
}

/** Throws message_too_long and message_refused for what Discord would refuse. */
export function drawMessage(message: OutboundMessage): DrawnMessage {
  const components = message.blocks.flatMap(rowsOf);
  if (components.length > mostRows) {
    throw new BotError('message_refused', 'The message has more controls than Discord takes.', {
      facts: { rows: components.length },
    });
  }
  const content = contentOf(message.blocks, message.mentionable);
  if (content.length > mostContentUnits) {
    throw new BotError('message_too_long', 'The message is too long for Discord.', {
      facts: { units: content.length },
    });
  }
  if (content === '' && components.length === 0) {
    throw new BotError('message_refused', 'The message has nothing to show.');
  }
  return {
    // Controls alone: a message should have some content for every client.
    content: content === '' ? zeroWidth : content,
    components,
    allowedMentions: {
      parse: [],
      users: mentionedIn(content, message).slice(0, mostMentions),
      replied_user: false,
    },
  };
}

/**
 * Length of a Markdown text when drawn, in UTF-16 units; at least that of its source, so that a
 * longer text never counts less.
 */
export function drawnLengthOf(markdown: string): number {
  // Far beyond the limit it does not fit anyway: no need to parse.
  if (markdown.length > 2 * mostContentUnits) return markdown.length;
  const texts = createBlockReader()(markdown).map(({ from, to }) =>
    drawnTexts.of(markdown.slice(from, to), []),
  );
  return Math.max(markdown.length, joinedTexts(texts).length);
}

/**
 * Markdown blocks in full, those that stand together as one text; lines of our own are cut to the
 * room that is left.
 */
function contentOf(blocks: readonly Block[], people: People): string {
  const parts: (string | Block)[] = [];
  let texts: DiscordText[] = [];
  const endText = (): void => {
    const joined = joinedTexts(texts).trim();
    if (joined !== '') parts.push(joined);
    texts = [];
  };
  for (const block of blocks) {
    if (block.kind === 'markdown') {
      // What is far too long by itself is not worth drawing.
      const isHuge = block.text.length > mostDrawnUnits;
      texts.push(
        isHuge ? { text: block.text, isHeading: false } : drawnTexts.of(block.text, people),
      );
    } else {
      endText();
      parts.push(block);
    }
  }
  endText();
  let room = mostContentUnits;
  for (const part of parts) if (typeof part === 'string') room -= part.length + 1;
  const lines = parts.map((part) => {
    if (typeof part === 'string') return part;
    const line = cutLine(ownLine(part, people), room - 1);
    if (line !== '') room -= line.length + 1;
    return line;
  });
  return lines.filter((line) => line !== '').join('\n');
}

function ownLine(block: Block, people: People): string {
  switch (block.kind) {
    case 'activity':
      return small(activityText(block.text));
    case 'notice': {
      const notice = drawnTexts.of(block.text, people).text.trim();
      return notice.includes('\n') ? notice.replace(/^/gmu, '> ') : small(notice);
    }
    case 'markdown':
    case 'buttons':
    case 'choice':
    case 'feedback':
      return '';
  }
}

function small(line: string): string {
  return line === '' ? '' : `-# ${line}`;
}

/** Plain text with `code` spans, on one line. */
function activityText(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .trim()
    .split(/(`[^`]+`)/u)
    .map((piece) => (piece.length > 2 && piece.startsWith('`') ? piece : escapeMarkdown(piece)))
    .join('');
}

function cutLine(line: string, mostUnits: number): string {
  if (line.length <= mostUnits) return line;
  return mostUnits < leastLineUnits ? '' : cutToUnits(line, mostUnits);
}

function mentionedIn(content: string, message: OutboundMessage): string[] {
  const known = new Set(message.mentionable.map(({ id }) => id));
  const found = new Set<string>();
  for (const [, id = ''] of content.matchAll(/<@(\d{1,20})>/gu)) {
    if (known.has(`discord:${id}`)) found.add(id);
  }
  return [...found];
}

function rowsOf(block: Block): Component[] {
  switch (block.kind) {
    case 'markdown':
    case 'activity':
    case 'notice':
      return [];
    case 'buttons':
      return groupsOf(block.buttons, mostButtonsInRow).map((group) => ({
        type: componentTypes.row,
        components: group.map(drawButton),
      }));
    case 'choice':
      return [
        {
          type: componentTypes.row,
          components: [drawSelect(block.controlId, block.options)],
        },
      ];
    case 'feedback':
      return [{ type: componentTypes.row, components: thumbs.map(thumbOf(block.controlId)) }];
  }
}

/** Stands between a control's id and what a thumb says; it cannot stand in either. */
const thumbSign = ':';

function thumbOf(controlId: string): (thumb: (typeof thumbs)[number]) => Component {
  return ({ value, label }) => ({
    type: componentTypes.button,
    custom_id: `${controlId}${thumbSign}${value}`,
    label,
    style: styles.plain,
  });
}

/** The control that a button's id names, and what it says with it. */
export function controlOf(customId: string): {
  readonly controlId: string;
  readonly value: string | null;
} {
  const [controlId = '', value = null] = customId.split(thumbSign);
  return { controlId, value };
}

const styles = { primary: 1, plain: 2, danger: 4 } as const;

function drawButton(button: Button): Component {
  return {
    type: componentTypes.button,
    custom_id: button.controlId,
    label: cutToUnits(button.label, mostLabelUnits) || '…',
    style: styles[button.style],
  };
}

/** A select is sent when its menu is closed: it needs no button, so the submit label is not shown. */
function drawSelect(controlId: string, options: readonly ChoiceOption[]): Component {
  if (options.length > mostOptions || options.length === 0) {
    throw new BotError('message_refused', 'A choice on Discord has 1 to 25 options.', {
      facts: { options: options.length },
    });
  }
  return {
    type: componentTypes.select,
    custom_id: controlId,
    placeholder: 'Choose one or more',
    min_values: 1,
    max_values: options.length,
    options: options.map((option) => ({
      value: option.value,
      label: cutToUnits(option.label, mostOptionLabelUnits) || '…',
    })),
  };
}

function groupsOf<Item>(items: readonly Item[], most: number): Item[][] {
  const groups: Item[][] = [];
  for (let from = 0; from < items.length; from += most) groups.push(items.slice(from, from + most));
  return groups;
}

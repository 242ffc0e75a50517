/**
 * An outbound message as Slack blocks, with a text for notifications, search and screen readers.
 * Pure: the same message gives the same bytes.
 * Limits: https://docs.slack.dev/reference/block-kit/blocks and the methods chat.postMessage and
 * chat.update (a text over 4,000 is refused by chat.update, counted in escaped bytes).
 */

import type { types } from '@slack/bolt';
import { BotError } from '../../src/base/errors.ts';
import { cutToBytes, cutToUnits } from '../../src/base/text.ts';
import type { Mentionable } from '../../src/messages/people.ts';
import { createBlockReader } from '../../src/surface/markdown/blocks.ts';
import { createDrawnBlocks } from '../../src/surface/markdown/drawn-blocks.ts';
import { splitMarkdown } from '../../src/surface/markdown/split.ts';
import {
  type Block,
  type Button,
  type ChoiceOption,
  type OutboundMessage,
  thumbs,
} from '../../src/surface/outbound.ts';
import { markdownBlockText } from './markdown-block.ts';
import { createSplitMentions } from './mentions.ts';
import { mrkdwnOf, plainMrkdwn } from './mrkdwn.ts';

const mostTextBytes = 3_900;
const mostContextChars = 3_000;
const mostSectionChars = 3_000;
/** Of all `markdown` blocks of a message. */
const mostMarkdownChars = 12_000;
const mostBlocks = 50;
const mostActions = 25;
const mostCheckboxes = 10;
const mostLabelUnits = 75;

/** Controls of a choice carry this before the control's id; `:` cannot stand in a control's id. */
const choicePrefix = 'choice:';

export interface DrawnMessage {
  readonly text: string;
  readonly blocks: readonly types.KnownBlock[];
}

type People = readonly Mentionable[];

/** Blocks as they were drawn last: what is edited at its end is drawn at its end. */
const markdownTexts = createDrawnBlocks((markdown, people) =>
  markdownBlockText(markdown, createSplitMentions(people)),
);
const mrkdwnTexts = createDrawnBlocks((markdown, people) =>
  mrkdwnOf(markdown, createSplitMentions(people)),
);

/** Throws message_too_long and message_refused for what Slack would refuse. */
export function drawMessage(message: OutboundMessage): DrawnMessage {
  const { mentionable } = message;
  return {
    text: fallbackText(message),
    blocks: checked(
      blocksOf(message, (texts) => {
        const text = joinedMarkdown(texts, mentionable);
        return text.trim() === '' ? [] : [{ type: 'markdown', text }];
      }),
    ),
  };
}

/** The same message without `markdown` blocks, for where Slack refuses these. */
export function drawSections(message: OutboundMessage): DrawnMessage {
  return {
    text: fallbackText(message),
    blocks: checked(
      blocksOf(message, (texts) =>
        sectionTexts(texts, message.mentionable).map((text) => ({
          type: 'section',
          text: { type: 'mrkdwn', text, verbatim: true },
        })),
      ),
    ),
  };
}

/** The whole message as one text, options numbered: what is sent when Slack refuses the blocks. */
export function plainText(message: OutboundMessage): string {
  return [...fallbackTexts(message, true)].join('\n\n');
}

/**
 * Length of a Markdown text in a `markdown` block, in UTF-16 units; at least that of its source, so
 * that a longer text never counts less (a table may become shorter when it is drawn).
 */
export function drawnLengthOf(markdown: string): number {
  // Beyond this it does not fit anyway: no need to parse.
  if (markdown.length > mostMarkdownChars) return markdown.length;
  const lengthOf = (source: string): number =>
    Math.max(source.length, drawnSource(source, []).length);
  // What has no blank line in it need not be taken apart.
  if (!/\n[ \t]*\n[ \t]*\S/u.test(markdown)) return lengthOf(markdown);
  return createBlockReader()(markdown)
    .map(({ from, to }) => lengthOf(markdown.slice(from, to)))
    .reduce((sum, length) => sum + length, 0);
}

/** A block with the line ends after it, which are not drawn. */
function drawnSource(source: string, people: People): string {
  const body = source.trimEnd();
  return markdownTexts.of(body, people) + source.slice(body.length);
}

/** Blocks in order; Markdown that stands together is drawn as one text. */
function blocksOf(
  { blocks, mentionable }: OutboundMessage,
  drawMarkdown: (texts: readonly string[]) => readonly types.KnownBlock[],
): readonly types.KnownBlock[] {
  const drawn: types.KnownBlock[] = [];
  let texts: string[] = [];
  for (const block of blocks) {
    if (block.kind === 'markdown') {
      texts.push(block.text);
      continue;
    }
    drawn.push(...drawMarkdown(texts), ...drawBlock(block, mentionable));
    texts = [];
  }
  return [...drawn, ...drawMarkdown(texts)];
}

export function joinedMarkdown(texts: readonly string[], people: People): string {
  // A text that is too long by itself is not worth drawing.
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > 2 * mostMarkdownChars) throw tooLong(length);
  let joined = '';
  for (const text of texts) {
    const drawn = drawnSource(text, people);
    if (drawn.trim() !== '') joined += betweenOf(joined) + drawn;
  }
  return joined;
}

/** Blocks that were cut apart with their line ends are joined as they were. */
function betweenOf(before: string): string {
  if (before === '' || /\n[ \t]*$/u.test(before)) return '';
  return '\n\n';
}

function sectionTexts(texts: readonly string[], people: People): readonly string[] {
  const lengthOf = (markdown: string): number => mrkdwnTexts.of(markdown, people).length;
  const sections: string[] = [];
  for (const text of texts) {
    for (const piece of splitMarkdown(text, { mostLength: mostSectionChars, lengthOf })) {
      const drawn = mrkdwnTexts.of(piece, people);
      const last = sections.at(-1);
      const joined = `${last ?? ''}\n\n${drawn}`;
      if (last !== undefined && joined.length <= mostSectionChars) sections.splice(-1, 1, joined);
      else if (drawn.trim() !== '') sections.push(drawn);
    }
  }
  return sections;
}

function checked(blocks: readonly types.KnownBlock[]): readonly types.KnownBlock[] {
  const chars = blocks.reduce((sum, block) => sum + charsOf(block), 0);
  if (chars > mostMarkdownChars) throw tooLong(chars);
  if (blocks.length > mostBlocks) {
    throw new BotError('message_refused', 'The message has more blocks than Slack takes.', {
      facts: { blocks: blocks.length },
    });
  }
  return blocks;
}

function charsOf(block: types.KnownBlock): number {
  if (block.type === 'markdown') return block.text.length;
  return block.type === 'section' ? (block.text?.text.length ?? 0) : 0;
}

function tooLong(chars: number): BotError {
  return new BotError('message_too_long', 'The message is too long for Slack.', {
    facts: { chars },
  });
}

function drawBlock(
  block: Exclude<Block, { kind: 'markdown' }>,
  people: People,
): types.KnownBlock[] {
  switch (block.kind) {
    case 'activity':
      return contextOf(plainMrkdwn(block.text));
    case 'notice':
      return contextOf(mrkdwnTexts.of(block.text, people));
    case 'buttons':
      return groupsOf(block.buttons, mostActions).map((group) => ({
        type: 'actions',
        elements: group.map(drawButton),
      }));
    case 'choice':
      return [
        {
          type: 'actions',
          elements: [
            ...groupsOf(block.options, mostCheckboxes).map(
              (options, index): types.Checkboxes => ({
                type: 'checkboxes',
                action_id: `${choicePrefix}${block.controlId}:${index}`,
                options: options.map(drawOption),
              }),
            ),
            {
              type: 'button',
              action_id: block.controlId,
              text: labelOf(block.submitLabel),
              style: 'primary',
            },
          ],
        },
      ];
    case 'feedback':
      return [{ type: 'context_actions', elements: [drawThumbs(block.controlId)] }];
  }
}

/** https://docs.slack.dev/reference/block-kit/block-elements/feedback-buttons-element */
function drawThumbs(controlId: string): types.FeedbackButtons {
  const [positive, negative] = thumbs.map(({ value, meaning }) => ({
    text: labelOf(meaning),
    value,
    accessibility_label: meaning,
  }));
  if (!positive || !negative) throw new TypeError('There are two thumbs.');
  return {
    type: 'feedback_buttons',
    action_id: controlId,
    positive_button: positive,
    negative_button: negative,
  };
}

/** The control that a checkbox group belongs to; null for any other action. */
export function isChoiceGroup(actionId: string, controlId?: string): boolean {
  return actionId.startsWith(
    controlId === undefined ? choicePrefix : `${choicePrefix}${controlId}:`,
  );
}

function contextOf(mrkdwn: string): types.KnownBlock[] {
  if (mrkdwn.trim() === '') return [];
  const text = cutMrkdwn(mrkdwn, mostContextChars);
  return [{ type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] }];
}

function drawButton(button: Button): types.Button {
  return {
    type: 'button',
    action_id: button.controlId,
    text: labelOf(button.label),
    ...(button.style === 'plain' ? {} : { style: button.style }),
  };
}

function drawOption(option: ChoiceOption): { text: types.PlainTextElement; value: string } {
  return { text: labelOf(option.label), value: option.value };
}

function labelOf(label: string): types.PlainTextElement {
  return { type: 'plain_text', text: cutToUnits(label, mostLabelUnits), emoji: true };
}

function groupsOf<Item>(items: readonly Item[], most: number): Item[][] {
  const groups: Item[][] = [];
  for (let from = 0; from < items.length; from += most) groups.push(items.slice(from, from + most));
  return groups;
}

/** Drawn up to what fits: of a long message most is never drawn. */
function fallbackText(message: OutboundMessage): string {
  let text = '';
  let bytes = 0;
  for (const part of fallbackTexts(message, false)) {
    text += (text === '' ? '' : '\n\n') + part;
    bytes += Buffer.byteLength(part);
    if (bytes > mostTextBytes) break;
  }
  return cutMrkdwn(text, mostTextBytes);
}

function* fallbackTexts(
  { blocks, mentionable }: OutboundMessage,
  withOptions: boolean,
): Generator<string> {
  const options = (labels: readonly string[]): string =>
    withOptions
      ? labels.map((label, index) => `${index + 1}. ${plainMrkdwn(label)}`).join('\n')
      : '';
  const textOf = (block: Block): string => {
    switch (block.kind) {
      case 'markdown':
      case 'notice':
        return mrkdwnTexts.of(block.text, mentionable);
      case 'activity':
        return plainMrkdwn(block.text);
      case 'buttons':
        return options(block.buttons.map((button) => button.label));
      case 'choice':
        return options(block.options.map((option) => option.label));
      case 'feedback':
        return '';
    }
  };
  for (const block of blocks) {
    const text = textOf(block);
    if (text.trim() !== '') yield text;
  }
}

/** Cuts before a half entity or token, and closes a fence that was left open. */
export function cutMrkdwn(mrkdwn: string, mostBytes: number): string {
  if (Buffer.byteLength(mrkdwn) <= mostBytes) return mrkdwn;
  let cut = cutToBytes(mrkdwn, mostBytes - Buffer.byteLength('…\n```'));
  const open = cut.lastIndexOf('<');
  if (open > cut.lastIndexOf('>')) cut = cut.slice(0, open);
  cut = cut.replace(/&[a-z]{0,4}$/u, '');
  return (cut.split('```').length - 1) % 2 === 1 ? `${cut}…\n\`\`\`` : `${cut}…`;
}

/**
 * An outbound message as Slack blocks, with a text for notifications, search and screen readers.
 * Pure: the same message gives the same bytes.
 * Limits: https://docs.slack.dev/reference/block-kit/blocks and the methods chat.postMessage and
 * chat.update (a text over 4,000 is refused by chat.update, counted in escaped bytes).
 */

import type { types } from '@slack/bolt';
import { cutToBytes, cutToUnits } from '../../src/base/text.ts';
import {
  type Block,
  type Button,
  type ChoiceOption,
  type OutboundMessage,
  thumbs,
} from '../../src/surface/outbound.ts';
import { markdownBlockText } from './markdown-block.ts';
import { createSplitMentions, type SplitMentions } from './mentions.ts';
import { mrkdwnOf, plainMrkdwn } from './mrkdwn.ts';

const mostTextBytes = 3_900;
const mostContextChars = 3_000;
const mostActions = 25;
const mostCheckboxes = 10;
const mostLabelUnits = 75;

/** Controls of a choice carry this before the control's id; `:` cannot stand in a control's id. */
const choicePrefix = 'choice:';

export interface DrawnMessage {
  readonly text: string;
  readonly blocks: readonly types.KnownBlock[];
}

export function drawMessage(message: OutboundMessage): DrawnMessage {
  const split = createSplitMentions(message.mentionable);
  return {
    text: cutMrkdwn(fallbackOf(message.blocks, split, false), mostTextBytes),
    blocks: message.blocks.flatMap((block) => drawBlock(block, split)),
  };
}

/** The whole message as one text, options numbered: what is sent when Slack refuses the blocks. */
export function plainText(message: OutboundMessage): string {
  return fallbackOf(message.blocks, createSplitMentions(message.mentionable), true);
}

/**
 * Length of a Markdown text in a `markdown` block, in UTF-16 units; at least that of its source, so
 * that a longer text never counts less (a table may become shorter when it is drawn).
 */
export function drawnLengthOf(markdown: string): number {
  // Beyond this it does not fit anyway: no need to parse.
  if (markdown.length > 12_000) return markdown.length;
  const drawn = markdownBlockText(markdown, createSplitMentions([]));
  return Math.max(markdown.length, drawn.length);
}

function drawBlock(block: Block, split: SplitMentions): types.KnownBlock[] {
  switch (block.kind) {
    case 'markdown': {
      const text = markdownBlockText(block.text, split);
      return text.trim() === '' ? [] : [{ type: 'markdown', text }];
    }
    case 'activity':
      return contextOf(plainMrkdwn(block.text));
    case 'notice':
      return contextOf(mrkdwnOf(block.text, split));
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

function fallbackOf(blocks: readonly Block[], split: SplitMentions, withOptions: boolean): string {
  const options = (labels: readonly string[]): string =>
    withOptions
      ? labels.map((label, index) => `${index + 1}. ${plainMrkdwn(label)}`).join('\n')
      : '';
  const textOf = (block: Block): string => {
    switch (block.kind) {
      case 'markdown':
      case 'notice':
        return mrkdwnOf(block.text, split);
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
  return blocks
    .map(textOf)
    .filter((text) => text.trim() !== '')
    .join('\n\n');
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

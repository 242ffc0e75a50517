/** A message as a person sees it, and who is notified by it. */

import { type KnownBlock, knownBlocks } from './blocks.ts';
import type { Json, Model } from './model.ts';

/** Markdown blocks as written, small lines after `▸`, buttons in brackets, boxes with their ticks. */
export function drawnText(
  model: Model,
  message: {
    readonly text: string;
    readonly blocks: readonly Json[];
    readonly ticked?: ReadonlyMap<string, readonly string[]>;
  },
): string {
  if (message.blocks.length === 0) return mrkdwnShown(model, message.text);
  return knownBlocks(message.blocks)
    .map((block) => drawnBlock(model, block, message.ticked ?? new Map()))
    .join('\n');
}

function drawnBlock(
  model: Model,
  block: KnownBlock,
  ticked: ReadonlyMap<string, readonly string[]>,
): string {
  switch (block.type) {
    case 'markdown':
      return named(model, block.text);
    case 'section':
      return mrkdwnShown(model, block.text.text);
    case 'context':
      return block.elements.map((one) => `▸ ${mrkdwnShown(model, one.text)}`).join('\n');
    case 'divider':
      return '───';
    case 'actions':
      return block.elements
        .map((element) => {
          if (element.type === 'button') return `[${element.text.text}]`;
          const chosen = ticked.get(element.action_id) ?? [];
          return element.options
            .map((option) => `${chosen.includes(option.value) ? '☑' : '☐'} ${option.text.text}`)
            .join(' ');
        })
        .join(' ');
  }
}

function named(model: Model, text: string): string {
  return text.replace(
    /<@([UW][A-Z0-9_]+)>/gu,
    (_found, id: string) => `@${model.users.get(id)?.name ?? id}`,
  );
}

function mrkdwnShown(model: Model, text: string): string {
  return named(model, text)
    .replace(/<(?:https?:|mailto:)[^|>]*\|([^>]*)>/gu, '$1')
    .replace(/<((?:https?:|mailto:)[^>]*)>/gu, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/**
 * Everybody and everything a message would notify, read as strictly as possible: any token in any
 * of its texts, and the broadcast words outside code.
 */
export function notifiedBy(message: {
  readonly text: string;
  readonly blocks: readonly Json[];
}): string[] {
  const texts = [message.text, ...knownBlocks(message.blocks).flatMap(textsOf)];
  const found = new Set<string>();
  for (const text of texts) {
    for (const match of text.matchAll(/<@([UWB][A-Z0-9_]+)/gu)) found.add(match[1] ?? '');
    for (const match of text.matchAll(/<!(here|channel|everyone|group|subteam)/giu)) {
      found.add(`!${(match[1] ?? '').toLowerCase()}`);
    }
    const prose = text.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/gu, '');
    for (const match of prose.matchAll(/(?<![\p{L}\p{N}_])@(here|channel|everyone)\b/giu)) {
      found.add(`!${(match[1] ?? '').toLowerCase()}`);
    }
  }
  return [...found];
}

function textsOf(block: KnownBlock): string[] {
  switch (block.type) {
    case 'markdown':
      return [block.text];
    case 'section':
      return [block.text.text];
    case 'context':
      return block.elements.map((element) => element.text);
    case 'divider':
    case 'actions':
      return [];
  }
}

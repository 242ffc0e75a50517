/** A message as a person sees it, and who is notified by it. */

import type { Nodes } from 'mdast';
import { parseMarkdown } from '../../../src/surface/markdown/parse.ts';
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
    case 'context_actions':
      return block.elements.map(() => '[👍] [👎]').join(' ');
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
 * of its texts, as written and as read once marks, links and images are drawn, and the broadcast
 * words outside code.
 */
export function notifiedBy(message: {
  readonly text: string;
  readonly blocks: readonly Json[];
}): string[] {
  const blocks = knownBlocks(message.blocks);
  const mrkdwn = [message.text, ...blocks.flatMap(mrkdwnOf)];
  const markdown = blocks.flatMap((block) => (block.type === 'markdown' ? [block.text] : []));
  const found = new Set<string>();
  for (const text of [...mrkdwn, ...markdown, ...markdown.flatMap(readLines)]) {
    for (const match of text.matchAll(/<@([UWB][A-Z0-9_]+)/gu)) found.add(match[1] ?? '');
    for (const match of text.matchAll(/<!(here|channel|everyone|group|subteam)/giu)) {
      found.add(`!${(match[1] ?? '').toLowerCase()}`);
    }
  }
  const prose = [
    ...mrkdwn.map((text) => text.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/gu, ' ')),
    ...markdown.map(withoutCode),
    ...markdown.flatMap(readLines),
  ];
  for (const text of prose) {
    // A path of an address is no word: https://example.com/@here
    const words = text.replace(/https?:\/\/[\w.:/%~+-]*\/@/giu, ' ');
    for (const match of words.matchAll(/(?<![\p{L}\p{N}_])@(here|channel|everyone)\b/giu)) {
      found.add(`!${(match[1] ?? '').toLowerCase()}`);
    }
  }
  return [...found];
}

function mrkdwnOf(block: KnownBlock): string[] {
  switch (block.type) {
    case 'section':
      return [block.text.text];
    case 'context':
      return block.elements.map((element) => element.text);
    case 'markdown':
    case 'divider':
    case 'actions':
    case 'context_actions':
      return [];
  }
}

/** Markdown as written, fences and code spans blotted out; code by indentation is not trusted. */
function withoutCode(markdown: string): string {
  const blot = (node: Nodes, text: string): string => {
    const { start, end } = node.position ?? {};
    const [from, to] = [start?.offset ?? 0, end?.offset ?? 0];
    const isCode =
      node.type === 'inlineCode' ||
      (node.type === 'code' && /^\s*[`~]/u.test(markdown.slice(from, to)));
    if (isCode) return text.slice(0, from) + ' '.repeat(to - from) + text.slice(to);
    return 'children' in node ? node.children.reduce((all, child) => blot(child, all), text) : text;
  };
  return blot(parseMarkdown(markdown), markdown);
}

/** What is read in one stretch, with tags shown and with tags dropped. */
function readLines(markdown: string): string[] {
  const read = (node: Nodes, withTags: boolean): string => {
    if (node.type === 'text') return node.value;
    if (node.type === 'html') return withTags ? node.value : '';
    if (node.type === 'image' || node.type === 'imageReference') return node.alt ?? '';
    if ('children' in node) return node.children.map((child) => read(child, withTags)).join('');
    return ' ';
  };
  const lines = (node: Nodes): string[] => {
    if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'tableCell') {
      return [read(node, true), read(node, false)];
    }
    return 'children' in node ? node.children.flatMap(lines) : [];
  };
  return lines(parseMarkdown(markdown));
}

/** Links that may be clicked, and Slack's own `<url|label>` form in a model's text. */

import type { Nodes } from 'mdast';
import { parseMarkdown } from '../../src/surface/markdown/parse.ts';

export function isSafeLink(url: string): boolean {
  return /^(?:https?:\/\/|mailto:)/iu.test(url);
}

/** An address inside `<…|…>`: what would end it early is percent-encoded. */
export function slackUrlOf(url: string): string {
  return url.replace(/[|<> \n]/gu, (found) => encodeURIComponent(found)).replaceAll('&', '&amp;');
}

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where code stands in the source, in order. */
export function codeRanges(node: Nodes): readonly Range[] {
  if (node.type === 'code' || node.type === 'inlineCode') return [rangeOf(node)];
  if (!('children' in node)) return [];
  return node.children.flatMap((child) => codeRanges(child));
}

export function rangeOf(node: Nodes): Range {
  return {
    start: node.position?.start.offset ?? 0,
    end: node.position?.end.offset ?? 0,
  };
}

const slackLink = /<((?:https?:\/\/|mailto:)[^\s<>|]+)\|([^<>|\n]+)>/giu;

/** Models write `<https://…|label>`: outside code it becomes a Markdown link. */
export function withMarkdownLinks(source: string): string {
  if (source.search(slackLink) === -1) return source;
  const code = codeRanges(parseMarkdown(source));
  return source.replace(slackLink, (found: string, url: string, label: string, at: number) => {
    if (code.some((range) => at >= range.start && at < range.end)) return found;
    return `[${label.replace(/[[\]\\]/gu, '\\$&')}](<${url}>)`;
  });
}

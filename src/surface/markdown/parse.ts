/** Markdown is parsed once, by the field's parser (CommonMark and GFM), into an mdast tree. */

import type { Root } from 'mdast';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';

const processor = unified().use(remarkParse).use(remarkGfm);

/** The tree of a text, with source positions (offsets in UTF-16 units). */
export function parseMarkdown(markdown: string): Root {
  return processor.parse(markdown);
}

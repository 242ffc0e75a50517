/** Names of files that the bot posts: a model chose them, people and their programs open them. */

import { graphemeEnd } from '../base/text.ts';

const mostNameUnits = 120;
/**
 * Control and direction characters could hide the real ending; separators would make it a path; half
 * a character cannot be written in an address. Joiners stay: emoji and some scripts need them.
 */
const unfit = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\]/gu;

/** One line without a path, at most 120 UTF-16 units; its ending stays when it is cut. */
export function safeFileName(name: string): string {
  const clean = name.replace(unfit, '_').replace(/\s+/gu, ' ').trim();
  if (/^[._ ]*$/u.test(clean)) return 'file';
  if (clean.length <= mostNameUnits) return clean;
  const ending = /\.[\p{L}\p{N}]{1,10}$/u.exec(clean)?.[0] ?? '';
  return clean.slice(0, graphemeEnd(clean, mostNameUnits - ending.length)) + ending;
}

/**
 * Exact replacement in a text. What cannot be replaced is told with what the model needs to mend
 * its call: the lines of several places, or the place that is nearest to what was looked for.
 */

import { cutToUnits } from '../../base/text.ts';

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export type Replaced =
  | { readonly kind: 'replaced'; readonly text: string; readonly places: number }
  /** A text for the model. */
  | { readonly kind: 'fault'; readonly text: string };

const mostLinesNamed = 20;

/** Where a file ends its lines with CRLF, a LF that the model writes means that. */
export function replaceIn(text: string, asked: Replacement, name: string): Replaced {
  const { oldText, newText } = inLineEndsOf(text, asked);
  if (oldText === newText) {
    return { kind: 'fault', text: 'oldText and newText are the same: there is nothing to change.' };
  }
  const places = placesOf(text, oldText);
  const [first] = places;
  if (first === undefined) return { kind: 'fault', text: notFound(text, oldText, name) };
  if (places.length > 1 && !asked.replaceAll) {
    const lines = places.slice(0, mostLinesNamed).map((at) => lineAt(text, at));
    const more = places.length > mostLinesNamed ? ' and more' : '';
    return {
      kind: 'fault',
      text: `oldText is in ${name} ${places.length} times (lines ${lines.join(', ')}${more}). Give more of the text around the place that you mean, or set replaceAll.`,
    };
  }
  // Not String.replace: `$&` in the new text would mean something to it.
  return { kind: 'replaced', text: text.split(oldText).join(newText), places: places.length };
}

/** A text that ends all its lines with CRLF, or most of them. */
function isCrlf(text: string): boolean {
  const crlf = text.split('\r\n').length - 1;
  return crlf > 0 && crlf * 2 > text.split('\n').length - 1;
}

function inLineEndsOf(text: string, asked: Replacement): Replacement {
  if (!isCrlf(text)) return asked;
  const ended = (one: string): string => one.replace(/\r?\n/gu, '\r\n');
  const oldText = placesOf(text, asked.oldText).length > 0 ? asked.oldText : ended(asked.oldText);
  return { ...asked, oldText, newText: ended(asked.newText) };
}

/** Places that do not overlap. */
function placesOf(text: string, sought: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + sought.length)) {
    places.push(at);
  }
  return places;
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** A longer text is not looked through for what is only like the text that was sought. */
const mostSearchedChars = 1_000_000;
const mostKeyChars = 500;

function notFound(text: string, sought: string, name: string): string {
  if (text.length > mostSearchedChars || sought.length > mostSearchedChars) {
    return `oldText is not in ${name}. Use Grep to find the place, FileRead it, and copy the text exactly, without the line numbers.`;
  }
  const lines = text.split(/\r?\n/u);
  const wanted = sought.split(/\r?\n/u);
  const asWritten = placeOf(tight, lines, wanted);
  if (asWritten >= 0) {
    return `oldText is not in ${name} exactly, but lines ${span(asWritten, wanted)} differ from it only in white space. The file has:\n${excerpt(lines, asWritten, wanted.length)}\nCopy it exactly, without the line numbers.`;
  }
  const loosely = placeOf(plain, lines, wanted);
  if (loosely >= 0) {
    return `oldText is not in ${name} exactly, but lines ${span(loosely, wanted)} differ from it only in case, quotes or dashes. The file has:\n${excerpt(lines, loosely, wanted.length)}\nCopy it exactly, without the line numbers.`;
  }
  const near = nearestLine(lines, wanted);
  if (near === undefined) {
    return `oldText is not in ${name}, nor anything like it. FileRead it again and copy the text exactly, without the line numbers.`;
  }
  return `oldText is not in ${name}. The nearest place is at line ${near + 1}:\n${excerpt(lines, near, wanted.length + 2)}\nCopy the text exactly, without the line numbers.`;
}

function tight(line: string): string {
  return line.replace(/\s+/gu, '');
}

function plain(line: string): string {
  return tight(line)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[‘’‛`´]/gu, "'")
    .replace(/[“”„«»]/gu, '"')
    .replace(/[‐‑‒–—−]/gu, '-');
}

/** Where the lines are those that were sought but for their form, from 0; -1: nowhere. The first and
 * the last line that was sought may be parts of lines. */
function placeOf(
  form: (line: string) => string,
  lines: readonly string[],
  wanted: readonly string[],
): number {
  const sought = wanted.map(form);
  if (sought.every((line) => line === '')) return -1;
  const formed = lines.map(form);
  const last = sought.length - 1;
  const isThere = (line: string, index: number, at: number): boolean => {
    const here = formed[at + index];
    if (here === undefined) return false;
    if (last === 0) return here.includes(line);
    if (index === 0) return here.endsWith(line);
    return index === last ? here.startsWith(line) : here === line;
  };
  return formed.findIndex((_line, at) => sought.every((line, index) => isThere(line, index, at)));
}

/** The line that shares most words with the longest line that was looked for. */
function nearestLine(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const key = wanted.reduce((best, line) => (line.length > best.length ? line : best), '');
  const words = new Set(wordsOf(key.slice(0, mostKeyChars)));
  if (words.size === 0) return undefined;
  let best: { readonly at: number; readonly shared: number } | undefined;
  for (const [at, line] of lines.entries()) {
    const found = new Set(wordsOf(line.slice(0, 2000)));
    const shared = [...words].filter((word) => found.has(word)).length / words.size;
    if (shared > (best?.shared ?? 0.4)) best = { at, shared };
  }
  return best === undefined ? undefined : Math.max(0, best.at - wanted.indexOf(key));
}

function wordsOf(line: string): readonly string[] {
  return line.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function span(at: number, wanted: readonly string[]): string {
  return wanted.length === 1 ? `${at + 1}` : `${at + 1} to ${at + wanted.length}`;
}

function excerpt(lines: readonly string[], at: number, length: number): string {
  return lines
    .slice(at, at + Math.min(length, 15))
    .map((line, index) => `${at + index + 1}\t${cutToUnits(line, 300)}`)
    .join('\n');
}

/** The quiet area under the text while a run works: what is being done now, and the checklist. */

import { cutToUnits } from '../base/text.ts';
import { mostThoughtUnits, type ReplyDocument } from './document.ts';
import type { ShownWork } from './settings.ts';

/** A wait is told from here on, in steps that grow with it. */
const leastToldMs = 10_000;
const minuteMs = 60_000;
/** Nothing came for so long: that is told too. */
const silenceMs = 10_000;
const mostLines = 8;
const mostShownThoughtUnits = 100;

/** What is being done now, one line each; empty when there is nothing to say. */
export function activityLines(
  document: ReplyDocument,
  { activity, thinking }: ShownWork,
  now: number,
): readonly string[] {
  if (document.ended || activity === 'off') return [];
  if (document.waiting !== '') return [document.waiting];
  const running = document.calls.filter(({ state }) => state === 'running');
  if (activity === 'all' && document.calls.length > 0) return allLines(document, now);
  const newest = running.at(-1);
  if (newest) {
    const more = running.length > 1 ? ` (and ${running.length - 1} more)` : '';
    return [`${newest.line}${more}${elapsed(now - newest.since)}`];
  }
  const thought = thinking === 'line' ? lastThought(document.thoughts) : '';
  const silentMs = now - document.heardAt;
  if (thought !== '') return [`Thinking: ${thought}${elapsed(silentMs)}`];
  return silentMs >= silenceMs ? [`Thinking${elapsed(silentMs)}`] : [];
}

const signs = { running: '▸', done: '✓', failed: '✗' } as const;

function allLines({ calls, callsBefore }: ReplyDocument, now: number): readonly string[] {
  const before = callsBefore + Math.max(0, calls.length - mostLines);
  const lines = calls.slice(-mostLines).map(({ line, state, since }) => {
    const time = state === 'running' ? elapsed(now - since) : '';
    return `${signs[state]} ${line}${time}`;
  });
  return before > 0 ? [`${signs.done} ${before} before`, ...lines] : lines;
}

/** Told in steps, so that the time alone costs few edits: 10 s in the first minute, then 30 s. */
function elapsed(ms: number): string {
  if (ms < leastToldMs) return '';
  if (ms < minuteMs) return ` · ${Math.floor(ms / 10_000) * 10} s`;
  const halves = Math.floor(ms / 30_000);
  const minutes = Math.floor(halves / 2);
  return ` · ${minutes} min${halves % 2 === 1 ? ' 30 s' : ''}`;
}

/** The newest sentence of the thoughts that is whole. */
function lastThought(thoughts: string): string {
  const sentences = thoughts
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    // What was cut at its beginning is no sentence either.
    .slice(thoughts.length < mostThoughtUnits ? 0 : 1, -1)
    .map((sentence) => sentence.replace(/[*_`#>]+/gu, '').trim())
    .filter((sentence) => sentence !== '');
  return cutToUnits(sentences.at(-1) ?? '', mostShownThoughtUnits);
}

const marks = { pending: '☐', running: '▸', done: '☑' } as const;
const mostShownItems = 12;
const mostItemUnits = 60;

/** Most length of a drawn checklist. */
export const mostChecklistLength = mostShownItems * (mostItemUnits + 8) + 40;

/** The checklist as lines of Markdown. What is done goes first where there is no room for all. */
export function checklistLines({ checklist }: ReplyDocument): readonly string[] {
  if (checklist.length === 0) return [];
  const done = checklist.filter(({ state }) => state === 'done');
  const hidden = Math.min(done.length, Math.max(0, checklist.length - mostShownItems));
  const shown = checklist.filter((item) => !done.slice(0, hidden).includes(item));
  const lines = shown
    .slice(0, mostShownItems)
    .map(({ text, state }) => `${marks[state]} ${plainLine(text, mostItemUnits)}`);
  const before = hidden > 0 ? [`${marks.done} ${hidden} done before`] : [];
  const rest = shown.length - lines.length;
  const after = rest > 0 ? [`${marks.pending} and ${rest} more`] : [];
  return [...before, ...lines, ...after];
}

/** A model's words inside a line of our own: on one line, marks escaped, the escapes counted. */
function plainLine(text: string, mostUnits: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  for (let units = mostUnits; units > 1; units -= 1) {
    const escaped = cutToUnits(line, units).replace(/([\\`*_[\]<>~|])/gu, '\\$1');
    if (escaped.length <= mostUnits) return escaped;
  }
  return '…';
}

/**
 * The reply of a run as data, and its drawing as a list of desired messages (pages). Pure: what was
 * posted is not known here.
 */

import { cutToUnits } from '../base/text.ts';
import type { ChecklistItem } from '../messages/checklist.ts';
import type { Mentionable } from '../messages/people.ts';
import type { RunEvent } from '../messages/run-event.ts';
import { type MarkdownPiece, textOf } from '../surface/markdown/split.ts';
import type { Block, Button, OutboundMessage } from '../surface/outbound.ts';

/** The text of a finished step. `goesOn`: it broke off, and the next text continues it. */
export interface StepText {
  readonly text: string;
  readonly goesOn: boolean;
}

export interface Doing {
  readonly callId: string;
  readonly line: string;
}

export interface ReplyDocument {
  readonly steps: readonly StepText[];
  /** Text of the step that streams now. */
  readonly live: string;
  /** What the bot does or waits for, besides its tools. */
  readonly activity: string;
  /** What each tool call under way is doing; the newest word last. */
  readonly doing: readonly Doing[];
  readonly checklist: readonly ChecklistItem[];
  /** People should read the activity even before there is any text: it explains a wait. */
  readonly isUrgent: boolean;
  /** Lines of the bot's own under the text, once it has ended. */
  readonly notices: readonly string[];
  readonly buttons: readonly Button[];
  /** What stands under them, once it has ended. */
  readonly below: readonly Block[];
  /** Shown while the run goes on: what people can do to it. */
  readonly controls: readonly Button[];
  readonly ended: boolean;
}

/** What stands at the end of a reply. */
export interface ReplyEnd {
  readonly notices?: readonly string[];
  readonly buttons?: readonly Button[];
  /** Under the buttons. */
  readonly below?: readonly Block[];
}

export const emptyDocument: ReplyDocument = {
  steps: [],
  live: '',
  activity: '',
  doing: [],
  checklist: [],
  isUrgent: false,
  notices: [],
  buttons: [],
  below: [],
  controls: [],
  ended: false,
};

/** The document after an event of its run. */
export function applyEvent(document: ReplyDocument, event: RunEvent): ReplyDocument {
  switch (event.kind) {
    case 'text_delta':
      return { ...document, live: document.live + event.text, activity: '', isUrgent: false };
    case 'step_started':
      return { ...document, live: '', activity: '', doing: [], isUrgent: false };
    case 'step_finished': {
      const { text, goesOn } = event;
      return { ...document, live: '', steps: [...document.steps, { text, goesOn }] };
    }
    case 'tool_input_delta':
    case 'tool_started':
      return { ...document, doing: doingNow(document, event.callId, event.activity) };
    case 'tool_progress':
      // What takes long is worth a message of its own.
      return { ...document, doing: doingNow(document, event.callId, event.line), isUrgent: true };
    case 'tool_finished':
      return { ...document, doing: withoutCall(document, event.callId) };
    case 'checklist':
      return { ...document, checklist: event.items };
    case 'retry_waiting': {
      const seconds = Math.ceil(event.delayMs / 1000);
      const activity = `${event.reason}, trying again in ${seconds} s`;
      return { ...document, activity, isUrgent: true };
    }
    case 'model_switched':
      return { ...document, activity: `${event.reason}, asking ${event.to}`, isUrgent: true };
    case 'run_started':
    case 'reasoning_delta':
    case 'steered':
    case 'sources': // shown at the end
    case 'compacted':
    case 'notice': // shown at the end, with the run's other notices
    case 'usage':
      return document;
  }
}

function withoutCall({ doing }: ReplyDocument, callId: string): readonly Doing[] {
  return doing.filter((one) => one.callId !== callId);
}

function doingNow(document: ReplyDocument, callId: string, line: string): readonly Doing[] {
  return [...withoutCall(document, callId), { callId, line }];
}

/** One line on what is being done now; empty when nothing is. */
function activityOf({ activity, doing }: ReplyDocument): string {
  const newest = doing.at(-1);
  if (activity !== '' || !newest) return activity;
  return doing.length > 1 ? `${newest.line} (and ${doing.length - 1} more)` : newest.line;
}

/** All text of the model that people should read: steps apart by a blank line, unless one goes on. */
export function textOfDocument({ steps, live }: ReplyDocument): string {
  let whole = '';
  let joins = true;
  for (const { text, goesOn } of [...steps, { text: live, goesOn: false }]) {
    if (text.trim() === '' && !joins) continue;
    whole += (joins || whole === '' ? '' : '\n\n') + text;
    joins = goesOn || whole === '';
  }
  return whole;
}

export interface DrawOptions {
  /** Where the text begins that is not on a frozen page. */
  readonly from: number;
  /** What the page there begins with besides the text. */
  readonly prefix: string;
  /** Cuts Markdown into pages. */
  readonly split: (markdown: string) => readonly MarkdownPiece[];
  readonly mentionable: readonly Mentionable[];
}

export interface DrawnPage {
  readonly message: OutboundMessage;
  /** How much of the text is out when this page and those before it are shown. */
  readonly end: number;
  /** What the page after it begins with besides the text. */
  readonly nextPrefix: string;
}

/** The desired messages. No text and nothing else to say gives no message. */
export function drawPages(
  document: ReplyDocument,
  text: string,
  { from, prefix, split, mentionable }: DrawOptions,
): readonly DrawnPage[] {
  const lead = /^\n*/u.exec(text.slice(from))?.[0].length ?? 0;
  const rest = text.slice(from + lead);
  const markdown = prefix + rest;
  const pieces = rest.trim() === '' ? [] : split(markdown);
  const pages = pieces.map(
    (piece, index): { blocks: Block[]; end: number; nextPrefix: string } => ({
      blocks: [{ kind: 'markdown', text: textOf(markdown, piece) }],
      end: index === pieces.length - 1 ? text.length : from + lead + piece.to - prefix.length,
      nextPrefix: pieces[index + 1]?.before ?? '',
    }),
  );
  const foot = footOf(document, pages.length > 0);
  const last = pages.at(-1);
  if (last) last.blocks.push(...foot);
  else if (foot.length > 0) pages.push({ blocks: foot, end: text.length, nextPrefix: '' });
  return pages.map(({ blocks, ...place }) => ({ message: { blocks, mentionable }, ...place }));
}

function footOf(document: ReplyDocument, hasText: boolean): Block[] {
  // Before the first text the platform's own status shows that the bot is at work.
  const text = document.ended ? '' : activityOf(document);
  const foot: Block[] = checklistOf(document);
  const isShown = hasText || document.isUrgent || foot.length > 0;
  if (text !== '' && isShown) foot.push({ kind: 'activity', text });
  if (!document.ended) {
    if (document.controls.length > 0 && (hasText || foot.length > 0)) {
      foot.push({ kind: 'buttons', buttons: document.controls });
    }
    return foot;
  }
  foot.push(...document.notices.map((text): Block => ({ kind: 'notice', text })));
  if (document.buttons.length > 0) foot.push({ kind: 'buttons', buttons: document.buttons });
  foot.push(...document.below);
  return foot;
}

const marks = { pending: '☐', running: '▸', done: '☑' } as const;
const mostShownItems = 12;
const mostItemUnits = 60;

/** Most length of a drawn checklist. */
export const mostChecklistLength = mostShownItems * (mostItemUnits + 8) + 40;

/** What is done goes first where there is no room for all. */
function checklistOf({ checklist }: ReplyDocument): Block[] {
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
  return [{ kind: 'notice', text: [...before, ...lines, ...after].join('\n') }];
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

/** The opening line of the code fence in which this Markdown ends; empty outside fences. */
export function openFenceOf(markdown: string): string {
  let open = '';
  for (const line of markdown.split('\n')) {
    const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/u.exec(line);
    if (!fence) continue;
    const [, marks = '', info = ''] = fence;
    if (open === '') open = line;
    else if (info.trim() === '' && marks.startsWith(open.trim().slice(0, 3))) open = '';
  }
  return open;
}

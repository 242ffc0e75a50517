/**
 * The reply of a run as data, and its drawing as a list of desired messages (pages). Pure: what was
 * posted is not known here.
 */

import type { Mentionable } from '../messages/people.ts';
import type { RunEvent } from '../messages/run-event.ts';
import type { Block, Button, OutboundMessage } from '../surface/outbound.ts';

export interface ReplyDocument {
  /** Final texts of finished steps. */
  readonly steps: readonly string[];
  /** Text of the step that streams now. */
  readonly live: string;
  /** What is being done now. */
  readonly activity: string;
  /** Lines of the bot's own, in order. */
  readonly notices: readonly string[];
  readonly buttons: readonly Button[];
  readonly ended: boolean;
}

export const emptyDocument: ReplyDocument = {
  steps: [],
  live: '',
  activity: '',
  notices: [],
  buttons: [],
  ended: false,
};

/** The document after an event of its run. */
export function applyEvent(document: ReplyDocument, event: RunEvent): ReplyDocument {
  switch (event.kind) {
    case 'text_delta':
      return { ...document, live: document.live + event.text, activity: '' };
    case 'step_started':
      return { ...document, live: '' };
    case 'step_finished':
      return { ...document, live: '', steps: [...document.steps, event.text] };
    case 'tool_input_delta':
    case 'tool_started':
      return { ...document, activity: event.activity };
    case 'tool_progress':
      return { ...document, activity: event.line };
    case 'tool_finished':
      return { ...document, activity: '' };
    case 'retry_waiting': {
      const seconds = Math.ceil(event.delayMs / 1000);
      return { ...document, activity: `${event.reason}, trying again in ${seconds} s` };
    }
    case 'notice':
      return { ...document, notices: [...document.notices, event.text] };
    case 'run_started':
    case 'reasoning_delta':
    case 'steered':
    case 'compacted':
    case 'usage':
      return document;
  }
}

/** All text of the model that people should read, steps apart by a blank line. */
export function textOfDocument({ steps, live }: ReplyDocument): string {
  return [...steps, live].filter((text) => text.trim() !== '').join('\n\n');
}

export interface DrawOptions {
  /** Cuts Markdown into texts of pages. */
  readonly split: (markdown: string) => readonly string[];
  readonly mentionable: readonly Mentionable[];
}

/**
 * The desired messages for `text`, the part of the document's text that is not yet on a frozen
 * page. No text and nothing else to say gives no message.
 */
export function drawPages(
  document: ReplyDocument,
  text: string,
  options: DrawOptions,
): readonly OutboundMessage[] {
  const { mentionable, split } = options;
  const pieces = text.trim() === '' ? [] : split(text);
  const pages: Block[][] = pieces.map((piece) => [{ kind: 'markdown', text: piece }]);
  const foot = footOf(document, pages.length > 0);
  const last = pages.at(-1);
  if (last) last.push(...foot);
  else if (foot.length > 0) pages.push(foot);
  return pages.map((blocks) => ({ blocks, mentionable }));
}

function footOf(document: ReplyDocument, hasText: boolean): Block[] {
  const foot: Block[] = document.notices.map((text) => ({ kind: 'notice', text }));
  // Before the first text the platform's own status shows that the bot is at work.
  if (!document.ended && document.activity !== '' && hasText) {
    foot.push({ kind: 'activity', text: document.activity });
  }
  if (document.ended && document.buttons.length > 0) {
    foot.push({ kind: 'buttons', buttons: document.buttons });
  }
  return foot;
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

/** The reply of a run as data: what happened, not how it looks. Pure. */

import type { ChecklistItem } from '../messages/checklist.ts';
import type { RunEvent } from '../messages/run-event.ts';
import type { Block, Button } from '../surface/outbound.ts';

/** The text of a finished step. `goesOn`: it broke off, and the next text continues it. */
export interface StepText {
  readonly text: string;
  readonly goesOn: boolean;
}

/** A tool call, in the newest words on it. */
export interface CallLine {
  readonly callId: string;
  readonly line: string;
  readonly state: 'running' | 'done' | 'failed';
  /** When it began, in ms since the epoch. */
  readonly since: number;
}

export interface ReplyDocument {
  readonly steps: readonly StepText[];
  /** Text of the step that streams now. */
  readonly live: string;
  /** The model's thoughts on its next words, as far as they came. */
  readonly thoughts: string;
  /** What the bot waits for, besides its tools. */
  readonly waiting: string;
  /** The run's newest tool calls in the order of their newest words; the newest last. */
  readonly calls: readonly CallLine[];
  /** So many calls before them, which are over. */
  readonly callsBefore: number;
  readonly checklist: readonly ChecklistItem[];
  /** When the last sign of life came, in ms since the epoch. */
  readonly heardAt: number;
  readonly startedAt: number;
  /** When the first text came; undefined before. */
  readonly textSince: number | undefined;
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

/** More thoughts than this are never looked at: only their newest sentence is shown. */
export const mostThoughtUnits = 8192;
/** Calls that are over are told of one by one while there are no more of them. */
const mostKeptCalls = 64;

export function newDocument(
  startedAt: number,
  given: Partial<Pick<ReplyDocument, 'steps' | 'controls'>> = {},
): ReplyDocument {
  return {
    ...{ steps: [], live: '', thoughts: '', waiting: '', calls: [], callsBefore: 0 },
    checklist: [],
    ...{ heardAt: startedAt, startedAt, textSince: undefined, isUrgent: false },
    ...{ notices: [], buttons: [], below: [], controls: [], ended: false },
    ...given,
  };
}

/** The document after an event of its run, which came at `now`. */
export function applyEvent(document: ReplyDocument, event: RunEvent, now: number): ReplyDocument {
  switch (event.kind) {
    case 'text_delta': {
      const live = document.live + event.text;
      const textSince = document.textSince ?? now;
      return {
        ...document,
        ...{ live, textSince, thoughts: '', waiting: '', isUrgent: false, heardAt: now },
      };
    }
    case 'reasoning_delta':
      return {
        ...document,
        thoughts: (document.thoughts + event.text).slice(-mostThoughtUnits),
        heardAt: now,
      };
    case 'step_started':
      return {
        ...document,
        ...{ live: '', thoughts: '', waiting: '', isUrgent: false, heardAt: now },
        calls: document.calls.map((call) =>
          call.state === 'running' ? { ...call, state: 'done' } : call,
        ),
      };
    case 'step_finished': {
      const { text, goesOn } = event;
      return { ...document, live: '', steps: [...document.steps, { text, goesOn }] };
    }
    case 'tool_input_delta':
    case 'tool_started':
      return withCall(document, event.callId, event.activity, now);
    case 'tool_progress':
      // What takes long is worth a message of its own.
      return { ...withCall(document, event.callId, event.line, now), isUrgent: true };
    case 'tool_finished': {
      const state: CallLine['state'] = event.outcome === 'ok' ? 'done' : 'failed';
      const calls = document.calls.map((call) =>
        call.callId === event.callId ? { ...call, state } : call,
      );
      return { ...document, calls, heardAt: now };
    }
    case 'checklist':
      return { ...document, checklist: event.items, heardAt: now };
    case 'retry_waiting': {
      const seconds = Math.ceil(event.delayMs / 1000);
      return waitingFor(document, `${event.reason}, trying again in ${seconds} s`, now);
    }
    case 'model_switched':
      return waitingFor(document, `${event.reason}, asking ${event.to}`, now);
    case 'run_started':
    case 'steered':
    case 'sources': // shown at the end
    case 'compacted':
    case 'notice': // shown at the end, with the run's other notices
    case 'usage':
      return document;
  }
}

export function waitingFor(document: ReplyDocument, waiting: string, now: number): ReplyDocument {
  return { ...document, waiting, isUrgent: true, heardAt: now };
}

function withCall(
  document: ReplyDocument,
  callId: string,
  line: string,
  now: number,
): ReplyDocument {
  const known = document.calls.find((call) => call.callId === callId);
  const others = document.calls.filter((call) => call.callId !== callId);
  const call: CallLine = { callId, line, state: 'running', since: known?.since ?? now };
  return { ...document, ...fewCalls([...others, call], document.callsBefore), heardAt: now };
}

/** A run of ten thousand calls costs no more an event than one of ten. */
function fewCalls(
  calls: readonly CallLine[],
  before: number,
): Pick<ReplyDocument, 'calls' | 'callsBefore'> {
  if (calls.length <= mostKeptCalls) return { calls, callsBefore: before };
  const oldest = calls.findIndex(({ state }) => state !== 'running');
  if (oldest === -1) return { calls, callsBefore: before };
  return { calls: calls.toSpliced(oldest, 1), callsBefore: before + 1 };
}

/** All text of the model that people should read: steps apart by a blank line, unless one goes on. */
export function textOfDocument({ steps, live }: Pick<ReplyDocument, 'steps' | 'live'>): string {
  let whole = '';
  let joins = true;
  for (const { text, goesOn } of [...steps, { text: live, goesOn: false }]) {
    if (text.trim() === '' && !joins) continue;
    whole += (joins || whole === '' ? '' : '\n\n') + text;
    joins = goesOn || whole === '';
  }
  return whole;
}

/** Units of text that came so far, without what stands between steps. */
export function lengthOfText({ steps, live }: ReplyDocument): number {
  return steps.reduce((sum, { text }) => sum + text.length, live.length);
}

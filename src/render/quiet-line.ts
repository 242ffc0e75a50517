/**
 * Lines on what tools do, without secrets that are not whole: a line grows while arguments or output
 * arrive, and is cut at its limit. What could begin a secret there is held back, as in the text of
 * the reply.
 */

import type { Redactor } from '../base/redaction.ts';
import type { ChecklistItem } from '../messages/checklist.ts';
import type { CallLine, ReplyDocument } from './document.ts';

/**
 * The document with lines, thoughts and checklist as they may be shown. What did not change is not
 * looked through again.
 */
export function createQuietDocument(
  redactor: Redactor,
): (document: ReplyDocument) => ReplyDocument {
  const calls = new WeakMap<CallLine, CallLine>();
  const items = new WeakMap<ChecklistItem, ChecklistItem>();
  return (document) => ({
    ...document,
    calls: document.calls.map((one) =>
      known(calls, one, () => ({ ...one, line: quietLine(one.line, redactor) })),
    ),
    thoughts: quietThoughts(document.thoughts, redactor),
    checklist: document.checklist.map((item) =>
      known(items, item, () => ({ ...item, text: redactor.redact(item.text) })),
    ),
  });
}

function known<Item extends object>(all: WeakMap<Item, Item>, item: Item, make: () => Item): Item {
  const found = all.get(item) ?? make();
  all.set(item, found);
  return found;
}

/** A secret of several lines comes line by line. */
function quietThoughts(thoughts: string, redactor: Redactor): string {
  if (thoughts === '') return '';
  const clean = redactor.redact(thoughts);
  return clean.slice(0, clean.length - redactor.heldBack(clean));
}

/** The marks that close a line are no part of what it quotes. */
function quietLine(line: string, redactor: Redactor): string {
  const clean = redactor.redact(line);
  const body = clean.replace(/[`'"…)\]]+$/u, '');
  const held = redactor.heldBack(body);
  return held === 0 ? clean : `${body.slice(0, body.length - held)}…${clean.slice(body.length)}`;
}

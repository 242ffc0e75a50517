/**
 * Lines on what tools do, without secrets that are not whole: a line grows while arguments or output
 * arrive, and is cut at its limit. What could begin a secret there is held back, as in the text of
 * the reply.
 */

import type { Redactor } from '../base/redaction.ts';
import type { ReplyDocument } from './document.ts';

/** The document with lines, thoughts and checklist as they may be shown. */
export function quietDocument(document: ReplyDocument, redactor: Redactor): ReplyDocument {
  return {
    ...document,
    calls: document.calls.map((one) => ({ ...one, line: quietLine(one.line, redactor) })),
    thoughts: document.thoughts === '' ? '' : redactor.redact(document.thoughts),
    checklist: document.checklist.map((item) => ({ ...item, text: redactor.redact(item.text) })),
  };
}

/** The marks that close a line are no part of what it quotes. */
function quietLine(line: string, redactor: Redactor): string {
  const clean = redactor.redact(line);
  const body = clean.replace(/[`'"…)\]]+$/u, '');
  const held = redactor.heldBack(body);
  return held === 0 ? clean : `${body.slice(0, body.length - held)}…${clean.slice(body.length)}`;
}

/**
 * Results of tools as text, within a limit: too long a text is cut in the middle, with a note, and
 * kept whole in a file of the workspace that the model can page through.
 */

import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { cutPoint, cutToBytes } from '../base/text.ts';
import type { ResultPart } from '../messages/parts.ts';
import type { ToolOutcome } from './contract.ts';
import { writeAtomically } from './files/write-file.ts';
import { resolveForWriting, type Workspace } from './paths.ts';

export const mostResultChars = 30_000;
const mostKeptFiles = 50;
/** What FileRead takes. */
const mostKeptBytes = 10_000_000;
const resultsFolder = '.deckhand/results';

export function textOutcome(text: string): ToolOutcome {
  return { kind: 'done', parts: [{ kind: 'text', text }] };
}

/**
 * The outcome with at most 30,000 characters of text (and a note), over all its parts. The whole
 * text is then in `.deckhand/results/`, where the newest 50 stay. Never rejects: where the file
 * cannot be written, the note says that the rest is lost.
 */
export async function boundedOutcome(
  outcome: ToolOutcome,
  call: { readonly workspace: Workspace; readonly callId: string; readonly toolName: string },
): Promise<ToolOutcome> {
  if (outcome.kind !== 'done' && outcome.kind !== 'error') return outcome;
  const texts =
    outcome.kind === 'error'
      ? [outcome.text]
      : outcome.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const whole = texts.join('');
  if (whole.length <= mostResultChars) return outcome;
  const note = await keep(whole, call);
  if (outcome.kind === 'error') return { kind: 'error', text: cutMiddle(whole, undefined, note) };
  return { kind: 'done', parts: cutParts(outcome.parts, whole, note) };
}

/** Keeps the first two thirds and the last third of the room. */
export function cutMiddle(text: string, mostChars = mostResultChars, note = ''): string {
  if (text.length <= mostChars) return text;
  const { headEnd, tailStart } = cutOf(text, mostChars);
  return text.slice(0, headEnd) + gapOf(headEnd, tailStart, note) + text.slice(tailStart);
}

/** What is left out of a text, at borders of graphemes. */
function cutOf(text: string, mostChars: number): { headEnd: number; tailStart: number } {
  const headEnd = cutPoint(text, Math.floor((mostChars * 2) / 3));
  return { headEnd, tailStart: cutPoint(text, text.length - Math.floor(mostChars / 3)) };
}

function gapOf(headEnd: number, tailStart: number, note: string): string {
  const count = tailStart - headEnd;
  return `\n[… ${count} characters left out${note === '' ? ' …' : `: ${note}`}]\n`;
}

/** Cuts as if the texts were one; what is no text stays where it is. */
function cutParts(
  parts: readonly ResultPart[],
  whole: string,
  note: string,
): readonly ResultPart[] {
  const { headEnd, tailStart } = cutOf(whole, mostResultChars);
  let start = 0;
  return parts.flatMap((part): ResultPart[] => {
    if (part.kind !== 'text') return [part];
    const from = start;
    start += part.text.length;
    const head = part.text.slice(0, Math.max(0, headEnd - from));
    const tail = part.text.slice(Math.max(0, tailStart - from));
    // The note stands in the part in which the gap begins.
    const isHere = headEnd >= from && headEnd < start;
    const text = isHere ? head + gapOf(headEnd, tailStart, note) + tail : head || tail;
    return text === '' ? [] : [{ ...part, text }];
  });
}

async function keep(
  whole: string,
  call: { readonly workspace: Workspace; readonly callId: string; readonly toolName: string },
): Promise<string> {
  const name = `${resultsFolder}/${fileNameOf(call.callId)}.txt`;
  const kept = cutToBytes(whole, mostKeptBytes);
  try {
    await writeAtomically(call.workspace, name, kept, {
      mode: 0o644,
      signal: new AbortController().signal,
    });
    await removeOld(call.workspace);
  } catch {
    return 'the rest could not be kept; call it again so that it gives less';
  }
  const what =
    kept.length === whole.length
      ? `the whole result of ${call.toolName}`
      : `the first ${mostKeptBytes} bytes of the result of ${call.toolName}`;
  return `${what} is in ${name}: page through it with FileRead (offset and limit count lines, character goes on in a long line), or search it with Grep`;
}

/** Safe as a name of a file, and another for another id. */
function fileNameOf(callId: string): string {
  const safe = callId.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 80);
  if (safe === callId && safe !== '') return safe;
  return `${safe}-${createHash('sha256').update(callId).digest('hex').slice(0, 8)}`;
}

async function removeOld(workspace: Workspace): Promise<void> {
  const { real } = await resolveForWriting(workspace, resultsFolder);
  const names = (await readdir(real)).filter((name) => name.endsWith('.txt'));
  if (names.length <= mostKeptFiles) return;
  const aged = await Promise.all(
    names.map(async (name) => {
      const file = path.join(real, name);
      const found = await stat(file).catch(() => undefined);
      return { file, at: found?.mtimeMs ?? 0 };
    }),
  );
  const old = aged.sort((a, b) => b.at - a.at).slice(mostKeptFiles);
  await Promise.all(old.map(({ file }) => rm(file, { force: true })));
}

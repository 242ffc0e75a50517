/**
 * What a PDF is before a model is sent it: whole, readable and not too long. A broken file, one with
 * a password or one that is made to be slow ends in a reason, never in a failure, and never takes
 * longer than its time: reading is done in a thread that is ended.
 */

import { z } from 'zod';
import { cutToUnits } from './text.ts';
import { runInWorker } from './workers/run.ts';
import { moduleBeside } from './workers/start.ts';

export interface PdfLimits {
  readonly mostPages: number;
  readonly mostSeconds: number;
  /** UTF-16 units of text that are read, from the first page on. */
  readonly mostTextChars: number;
}

export type InspectedPdf =
  /** `text` has a line before each page; scanned pages have none. */
  | { readonly kind: 'pdf'; readonly pages: number; readonly text: string }
  /** A clause for people and models: "it is locked by a password". */
  | { readonly kind: 'problem'; readonly problem: string };

const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('read'), pages: z.number(), text: z.string() }),
  z.object({ kind: z.literal('locked') }),
  z.object({ kind: z.literal('broken') }),
]);

const mostMemoryMb = 256;

export async function inspectPdf(content: Uint8Array, limits: PdfLimits): Promise<InspectedPdf> {
  const { mostPages, mostSeconds, mostTextChars } = limits;
  // Real time: what it bounds is computing, which no clock of ours can hold up.
  const signal = AbortSignal.timeout(mostSeconds * 1000);
  try {
    const module = moduleBeside(import.meta.url, 'pdf-worker');
    // A view of a larger buffer would take all of it along.
    const task = { content: new Uint8Array(content), mostPages, mostTextChars };
    const answer = await runInWorker(module, task, { mostMemoryMb, signal });
    return judge(answerSchema.parse(answer), limits);
  } catch {
    return problemOf(
      signal.aborted ? `reading it takes more than ${mostSeconds} s` : 'it cannot be read',
    );
  }
}

function judge(
  answer: z.infer<typeof answerSchema>,
  { mostPages, mostTextChars }: PdfLimits,
): InspectedPdf {
  switch (answer.kind) {
    case 'locked':
      return problemOf('it is locked by a password');
    case 'broken':
      return problemOf('it is damaged');
    case 'read':
      return answer.pages > mostPages
        ? problemOf(`too many pages (${answer.pages}, at most ${mostPages})`)
        : { kind: 'pdf', pages: answer.pages, text: cutToUnits(answer.text, mostTextChars) };
  }
}

function problemOf(problem: string): InspectedPdf {
  return { kind: 'problem', problem };
}
